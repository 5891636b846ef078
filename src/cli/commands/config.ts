import { readSettings, unsetSetting } from "../../app/manage/settings.ts";
import { userError } from "../../core/errors.ts";
import { forTerminal, forTerminalLine, safe } from "../../core/safe-text.ts";
import { type CommandSpec, flag } from "../frame/command.ts";

export const command: CommandSpec = {
  name: "config",
  summary: "show settings and where they come from",
  description:
    "Shows the settings in force for the active conversation. Later layers win: built-in, user, project, conversation, --cfg. With KEY, shows only that key or table. `query`, `chat` and `compact` keep what --cfg sets in the conversation; --unset removes it.",
  arguments: [{ name: "[key]", description: "dotted key; the prefix conversation.compaction. may be left out" }],
  options: [
    {
      flags: "--show-origin",
      description: "show the file and line that each comes from",
      conflicts: ["unset"],
    },
    { flags: "--unset", description: "remove KEY, a setting or a table, from the conversation" },
  ],
  examples: [
    { command: "jpg config auto", explains: "one table" },
    { command: "jpg config --unset keep_last", explains: "remove what `jpg compact -c keep_last=1` set" },
  ],
  withoutGit: true,
  run: async ({ args, options, output, json, open }) => {
    const workspace = await open({ create: false });
    const [key] = args;
    if (flag(options, "unset")) {
      if (key === undefined)
        throw userError("usage", "jpg config: --unset needs a KEY.", {
          hints: ["`jpg config --show-origin` says which settings the conversation keeps."],
        });
      const { text, ...report } = await unsetSetting(workspace, key);
      if (json) output.json(report);
      else {
        output.info(safe`${forTerminalLine(report.branch)} no longer keeps ${forTerminalLine(report.key)}`);
        output.data(forTerminal(text));
      }
      return 0;
    }
    const settings = await readSettings(workspace, key, { showOrigin: flag(options, "showOrigin") });
    if (json) output.json(settings.rows);
    else output.data(forTerminal(settings.text));
    return settings.rows.length === 0 ? 1 : 0;
  },
};
