// Hooks as several agents have them in their settings: an object `hooks` with a list for each event, in which an entry runs
// commands of a shell.
import type { JsonEntry, JsonPart } from "./agent-settings.ts";

/** Has a shell line run at each of some events. `timeout` = how long the agent waits at most, in what it counts in. */
export function commandHooks(
  events: readonly string[],
  line: string,
  { timeout }: { readonly timeout: number },
): JsonPart {
  const entries = events.map((event): JsonEntry => {
    const value = { hooks: [{ type: "command", command: line, timeout }] };
    return { keys: ["hooks", event], value, isItem: true };
  });
  return { type: "json", entries };
}

/** Names an MCP server that is started by a command, as most agents have it: by its name under one key. */
export function namedServer(key: string, [program = "", ...args]: readonly string[]): JsonPart {
  return { type: "json", entries: [{ keys: [key, "jpg"], value: { command: program, args }, isItem: false }] };
}
