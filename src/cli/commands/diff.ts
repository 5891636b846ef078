import { type DiffReport, diffConversation } from "../../app/diff/diff.ts";
import { joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { type CommandSpec, count, flag } from "../frame/command.ts";
import { takeRange } from "../frame/range-argument.ts";
import type { Rendering } from "../frame/terminal.ts";
import { renderDiff, renderDiffStat } from "../render/diff.ts";
import { renderAllLost, renderLoss, renderLost } from "../render/loss.ts";

/** Renders the counts, and below them what the model no longer sees. */
function statText({ stat, loss, lost = [] }: DiffReport, rendering: Rendering, isFull: boolean): SafeText {
  const receipt = loss === undefined ? [] : renderLoss(loss, rendering);
  const lines = isFull
    ? [...receipt, ...renderAllLost(lost, rendering)]
    : renderLost(loss, lost, { ...rendering, more: safe` Add --full for all names.` });
  return joinLines([renderDiffStat(stat, rendering), ...(lines.length === 0 ? [] : (["", ...lines] as const))]);
}

export const command: CommandSpec = {
  name: "diff",
  summary: "show what the model sees before and after a compaction",
  description:
    "Without arguments: the newest compaction in force of the active conversation. With a compaction (or its commit): that one. With REV..REV: the views at two commits, branches or conversations. With A..B, two turns: only what changed in those.",
  arguments: [
    { name: "[id]", description: "conversation, compaction, or REV..REV; default @" },
    { name: "[what]", description: "compaction or REV..REV of that conversation" },
    { name: "[turns]", description: "only these turns, in any place: 3..7, ..7, 3.." },
  ],
  options: [
    { flags: "--stat", description: "show only counts, and what the model no longer sees" },
    {
      flags: "--full",
      description: "do not shorten long passages; with --stat, name all that the model no longer sees",
    },
    { flags: "-U, --unified <lines>", description: "unchanged lines around a change; default 3" },
  ],
  examples: [
    { command: "jpg diff", explains: "what the newest compaction did" },
    { command: "jpg diff @ main~2..main", explains: "what the last two commits did to the view" },
  ],
  withoutGit: true,
  run: async ({ args, options, runtime, output, json, open }) => {
    const context = count(options, "unified");
    const { rest, turns } = takeRange(args, runtime);
    const report = await diffConversation(await open(), rest, { context, range: turns });
    if (json) output.json(report);
    else if (report.hunks.length === 0) output.info(safe`No difference: the model sees the same.`);
    else if (flag(options, "stat")) output.data(statText(report, output, flag(options, "full")));
    else
      await output.page(renderDiff(report, { style: output.style, width: output.width, full: flag(options, "full") }));
    return 0;
  },
};
