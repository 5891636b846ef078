// `jpg compact -s classify-tangents`: turns off the task are left out. A model names them unless the user does, and the user
// confirms each; nobody's word but the user's hides a turn. Other strategies of the call come behind it, on what it leaves.

import { beginSeries, compactInSeries } from "../../app/compact/compact.ts";
import type { CompactReport } from "../../app/compact/compact-report.ts";
import type { CompactRequest } from "../../app/compact/describe-compaction.ts";
import { omitTurns } from "../../app/compact/history.ts";
import { type FoundTangent, type FoundTangents, findTangents } from "../../app/compact/tangents.ts";
import type { BranchTree } from "../../app/conversation/tree.ts";
import type { Workspace } from "../../app/conversation/workspace.ts";
import { joinRuns, type TurnRange } from "../../core/conversation/event.ts";
import { forTerminal, forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { type AskOptions, ask, requireTerminal } from "../frame/ask.ts";
import { type CommandContext, flag } from "../frame/command.ts";
import { endOnInterrupt } from "../frame/end-on-interrupt.ts";
import { INTERRUPTED } from "../frame/exit-code.ts";
import type { Output } from "../frame/output.ts";
import type { Rendering } from "../frame/style.ts";
import { documentOf, documentOfSeveral } from "../render/compact-document.ts";
import { renderNothing } from "../render/render-nothing.ts";
import { renderCount } from "../render/render-quantity.ts";
import { renderTimeline } from "../render/render-timeline.ts";

/** What is compacted, and how. */
export interface TangentsJob {
  readonly tree: BranchTree;
  readonly request: CompactRequest;
  /** The turns that the user named; null = a model is asked. */
  readonly turns: readonly TurnRange[] | null;
}

/** How to answer without a terminal. */
const INSTEAD = "--yes leaves out all that the model names, --dry-run only lists them, --turns names them";

/** Leaves tangents out. Throws `needs_terminal` before any model is asked where nobody could confirm. */
export async function runTangents(context: CommandContext, workspace: Workspace, job: TangentsJob): Promise<number> {
  const isListing = job.request.dryRun || flag(context.options, "yes");
  if (job.turns === null && !isListing) requireTerminal({ text: "Leave these turns out?", instead: INSTEAD }, context);
  return endOnInterrupt(context.output, async (signal) => {
    const request = { ...job.request, signal };
    const judged = job.turns === null ? await judge(context, workspace, { tree: job.tree, request, isListing }) : null;
    const runs = job.turns ?? joinRuns((judged?.chosen ?? []).map(({ turn }) => ({ from: turn, to: turn })));
    const series = beginSeries(workspace, job.tree);
    const omitted = runs.length === 0 ? [] : await omitTurns(workspace, series, { ...request, runs });
    const rest = request.strategies === undefined ? null : await compactInSeries(series, request);
    if (rest === null) return tell(context, omitted, judged);
    tell(context, [...omitted, rest], judged);
    return rest.summary_error === "interrupted" ? INTERRUPTED : 0;
  });
}

/** What a model said, and what of it is to go. */
interface Judged {
  readonly found: FoundTangents;
  readonly chosen: readonly FoundTangent[];
}

async function judge(
  context: CommandContext,
  workspace: Workspace,
  { tree, request, isListing }: Pick<TangentsJob, "tree" | "request"> & { readonly isListing: boolean },
): Promise<Judged> {
  const { output, json } = context;
  const { signal } = request;
  const found = await findTangents(workspace, tree, request);
  if (!isListing)
    return { found, chosen: await confirmTangents(found, signal === undefined ? { output } : { output, signal }) };
  if (found.tangents.length > 0 && !json) output.data(renderTangents(found, output));
  return { found, chosen: found.tangents };
}

type Answer = "yes" | "no" | "quit";

/** Asks of each tangent whether it goes; `q` ends the questions, what was confirmed before it stands. */
export async function confirmTangents(
  { tangents, model }: FoundTangents,
  options: AskOptions & { readonly output: Output },
): Promise<readonly FoundTangent[]> {
  const { output, signal } = options;
  const chosen: FoundTangent[] = [];
  if (tangents.length > 0)
    output.info(safe`${forTerminalLine(model ?? "")} takes ${renderCount(tangents.length, "turn")} for a tangent.`);
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

/** `turn 5 "tell me a joke": beside the task`. */
function describe({ turn, request, reason }: FoundTangent): SafeText {
  const why = reason === "" ? "" : safe`: ${forTerminalLine(reason)}`;
  return safe`turn ${turn}${request === "" ? "" : safe` "${forTerminalLine(request)}"`}${why}`;
}

function renderTangents({ model, tangents }: FoundTangents, { style }: Rendering): SafeText {
  const title = safe`${forTerminalLine(model ?? "")} takes ${renderCount(tangents.length, "turn")} for a tangent:`;
  return joinLines([style.heading(title), ...tangents.map((tangent) => safe`  ${describe(tangent)}`)]);
}

/** Why no turn is left out. */
function whyNothing({ tangents, model, reason }: FoundTangents): string {
  return reason ?? (tangents.length === 0 ? `${model ?? ""} found no tangent` : "no turn was confirmed");
}

function tellNothing({ output, json }: CommandContext, found: FoundTangents): number {
  const { model, tangents, problems } = found;
  const why = whyNothing(found);
  if (json) output.json({ compaction: null, commit: null, reason: why, model, tangents, warnings: problems });
  else {
    const notes = problems.map((problem) => safe`${output.style.caution(safe`note:`)} ${forTerminal(problem)}`);
    output.data(joinLines([renderNothing({ reason: why, hints: found.hints ?? [] }, output.style), ...notes]));
  }
  return 0;
}

/** Tells what was done, or would be; `judged` = what a model said, null where the user named the turns. */
function tell(context: CommandContext, reports: readonly CompactReport[], judged: Judged | null): number {
  if (judged !== null && reports.length === 0) return tellNothing(context, judged.found);
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
    output.info(safe`No turn is left out: ${forTerminalLine(whyNothing(judged.found))}.`);
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
