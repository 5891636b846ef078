// The errors of a plan: what is wrong with its lines, and that its branch is no more what it was made of.
import type { PlanBase, PlanProblem } from "../../core/compact/edit-plan.ts";
import { cutEnd } from "../../core/compact/passages.ts";
import { asSentence, type JpgError, userError } from "../../core/errors.ts";
import { forLine } from "../../core/safe-text.ts";
import { type BranchTree, loadTip } from "../branch/branch-tree.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Problems that an error names before the rest is only counted. */
const MOST_NAMED = 10;
/** Commits that are looked through for what changed. */
const MOST_COMMITS = 20;
/** Longest subject of a commit in an error, characters. */
const SUBJECT = 80;

/** The error of a plan with wrong lines. */
export function badPlan(problems: readonly PlanProblem[]): JpgError {
  const sorted = [...problems].sort((a, b) => a.line - b.line);
  const named = sorted.slice(0, MOST_NAMED).map(({ line, message }) => `line ${line}: ${message}`);
  const rest = problems.length - named.length;
  const hints = [
    ...named.slice(1),
    ...(rest === 0 ? [] : [`… and ${rest} more`]),
    "`jpg edit --emit-plan` prints a new plan.",
    "Nothing was committed.",
  ];
  return userError("bad_plan", `The plan cannot be followed: ${asSentence(named[0] ?? "")}`, {
    hints,
    data: { problems: sorted },
  });
}

/** Refuses a plan that was made of another branch, or of another commit. Throws `plan_of_another`, `plan_moved`. */
export async function requireBase(workspace: Workspace, tree: BranchTree, base: PlanBase): Promise<void> {
  if (base.branch !== tree.branch) {
    throw userError("plan_of_another", `The plan was made of ${base.branch}, not of ${tree.branch}.`, {
      hints: [`\`jpg edit ${base.branch} --plan FILE\` edits that branch.`, "Nothing was committed."],
    });
  }
  if (!tree.commit.startsWith(base.commit)) throw await planMoved(workspace, base);
}

/** The error of a plan whose branch moved since: it says what was added. */
export async function planMoved(workspace: Workspace, { branch, commit }: PlanBase): Promise<JpgError> {
  const tip = await loadTip(workspace.store, branch);
  const log = await workspace.store.readLog({ from: tip?.commit ?? branch, limit: MOST_COMMITS });
  const at = log.findIndex((entry) => entry.commit.startsWith(commit));
  const subjects = log
    .slice(0, Math.max(0, at))
    .map(({ message }) => cutEnd(forLine(message.split("\n", 1)[0] ?? ""), SUBJECT));
  const what =
    at > 0
      ? `${at} ${at === 1 ? "commit was" : "commits were"} added: ${subjects.reverse().join("; ")}`
      : `${commit.slice(0, 9)} is not among its last ${MOST_COMMITS} commits: its newest turn was continued, or much was added`;
  return userError("plan_moved", `${branch} moved since the plan was made of ${commit.slice(0, 9)}: ${what}.`, {
    hints: [
      `\`jpg edit ${branch} --plan FILE --emit-plan\` prints the plan for the branch as it is now, with your verbs on the lines that are still there.`,
      "Nothing was committed.",
    ],
    data: { commit, tip: tip?.commit ?? null },
  });
}
