import { redoCompaction } from "../../app/manage/revert.ts";
import { resolveBranch } from "../../app/names/resolve-id.ts";
import { forTerminal } from "../../core/safe-text.ts";
import type { CommandSpec } from "../frame/command.ts";
import { renderRevert } from "../render/sharing.ts";

export const command: CommandSpec = {
  name: "redo",
  summary: "bring back what `jpg undo` undid",
  description:
    "Reverts the newest revert whose compaction is not in force; once more brings back the one that was undone before it.",
  arguments: [{ name: "[id]", description: "conversation; default @" }],
  withoutGit: true,
  run: async ({ args, output, json, open }) => {
    const workspace = await open();
    const report = await redoCompaction(workspace, await resolveBranch(workspace, args[0]));
    if (json) output.json(report);
    else output.data(renderRevert(report, output));
    for (const warning of report.warnings ?? []) output.warn(forTerminal(warning));
    return 0;
  },
};
