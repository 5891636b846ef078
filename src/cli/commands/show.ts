import { showWithNames } from "../../app/look/show.ts";
import { readSummarySources } from "../../app/look/summary-sources.ts";
import { type CommandSpec, flag } from "../frame/command.ts";
import { renderSources } from "../render/quantity.ts";
import { renderShow } from "../render/show.ts";

export const command: CommandSpec = {
  name: "show",
  summary: "show a conversation, a compaction and what it hid, or an event",
  description:
    "Shows what ID names. For a compaction: its commit, its policies, what it hides (tools, files, commands, with their sizes) and the loss receipt. For an event: the original, and how it reads in the view.",
  arguments: [{ name: "[id]", description: "conversation, compaction, commit of one, or event; default @" }],
  options: [
    { flags: "--full", description: "for a compaction: its whole text, all tools, files, commands and facts" },
    {
      flags: "--sources",
      description:
        "for a summary: its paths, numbers, SHAs, URLs and quotations, who first said each, and which nobody said",
    },
  ],
  withoutGit: true,
  run: async ({ args, options, output, json, open }) => {
    if (flag(options, "sources")) {
      const sources = await readSummarySources(await open(), args[0]);
      if (json) output.json(sources);
      else await output.page(renderSources(sources, output));
      return 0;
    }
    const report = await showWithNames(await open(), args[0]);
    if (!json) await output.page(renderShow(report, output, { isFull: flag(options, "full") }));
    else if (report.kind === "compaction") {
      const { event, kind: _kind, agent: _agent, ...facts } = report;
      output.json({ ...event, ...facts });
    } else output.json(report);
    return 0;
  },
};
