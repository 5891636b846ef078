import { readSettings } from "../../app/manage/settings.ts";
import { forTerminal } from "../../core/safe-text.ts";
import { type CommandSpec, flag } from "../frame/command.ts";

export const command: CommandSpec = {
  name: "config",
  summary: "show settings and where they come from",
  description:
    "Shows the settings in force for the active conversation; later layers win: built-in, user, project, conversation, --cfg. With KEY, only that key or table.",
  arguments: [{ name: "[key]", description: "dotted key; the prefix conversation.compaction. may be left out" }],
  options: [{ flags: "--show-origin", description: "show the file and line each comes from" }],
  run: async ({ args, options, output, json, open }) => {
    const settings = await readSettings(await open({ create: false }), args[0], {
      showOrigin: flag(options, "showOrigin"),
    });
    if (json) output.json(settings.rows);
    else output.data(forTerminal(settings.text));
    return settings.rows.length === 0 ? 1 : 0;
  },
};
