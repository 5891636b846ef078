import { show } from "../../app/inspect/show.ts";
import type { CommandSpec } from "../frame/command.ts";
import { renderShow } from "../render/render-show.ts";

export const command: CommandSpec = {
  name: "show",
  summary: "show a conversation, a compaction with what it hid, or an event",
  description:
    "Shows what ID names. Of a compaction: its commit, its policies, what it hides (tools, files, commands, with their sizes) and the loss receipt. Of an event: the original, and how the view reads it.",
  arguments: [{ name: "[id]", description: "conversation, compaction, commit of one, or event; default @" }],
  run: async ({ args, output, json, open }) => {
    const report = await show(await open(), args[0]);
    if (!json) await output.page(renderShow(report, output));
    else if (report.kind === "compaction") {
      const { event, kind: _kind, ...facts } = report;
      output.json({ ...event, ...facts });
    } else output.json(report);
    return 0;
  },
};
