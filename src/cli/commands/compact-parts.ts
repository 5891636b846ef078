// `jpg compact --chunks`: a range summarised in parts, and how it is told.

import { compactInParts, type PartsReport, type PartsRequest } from "../../app/compact/compact-parts.ts";
import { type CompactReport, notesOf } from "../../app/compact/compact-report.ts";
import type { BranchTree } from "../../app/conversation/tree.ts";
import type { Workspace } from "../../app/conversation/workspace.ts";
import { abbreviateCommit } from "../../core/conversation/name.ts";
import { forTerminal, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import type { CommandContext } from "../frame/command.ts";
import { endOnInterrupt } from "../frame/end-on-interrupt.ts";
import type { Rendering } from "../frame/style.ts";
import { type Cell, renderTable } from "../frame/table.ts";
import { documentOfSeveral } from "../render/compact-document.ts";
import { renderNothing } from "../render/render-nothing.ts";
import { renderCount, renderRange, renderShare, renderTokens } from "../render/render-quantity.ts";
import { renderCompactedBranch } from "../render/render-timeline.ts";

/** Compacts in parts and tells what came of it. */
export async function runParts(
  { output, json }: CommandContext,
  workspace: Workspace,
  { tree, request }: { readonly tree: BranchTree; readonly request: PartsRequest },
): Promise<number> {
  return endOnInterrupt(output, async (signal) => {
    const report = await compactInParts(workspace, tree, { ...request, signal });
    const { parts: reports, ...rest } = report;
    if (json) output.json(documentOfSeveral({ ...rest, reports }));
    else output.data(renderParts(report, output));
    return 0;
  });
}

/** Renders the outcome: a line for each part, then what the user should know. */
export function renderParts(report: PartsReport, rendering: Rendering): SafeText {
  const { style, width } = rendering;
  const { branch, dryRun, parts, tokens, warnings } = report;
  const notes = [...parts.flatMap(partNotes), ...warnings].map(
    (note) => safe`${style.caution(safe`note:`)} ${forTerminal(note)}`,
  );
  const [first] = parts;
  if (first === undefined) return joinLines([renderNothing(report, style), ...notes]);
  const verb = style.heading(dryRun ? safe`Would compact` : safe`Compacted`);
  const change = parts.some(isOpen) ? "" : forTerminal(`  ${renderTokens(tokens)} ${renderShare(tokens)}`.trimEnd());
  const columns = [{ align: "right" }, {}, {}, { align: "right" }, { align: "right" }] as const;
  return joinLines([
    safe`${verb} ${renderCompactedBranch({ ...first, branch })} in ${renderCount(parts.length, "part")}${change}`,
    ...renderTable(
      parts.map((part) => rowOf(part, rendering)),
      { columns, width, indent: "  " },
    ),
    ...notes,
  ]);
}

/** Whether a model is still to write its summary: nobody knows how long that will be. */
function isOpen({ dryRun, compaction }: CompactReport): boolean {
  return dryRun && compaction?.summary === undefined;
}

function rowOf(part: CompactReport, { style }: Rendering): Cell[] {
  const { compaction, commit, from_turn, to_turn, tokens } = part;
  const isCut = compaction?.from_event !== undefined;
  const range = renderRange(from_turn ?? 0, to_turn ?? 0);
  return [
    { text: `turns ${range}${isCut ? " (part)" : ""}`, paint: style.heading },
    commit === null ? "" : { text: `commit ${abbreviateCommit(commit, 7)}`, paint: style.commit },
    commit === null ? "" : { text: `compaction ${compaction?.id ?? ""}`, paint: style.id },
    isOpen(part) ? "" : renderTokens(tokens),
    isOpen(part) ? "" : { text: renderShare(tokens), paint: style.faint },
  ];
}

/** Says of a part's notes which part they are about, where they do not say so themselves. */
function partNotes({ from_turn, to_turn, planned_summary, warnings, ungrounded }: CompactReport): readonly string[] {
  const invented = `the summary says ${ungrounded.length} things that are in no event (--json lists them)`;
  const notes = ungrounded.length === 0 ? warnings : [...warnings, invented];
  const range = renderRange(from_turn ?? 0, to_turn ?? 0);
  return notesOf({ planned_summary, warnings: notes.map((note) => `turns ${range}: ${note}`) });
}
