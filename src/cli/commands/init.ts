import { initStore } from "../../app/workspace/init.ts";
import { forTerminal, forTerminalLine, safe } from "../../core/safe-text.ts";
import { type CommandSpec, text } from "../frame/command.ts";

export const command: CommandSpec = {
  name: "init",
  summary: "make the conversation store of this project, or a repository of its own",
  description:
    "Makes the store inside the project's git directory: the project's files, branches, index and hooks are not touched. With DIR, makes DIR itself a conversation repository. Outside a project and without DIR, makes the user's own store. Puts a commented template where your settings are read, if you have none. Says where both are; does nothing where they are there.",
  arguments: [{ name: "[dir]", description: "directory that becomes a conversation repository" }],
  examples: [
    { command: "jpg init", explains: "a store for the project one stands in" },
    { command: "jpg init talks", explains: "./talks becomes a conversation repository" },
  ],
  run: async ({ args, options, runtime, output, json }) => {
    const report = await initStore(runtime, { directory: args[0], store: text(options, "store") });
    if (json) output.json(report);
    else
      output.data(safe`${report.created ? "Made" : "Found"} the conversation store at ${forTerminalLine(report.path)}`);
    for (const hint of report.hints) output.info(forTerminal(hint));
    return 0;
  },
};
