// What a merge of a fork did, in two or three lines.
import type { MergeReport } from "../../app/manage/merge.ts";
import { EXTRACTIVE } from "../../core/conversation/compaction.ts";
import { forkOf } from "../../core/conversation/name.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { renderPrice } from "../../core/model/usage.ts";
import { forTerminal, forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering } from "../frame/style.ts";
import { renderRange, renderTokens, shortCommit } from "./render-quantity.ts";

/** Renders the outcome of `merge`. */
export function renderMerge(report: MergeReport, { style }: Rendering): SafeText {
  const { from_turn: from, to_turn: to, turn, tokens, commit, summary } = report;
  if (from === null || to === null || turn === null)
    return safe`${style.heading(safe`Nothing to merge.`)} ${forTerminalLine(report.reason ?? "")}`;
  const verb = style.heading(report.dry_run ? safe`Would merge` : safe`Merged`);
  const turns = from === to ? safe`turn ${from}` : safe`turns ${renderRange(from, to)}`;
  const price = summary?.price_usd === undefined ? "" : safe` (${forTerminal(renderPrice(summary.price_usd))})`;
  const notes = report.notes.map((note) => safe`${style.caution(safe`note:`)} ${forTerminal(note)}`);
  return joinLines([
    safe`${verb} ${forTerminalLine(report.fork)} ${turns} (${formatTokens(tokens.fork)} tokens)`,
    safe`into ${forTerminalLine(forkOf(report.branch))} as turn ${turn}: ${writerOf(report)}${price}`,
    ...(commit === null || tokens.after === null
      ? []
      : [
          safe`${style.commit(safe`commit ${shortCommit(commit)}`)}  view ${renderTokens({ before: tokens.before, after: tokens.after })}`,
        ]),
    ...notes,
  ]);
}

function writerOf({ model, dry_run: isDry }: MergeReport): SafeText {
  if (model === null) return safe`your summary`;
  if (model === EXTRACTIVE) return isDry ? safe`would extract a summary, without a model` : safe`an extract`;
  const name = forTerminalLine(model);
  return isDry ? safe`would have ${name} write a summary` : safe`a summary by ${name}`;
}
