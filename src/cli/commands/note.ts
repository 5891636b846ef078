import { noteCompaction } from "../../app/import/compaction-note.ts";
import type { CommandSpec } from "../frame/command.ts";
import type { Output } from "../frame/output.ts";

export const command: CommandSpec = {
  name: "note",
  summary: "called by an agent's hook after a compaction: what its model is told about it",
  hidden: true,
  passThrough: true,
  arguments: [{ name: "[args...]", description: "the agent's name, and the session's entry in the spool" }],
  withoutGit: true,
  run: async ({ args, runtime, output }) => {
    const [agent = "", entry] = args;
    const event = new TextDecoder().decode(await runtime.readStdin());
    const note = await noteCompaction(runtime, { agent, event, entry: entry ?? null });
    printNote(output, note);
    return 0;
  },
};

/** Prints a note as agents read it from their hooks; null = nothing. */
export function printNote(output: Pick<Output, "json">, note: string | null): void {
  const hookSpecificOutput = { hookEventName: "SessionStart", additionalContext: note };
  if (note !== null) output.json({ hookSpecificOutput });
}
