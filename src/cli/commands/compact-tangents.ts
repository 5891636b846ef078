// `jpg compact -s classify-tangents`: turns off the task are left out. A model names them unless the user does, and the user
// confirms each; nobody's word but the user's hides a turn.
import type { BranchTree } from "../../app/branch/branch-tree.ts";
import type { CompactRequest } from "../../app/compact/compact-request.ts";
import { type FoundTangent, type FoundTangents, findTangents } from "../../app/compact/find-tangents.ts";
import { omitTurns } from "../../app/compact/omit-turns.ts";
import type { CompactReport } from "../../app/plan/compact-report.ts";
import type { Workspace } from "../../app/workspace/workspace.ts";
import { joinRuns, type TurnRange } from "../../core/range/turn-range.ts";
import { forTerminal, forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { type AskOptions, ask, requireTerminal } from "../frame/ask.ts";
import { type CommandContext, flag } from "../frame/command.ts";
import { endOnInterrupt } from "../frame/end-on-interrupt.ts";
import type { Output } from "../frame/output.ts";
import type { Rendering } from "../frame/style.ts";
import { documentOf, documentOfSeveral } from "../render/compact-document.ts";
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
export async function runTangents(
  context: CommandContext,
  workspace: Workspace,
  { tree, request, turns }: TangentsJob,
): Promise<number> {
  if (turns !== null) return tell(context, await omitTurns(workspace, tree, { ...request, runs: turns }));
  const isListing = request.dryRun || flag(context.options, "yes");
  if (!isListing) requireTerminal({ text: "Leave these turns out?", instead: INSTEAD }, context);
  return endOnInterrupt(context.output, async (signal) => {
    const found = await findTangents(workspace, tree, { ...request, signal });
    const chosen = isListing ? found.tangents : await confirmTangents(found, { output: context.output, signal });
    if (chosen.length === 0) return tellNothing(context, found);
    if (isListing && !context.json) context.output.data(renderTangents(found, context.output));
    const runs = joinRuns(chosen.map(({ turn }) => ({ from: turn, to: turn })));
    return tell(context, await omitTurns(workspace, tree, { ...request, runs }), { found, chosen });
  });
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

function tellNothing({ output, json }: CommandContext, { tangents, model, reason, problems }: FoundTangents): number {
  const why = reason ?? (tangents.length === 0 ? `${model ?? ""} found no tangent` : "no turn was confirmed");
  if (json) output.json({ compaction: null, commit: null, reason: why, model, tangents, warnings: problems });
  else {
    const notes = problems.map((problem) => safe`${output.style.caution(safe`note:`)} ${forTerminal(problem)}`);
    output.data(
      joinLines([safe`${output.style.heading(safe`Nothing to compact.`)} ${forTerminalLine(why)}.`, ...notes]),
    );
  }
  return 0;
}

interface Judged {
  readonly found: FoundTangents;
  readonly chosen: readonly FoundTangent[];
}

/** Tells what was left out, or would be; `judged` = what a model said. */
function tell({ output, json }: CommandContext, reports: readonly CompactReport[], judged?: Judged): number {
  const said = judged === undefined ? {} : { model: judged.found.model, tangents: judged.chosen };
  const problems = judged?.found.problems ?? [];
  const [only] = reports;
  if (json) {
    const document =
      only !== undefined && reports.length === 1 ? documentOf(only) : documentOfSeveral(several(reports));
    output.json({ ...document, ...said, ...(problems.length === 0 ? {} : { problems }) });
    return 0;
  }
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
