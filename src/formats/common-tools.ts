// What the tools of most agents do, whatever they are called: a session goes on better where past calls look like those that the
// agent makes itself. Only names and keys change, in what is exported alone; what has no counterpart stays as it is.
import type { Event, View } from "../core/conversation/event.ts";
import { isRecord } from "./session-source.ts";

/** What agents do in common, and the arguments that say on what: texts, the first ones needed. */
interface CommonArguments {
  readonly shell: "command";
  readonly read: "path";
  readonly write: "path" | "content";
  readonly edit: "path" | "before" | "after";
  readonly search: "pattern" | "path";
  readonly find: "pattern" | "path";
}

/** An agent's tool: its name, and its keys for the arguments. */
interface OwnTool<Argument extends string> {
  readonly name: string;
  readonly keys: Readonly<Record<Argument, string>>;
}

/** The tools of an agent by what they do; absent = it has none, or one with arguments of another form. */
export type ToolDialect = { readonly [Act in keyof CommonArguments]?: OwnTool<CommonArguments[Act]> };

type Act = keyof CommonArguments;
type AnyTool = OwnTool<string>;

/** What a call must say to be known for one. */
const NEEDED: Readonly<Record<Act, readonly string[]>> = {
  shell: ["command"],
  read: ["path"],
  write: ["path", "content"],
  edit: ["path", "before", "after"],
  search: ["pattern"],
  find: ["pattern"],
};

/** Gives a view with its calls as an agent makes them; `known` = the dialects of all agents. */
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

/** In the order in which they stand; what is not common stays. */
function renameKeys(given: Readonly<Record<string, unknown>>, own: AnyTool, other: AnyTool): Record<string, unknown> {
  const renamed = new Map(Object.entries(own.keys).map(([argument, key]) => [key, other.keys[argument] ?? key]));
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [renamed.get(key) ?? key, value]));
}
