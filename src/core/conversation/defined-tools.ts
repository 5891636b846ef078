// Which tools a conversation's settings tell the model it has, wherever they were recorded.
import type { Compaction } from "./compaction.ts";
import { type Event, isFields, type View } from "./event.ts";

/** Lists the names of the tools that config deltas among events define, each once. */
export function toolsDefinedIn(events: readonly Event[]): readonly string[] {
  return definedTools(events.flatMap((event) => (event.type === "config_delta" ? [event.delta] : [])));
}

/**
 * Lists the names of the tools that config deltas define, each once: entries of `conversation.tools` that hold more than
 * compaction hints, and lists of tools (`tools: ["a", {"name": "b"}]`).
 */
export function definedTools(deltas: readonly unknown[]): readonly string[] {
  return [...new Set(deltas.flatMap(namesIn))];
}

function namesIn(delta: unknown): readonly string[] {
  if (!isFields(delta)) return [];
  const { conversation, tools } = delta;
  const own = isFields(conversation) ? conversation["tools"] : undefined;
  return [...namesOf(tools), ...namesOf(own)];
}

function namesOf(tools: unknown): readonly string[] {
  if (Array.isArray(tools)) {
    return tools.flatMap((tool: unknown) => {
      const name = isFields(tool) ? tool["name"] : tool;
      return typeof name === "string" && name !== "" ? [name] : [];
    });
  }
  if (!isFields(tools)) return [];
  return Object.keys(tools).filter((name) => name !== "*" && isDefinition(tools[name]));
}

/** A table with only `compaction` says how calls are compacted, not that such a tool exists. */
function isDefinition(tool: unknown): boolean {
  return isFields(tool) && Object.keys(tool).some((key) => key !== "compaction");
}

/** A tool that the model may call. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** jpg's own tool with which a model frees context. */
export const COMPACT_TOOL = "compact";
/** jpg's own tools with which a model finds what compactions hide. `jpg mcp` offers agents tools of the same names. */
export const SEARCH_TOOL = "search";
export const SHOW_TOOL = "show";

/** jpg's own tools: no tool of a server may take one of these names, and they are never pruned. */
export const OWN_TOOLS: readonly string[] = [COMPACT_TOOL, SEARCH_TOOL, SHOW_TOOL];

/** The schema of a tool that declares none. */
const ANY_ARGUMENTS = { type: "object" };

/** Reads a definition; a missing description is empty, missing parameters are any. Null when it has no name. */
export function readToolDefinition(value: unknown): ToolDefinition | null {
  if (!isFields(value)) return null;
  const { name, description, parameters } = value;
  if (typeof name !== "string" || name === "") return null;
  return {
    name,
    description: typeof description === "string" ? description : "",
    parameters: isFields(parameters) ? parameters : ANY_ARGUMENTS,
  };
}

// Which tools a request offers: all that no compaction prunes. A tool with a call in the view is always offered, and if the
// view has calls, some tool is: providers refuse calls without tools (provider rule A21).

/** Returns the tools that a request with this view offers, in their order. */
export function offeredTools<Tool extends { readonly name: string }>(
  tools: readonly Tool[],
  { turns }: View,
  compactions: readonly Compaction[],
): readonly Tool[] {
  const pruned = new Set(compactions.flatMap((compaction) => compaction.tools?.names ?? []));
  if (!tools.some(({ name }) => pruned.has(name))) return tools;
  const called = new Set<string>();
  for (const { events } of turns)
    for (const event of events) if (event.type === "tool_call_request") called.add(event.name);
  const offered = tools.filter(({ name }) => called.has(name) || !pruned.has(name));
  return offered.length === 0 && called.size > 0 ? tools : offered;
}

/** A tool as its server calls it. */
interface ServerTool {
  readonly server: string;
  readonly tool: string;
}

/** Longest name that every provider accepts, characters. */
export const MAX_TOOL_NAME = 64;

/**
 * Names tools, in the order given: by their own name, by `server__tool` where two have the same name or the name is taken.
 * Characters that some provider refuses become `_`; names are at most 64 characters.
 */
export function nameTools(tools: readonly ServerTool[], taken: Iterable<string>): readonly string[] {
  const own = tools.map(({ tool }) => cleanName(tool));
  const counts = new Map<string, number>();
  for (const name of own) counts.set(name, (counts.get(name) ?? 0) + 1);
  const reserved = new Set(taken);
  const isAlone = (name: string): boolean => counts.get(name) === 1 && !reserved.has(name);
  const used = new Set([...reserved, ...own.filter(isAlone)]);
  return tools.map(({ server, tool }, index) => {
    const name = own[index] ?? "";
    if (isAlone(name)) return name;
    const free = freeName(cleanName(`${server}__${tool}`), used);
    used.add(free);
    return free;
  });
}

function cleanName(name: string): string {
  const clean = name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, MAX_TOOL_NAME);
  // Some providers require a letter or underscore first.
  return /^[A-Za-z_]/.test(clean) ? clean : `_${clean}`.slice(0, MAX_TOOL_NAME);
}

function freeName(name: string, used: ReadonlySet<string>): string {
  for (let number = 2, free = name; ; number++) {
    if (!used.has(free)) return free;
    const suffix = `_${number}`;
    free = name.slice(0, MAX_TOOL_NAME - suffix.length) + suffix;
  }
}
