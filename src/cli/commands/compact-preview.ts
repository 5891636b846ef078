import { type CompactReport, notesOf } from "../../app/compact/compact-report.ts";
import { diffViews } from "../../app/diff/diff.ts";
import { renderShown } from "../../app/look/print.ts";
import { forTerminal, safe } from "../../core/safe-text.ts";
import { type CommandContext, flag } from "../frame/command.ts";
import { documentOf } from "../render/compact.ts";
import { renderDiff } from "../render/diff.ts";

// `jpg compact --dry-run --diff` and `--text`: the view as it would be, before anything is committed.

type Preview = CompactReport & Required<Pick<CompactReport, "views">>;

/**
 * Shows the view after a dry run: with `--diff` as `jpg diff` does, with `--text` whole. Notes, e.g. on a summary that is still
 * to be written, go to standard error.
 */
export async function showPreview(
  { output, options, json }: Pick<CommandContext, "output" | "options" | "json">,
  report: Preview,
): Promise<void> {
  const { before, measure } = report.views;
  const { after } = report.further?.views ?? report.views;
  const notes = [report, ...(report.further === undefined ? [] : [report.further])].flatMap(notesOf);
  if (!json) for (const note of notes) output.info(safe`note: ${forTerminal(note)}`);
  if (flag(options, "text")) {
    const text = renderShown(after);
    if (json) output.json({ ...documentOf(report), text });
    else await output.page(forTerminal(text));
    return;
  }
  const diff = { from: report.branch, to: `${report.branch} (as planned)`, ...diffViews(before, after, { measure }) };
  if (json) output.json({ ...documentOf(report), diff });
  else if (diff.hunks.length === 0) output.info(safe`No difference: the model would see the same.`);
  else await output.page(renderDiff(diff, { style: output.style, width: output.width }));
}
