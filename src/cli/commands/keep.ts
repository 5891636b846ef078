import { noteCompaction } from "../../app/import/compaction-note.ts";
import { keepSession } from "../../app/import/keep-session.ts";
import type { CommandSpec } from "../frame/command.ts";
import { printNote } from "./note.ts";

export const command: CommandSpec = {
  name: "keep",
  summary: "called by an agent's hook on Windows: keeps the agent's session",
  hidden: true,
  passThrough: true,
  arguments: [
    { name: "[args...]", description: "the agent's name, and `note` to print what its compaction took away" },
  ],
  withoutGit: true,
  run: async ({ args, runtime, output }) => {
    const [agent = "", mode] = args;
    const event = new TextDecoder().decode(await runtime.readStdin());
    const entry = keepSession(runtime, { agent, event });
    if (mode === "note") printNote(output, await noteCompaction(runtime, { agent, event, entry }));
    return 0;
  },
};
