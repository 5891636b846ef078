import { initStore } from "../../app/conversation/engine.ts";
import { forTerminal, forTerminalLine, safe } from "../../core/safe-text.ts";
import { type CommandSpec, text } from "../frame/command.ts";

export const command: CommandSpec = {
  name: "init",
  summary: "create a conversation store, for this project or in a folder",
  description:
    "Creates the store inside the project's git directory; the project's files, branches, index and hooks are not touched. With DIR, makes DIR itself a conversation repository. Outside a project and without DIR, creates your own store. If you have no settings file yet, writes a commented template. Prints where both are. Nothing that exists is changed.",
  arguments: [{ name: "[dir]", description: "directory that becomes a conversation repository" }],
  examples: [
    { command: "jpg init", explains: "a store for the current project" },
    { command: "jpg init talks", explains: "make ./talks a conversation repository" },
  ],
  withoutGit: true,
  run: async ({ args, options, runtime, output, json }) => {
    const report = await initStore(runtime, { directory: args[0], store: text(options, "store") });
    if (json) output.json(report);
    else
      output.data(safe`${report.created ? "Made" : "Found"} the conversation store at ${forTerminalLine(report.path)}`);
    for (const hint of report.hints) output.info(forTerminal(hint));
    return 0;
  },
};
