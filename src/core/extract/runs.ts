// The commands that did something, each once, where it was run last, with how that ended.
import { callFacts } from "../tools/call-facts.ts";
import type { ToolCall } from "../tools/tool-call.ts";
import { actionsOf, onlyLooks } from "./command-line.ts";
import { commandOf, hasFailed, nameCall } from "./failures.ts";

/** A command line, as short as it still tells itself from others. */
export interface CommandRun {
  readonly command: string;
  readonly failed: boolean;
}

/** Lists the commands of calls that did more than look, in the order of their last runs. */
export function commandsRunBy(calls: readonly ToolCall[]): readonly CommandRun[] {
  const runs = new Map<string, CommandRun>();
  for (const call of calls) {
    if (callFacts(call.request).kind !== "shell") continue;
    const line = commandOf(call);
    const failed = hasFailed(call);
    if (line.trim() === "" || onlyLooks(line) || (!failed && onlyCommits(line))) continue;
    const command = nameCall(call);
    runs.delete(command);
    runs.set(command, { command, failed });
  }
  return [...runs.values()];
}

/** Commits are listed by themselves. */
function onlyCommits(command: string): boolean {
  return actionsOf(command).every((action) => action === "git add" || action === "git commit");
}
