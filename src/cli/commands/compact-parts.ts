// `jpg compact --chunks` summarises a range in parts.

import type { CompactRequest } from "../../app/compact/compact.ts";
import { beginSeries, compactInSeries } from "../../app/compact/compact.ts";
import { compactInParts, type PartsReport, type PartsRequest } from "../../app/compact/compact-parts.ts";
import { type CompactReport, notesOf } from "../../app/compact/compact-report.ts";
import { omitTurns } from "../../app/compact/history.ts";
import { type FoundTangent, type FoundTangents, findTangents } from "../../app/compact/tangents.ts";
import type { BranchTree } from "../../app/conversation/tree.ts";
import type { Workspace } from "../../app/conversation/workspace.ts";
import { joinRuns, type TurnRange } from "../../core/conversation/event.ts";
import { abbreviateCommit } from "../../core/conversation/name.ts";
import { forTerminal, forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { type AskOptions, ask, requireTerminal } from "../frame/ask.ts";
import { type CommandContext, flag, INTERRUPTED } from "../frame/command.ts";
import { endOnInterrupt } from "../frame/interrupt.ts";
import type { Output } from "../frame/output.ts";
import { type Cell, renderTable } from "../frame/table.ts";
import type { Rendering } from "../frame/terminal.ts";
import {
  documentOf,
  documentOfSeveral,
  renderCompactedBranch,
  renderNotes,
  renderNothing,
  renderTimeline,
} from "../render/compact.ts";
import { renderCount, renderRange, renderShare, renderTokens } from "../render/quantity.ts";

/** Compacts in parts and prints the outcome. */
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

/** Renders the outcome: a line for each part, then notes. */
export function renderParts(report: PartsReport, rendering: Rendering): SafeText {
  const { style, width } = rendering;
  const { branch, dryRun, parts, tokens, warnings } = report;
  const notes = renderNotes([...parts.flatMap(partNotes), ...warnings], rendering);
  const [first] = parts;
  if (first === undefined) return joinLines([renderNothing(report, style, width), ...notes]);
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

/** Whether a model is still to write the summary, so that its size is unknown. */
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

/** Adds to a part's notes which turns they are about. */
function partNotes({ from_turn, to_turn, planned_summary, warnings, ungrounded }: CompactReport): readonly string[] {
  const invented = `the summary says ${ungrounded.length} things that are in no event (--json lists them)`;
  const notes = ungrounded.length === 0 ? warnings : [...warnings, invented];
  const range = renderRange(from_turn ?? 0, to_turn ?? 0);
  return notesOf({ planned_summary, warnings: notes.map((note) => `turns ${range}: ${note}`) });
}

// `jpg compact -s classify-tangents`: leaves out turns off the task. A model proposes them unless the user names them, and the
// user confirms each: only the user decides to hide a turn. Other strategies of the call follow, on the remaining view.

export interface TangentsJob {
  readonly tree: BranchTree;
  readonly request: CompactRequest;
  /** The turns that the user named; null = ask a model. */
  readonly turns: readonly TurnRange[] | null;
}

/** How to answer without a terminal. */
const INSTEAD = "--yes leaves out all that the model names, --dry-run only lists them, --tangents names them";

/** Leaves out tangents. Without a terminal to confirm on, throws `needs_terminal` before asking a model. */
export async function runTangents(context: CommandContext, workspace: Workspace, job: TangentsJob): Promise<number> {
  const isListing = job.request.dryRun || flag(context.options, "yes");
  if (job.turns === null && !isListing) requireTerminal({ text: "Leave these turns out?", instead: INSTEAD }, context);
  return endOnInterrupt(context.output, async (signal) => {
    const request = { ...job.request, signal };
    const proposal =
      job.turns === null ? await findAndChoose(context, workspace, { tree: job.tree, request, isListing }) : null;
    const runs = job.turns ?? joinRuns((proposal?.chosen ?? []).map(({ turn }) => ({ from: turn, to: turn })));
    const series = beginSeries(workspace, job.tree);
    const omitted = runs.length === 0 ? [] : await omitTurns(workspace, series, { ...request, runs });
    const rest = request.strategies === undefined ? null : await compactInSeries(series, request);
    if (rest === null) return printOutcome(context, omitted, proposal);
    printOutcome(context, [...omitted, rest], proposal);
    return rest.summary_error === "interrupted" ? INTERRUPTED : 0;
  });
}

/** The model's proposal, and the turns chosen from it. */
interface TangentChoice {
  readonly found: FoundTangents;
  readonly chosen: readonly FoundTangent[];
}

async function findAndChoose(
  context: CommandContext,
  workspace: Workspace,
  { tree, request, isListing }: Pick<TangentsJob, "tree" | "request"> & { readonly isListing: boolean },
): Promise<TangentChoice> {
  const { output, json } = context;
  const { signal } = request;
  const found = await findTangents(workspace, tree, request);
  if (!isListing)
    return { found, chosen: await confirmTangents(found, signal === undefined ? { output } : { output, signal }) };
  if (found.tangents.length > 0 && !json) output.data(renderTangents(found, output));
  return { found, chosen: found.tangents };
}

type Answer = "yes" | "no" | "quit";

/** Asks about each tangent whether to leave it out; `q` ends the questions and keeps earlier answers. */
export async function confirmTangents(
  { tangents, model }: FoundTangents,
  options: AskOptions & { readonly output: Output },
): Promise<readonly FoundTangent[]> {
  const { output, signal } = options;
  const chosen: FoundTangent[] = [];
  if (tangents.length > 0)
    output.info(safe`${forTerminalLine(model ?? "")} calls ${renderCount(tangents.length, "turn")} a tangent.`);
  for (const tangent of tangents) {
    const answer = await ask<Answer>(
      {
        text: `${describe(tangent)}\nLeave it out?`,
        choices: [
          { key: "y", value: "yes", label: "yes" },
          { key: "n", value: "no", label: "no" },
          { key: "q", value: "quit", label: "quit" },
        ],
        otherwise: "no",
        instead: INSTEAD,
      },
      options,
    );
    if (answer === "quit" || signal?.aborted === true) break;
    if (answer === "yes") chosen.push(tangent);
  }
  return signal?.aborted === true ? [] : chosen;
}

/** Describes a tangent, e.g. `turn 5 "tell me a joke": off the task`. */
function describe({ turn, request, reason }: FoundTangent): SafeText {
  const why = reason === "" ? "" : safe`: ${forTerminalLine(reason)}`;
  return safe`turn ${turn}${request === "" ? "" : safe` "${forTerminalLine(request)}"`}${why}`;
}

function renderTangents({ model, tangents }: FoundTangents, { style }: Rendering): SafeText {
  const title = safe`${forTerminalLine(model ?? "")} calls ${renderCount(tangents.length, "turn")} a tangent:`;
  return joinLines([style.heading(title), ...tangents.map((tangent) => safe`  ${describe(tangent)}`)]);
}

/** Says why no turn is left out. */
function reasonForNothing({ tangents, model, reason }: FoundTangents): string {
  return reason ?? (tangents.length === 0 ? `${model ?? ""} found no tangent` : "no turn was confirmed");
}

function printNothing({ output, json }: CommandContext, found: FoundTangents): number {
  const { model, tangents, problems } = found;
  const why = reasonForNothing(found);
  if (json) output.json({ compaction: null, commit: null, reason: why, model, tangents, warnings: problems });
  else {
    const nothing = renderNothing({ reason: why, hints: found.hints ?? [] }, output.style, output.width);
    output.data(joinLines([nothing, ...renderNotes(problems, output)]));
  }
  return 0;
}

/** Prints what was or would be done; `judged` = the model's proposal, null if the user named the turns. */
function printOutcome(
  context: CommandContext,
  reports: readonly CompactReport[],
  judged: TangentChoice | null,
): number {
  if (judged !== null && reports.length === 0) return printNothing(context, judged.found);
  const { output, json } = context;
  const said = judged === null ? {} : { model: judged.found.model, tangents: judged.chosen };
  const problems = judged?.found.problems ?? [];
  const [only] = reports;
  if (json) {
    const document =
      only !== undefined && reports.length === 1 ? documentOf(only) : documentOfSeveral(several(reports));
    output.json({ ...document, ...said, ...(problems.length === 0 ? {} : { problems }) });
    return 0;
  }
  if (judged?.chosen.length === 0)
    output.info(safe`No turn is left out: ${forTerminalLine(reasonForNothing(judged.found))}.`);
  for (const report of reports) output.data(renderTimeline(report, output));
  for (const problem of problems) output.warn(forTerminal(problem));
  return 0;
}

function several(reports: readonly CompactReport[]): Parameters<typeof documentOfSeveral>[0] {
  const [first, last] = [reports[0], reports.at(-1)];
  return {
    branch: last?.branch ?? "",
    conversation: last?.conversation ?? "",
    dryRun: last?.dryRun ?? false,
    reports,
    tokens: { before: first?.tokens.before ?? 0, after: last?.tokens.after ?? 0 },
    warnings: reports.flatMap(({ warnings }) => warnings),
  };
}
