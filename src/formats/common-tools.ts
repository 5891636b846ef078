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
  for (const dialect of dialects) {
    for (const act of Object.keys(NEEDED) as Act[]) {
      const [own, other]: readonly (AnyTool | undefined)[] = [dialect[act], target[act]];
      if (own?.name !== name || !NEEDED[act].every((key) => typeof given[own.keys[key] ?? ""] === "string")) continue;
      return other === undefined || dialect === target
        ? event
        : { ...event, name: other.name, arguments: renameKeys(given, own, other) };
    }
  }
  return event;
}

/** Keeps the order of keys, and keys that are not common. */
function renameKeys(given: Readonly<Record<string, unknown>>, own: AnyTool, other: AnyTool): Record<string, unknown> {
  const renamed = new Map(Object.entries(own.keys).map(([argument, key]) => [key, other.keys[argument] ?? key]));
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [renamed.get(key) ?? key, value]));
}
