// Translates tool calls between agents: a session continues better if past calls look like the agent's own. Only names and keys
// change, and only in exports; a tool without a counterpart stays as it is.
import type { Event, View } from "../core/conversation/event.ts";
import { isRecord } from "./session-source.ts";

/** Common tools and their arguments, all texts, required ones first. */
interface CommonArguments {
  readonly shell: "command";
  readonly read: "path";
  readonly write: "path" | "content";
  readonly edit: "path" | "before" | "after";
  readonly search: "pattern" | "path";
  readonly find: "pattern" | "path";
}

/** An agent's tool: its name, and its key for each argument. */
interface OwnTool<Argument extends string> {
  readonly name: string;
  readonly keys: Readonly<Record<Argument, string>>;
}

/** An agent's tools by act; absent = it has none, or its arguments differ in form. */
export type ToolDialect = { readonly [Act in keyof CommonArguments]?: OwnTool<CommonArguments[Act]> };

type Act = keyof CommonArguments;
type AnyTool = OwnTool<string>;

/** Arguments that a call must have to be recognised. */
const NEEDED: Readonly<Record<Act, readonly string[]>> = {
  shell: ["command"],
  read: ["path"],
  write: ["path", "content"],
  edit: ["path", "before", "after"],
  search: ["pattern"],
  find: ["pattern"],
};

/** Translates a view's calls into an agent's tools; `known` = the dialects of all agents. */
export function translateCalls(view: View, target: ToolDialect | undefined, known: readonly ToolDialect[]): View {
  if (target === undefined) return view;
  const dialects = [target, ...known];
  return {
    turns: view.turns.map((turn) => ({
      ...turn,
      events: turn.events.map((event) => translate(event, target, dialects)),
    })),
  };
}

function translate(event: Event, target: ToolDialect, dialects: readonly ToolDialect[]): Event {
  if (event.type !== "tool_call_request" || !isRecord(event.arguments)) return event;
  const { name, arguments: given } = event;
  const found = findTool(name, given, dialects);
  const other: AnyTool | undefined = found === null ? undefined : target[found.act];
  if (found === null || other === undefined || found.dialect === target) return event;
  return { ...event, name: other.name, arguments: renameKeys(given, found.own, other) };
}

interface FoundTool {
  readonly dialect: ToolDialect;
  readonly act: Act;
  readonly own: AnyTool;
}

/** Finds whose tool a call uses. Agents share names: of those with all needed arguments the one that knows most of the call's keys. */
function findTool(
  name: string,
  given: Readonly<Record<string, unknown>>,
  dialects: readonly ToolDialect[],
): FoundTool | null {
  let best: FoundTool | null = null;
  let most = 0;
  for (const dialect of dialects) {
    for (const act of Object.keys(NEEDED) as Act[]) {
      const own: AnyTool | undefined = dialect[act];
      if (own?.name !== name || !NEEDED[act].every((key) => typeof given[own.keys[key] ?? ""] === "string")) continue;
      const known = Object.values(own.keys).filter((key) => Object.hasOwn(given, key)).length;
      if (known > most) {
        best = { dialect, act, own };
        most = known;
      }
    }
  }
  return best;
}

/** Keeps the order of keys, and keys that are not common. */
function renameKeys(given: Readonly<Record<string, unknown>>, own: AnyTool, other: AnyTool): Record<string, unknown> {
  const renamed = new Map(Object.entries(own.keys).map(([argument, key]) => [key, other.keys[argument] ?? key]));
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [renamed.get(key) ?? key, value]));
}
