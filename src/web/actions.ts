// What a form of a page does: each an action of `app`, as the command of the same name. It gives lines that say what came of it.

import { type CompactRequest, compact } from "../app/compact/compact.ts";
import { overallTokens, sayNothing } from "../app/compact/compact-report.ts";
import { addComment, addPin, boundOf, removeComment, removePin } from "../app/conversation/marks.ts";
import type { BranchTree } from "../app/conversation/tree.ts";
import type { Workspace } from "../app/conversation/workspace.ts";
import { type AskedCost, askedModel, describeAsked } from "../app/look/compaction-page.ts";
import { forkConversation } from "../app/manage/fork.ts";
import { addLabels, setTitle } from "../app/manage/marks.ts";
import { revertCompactions } from "../app/manage/revert.ts";
import { choosePipelines } from "../core/compact/strategies/pipelines.ts";
import { EXTRACTIVE } from "../core/conversation/compaction.ts";
import { parseTurnBound } from "../core/conversation/range-bound.ts";
import { formatTokens } from "../core/conversation/token-estimate.ts";
import { userError } from "../core/errors.ts";
import { type Action, branchAddress, turnAddress } from "./pages/addresses.ts";
import { MANNERS } from "./pages/render-actions.ts";

/** What came of an action: what to say, and the page to say it on, or a turn of it. */
export interface ActionOutcome {
  readonly said: readonly string[];
  readonly address: string;
}

/** What a model is asked for: said with its price, and done when it is asked for again with the name of that model. */
export interface ActionToConfirm {
  readonly confirm: AskedCost & { readonly fields: URLSearchParams };
}

type Run = (workspace: Workspace, tree: BranchTree, form: URLSearchParams) => Promise<ActionOutcome | ActionToConfirm>;

export const ACTIONS: Readonly<Record<Action, Run>> = {
  async comment(workspace, tree, form) {
    const about = parseTurnBound(field(form, "about"));
    const { comment } = await addComment(workspace, tree, { about, text: field(form, "text") });
    return {
      said: [`Comment ${comment.id} on ${boundOf(comment)}.`],
      address: turnAddress(tree.branch, comment.turn),
    };
  },
  async compact(workspace, tree, form) {
    const dryRun = form.get("how") !== "do";
    const request: CompactRequest = {
      range: { from: parseTurnBound(field(form, "from")), to: parseTurnBound(field(form, "to")) },
      ...mannerOf(field(form, "profile")),
      dryRun,
      activate: false,
      fork: false,
    };
    const asked = await askedModel(workspace, tree, request);
    if (asked !== null && !dryRun && form.get("confirm") !== asked.model)
      return { confirm: { ...asked, fields: new URLSearchParams([...form, ["confirm", asked.model]]) } };
    const report = await compact(workspace, tree, request);
    if (report.compaction === null && report.planned_summary === null) {
      const { title, why, hints } = sayNothing(report);
      return on(tree, [title, why, ...hints], form);
    }
    const { before, after } = overallTokens(report);
    const what = `${report.policies}, turns ${report.from_turn}..${report.to_turn}`;
    const size = `${formatTokens(before)} → ${formatTokens(after)} tokens`;
    const price = asked === null ? [] : [describeAsked(asked)];
    return on(
      tree,
      [
        dryRun ? `It would do this: ${what}; ${size}.` : `Compacted: ${what}; ${size}.`,
        ...(dryRun ? price : []),
        ...report.warnings,
      ],
      form,
    );
  },
  async fork(workspace, tree, form) {
    const name = form.get("name")?.trim() ?? "";
    const first = Number(field(form, "turn")) + 1;
    const report = await forkConversation(workspace, tree, {
      first,
      activate: false,
      ...(name === "" ? {} : { name }),
    });
    return { said: [`Forked to ${report.branch}, ${report.turns} turns.`], address: branchAddress(report.branch) };
  },
  async label(workspace, tree, form) {
    const { labels } = await addLabels(workspace, tree, [field(form, "label")]);
    return on(tree, [`Labels: ${labels.join(", ")}.`], form);
  },
  async pin(workspace, tree, form) {
    const { commit, events, warnings } = await addPin(workspace, tree, parseTurnBound(field(form, "what")));
    return on(tree, [`${commit === null ? "Pinned already" : "Pinned"}: ${events.length} events.`, ...warnings], form);
  },
  async uncomment(workspace, tree, form) {
    const { comment, commit } = await removeComment(workspace, tree, field(form, "id"));
    const done = commit === null ? "was removed already" : "is removed";
    return on(tree, [`Comment ${comment.id} on ${boundOf(comment)} ${done}.`], form);
  },
  async unpin(workspace, tree, form) {
    const { events, warnings } = await removePin(workspace, tree, parseTurnBound(field(form, "what")));
    return on(tree, [`Unpinned: ${events.length} events.`, ...warnings], form);
  },
  async revert(workspace, tree, form) {
    const {
      reverted,
      restored = [],
      tokens,
      warnings = [],
    } = await revertCompactions(workspace, [field(form, "id")], tree.branch);
    const size = tokens === undefined ? "" : `; ${formatTokens(tokens.before)} → ${formatTokens(tokens.after)} tokens`;
    const what = restored.length > 0 ? `Brought back ${restored.join(", ")}` : `Reverted ${reverted.join(", ")}`;
    return on(tree, [`${what}${size}.`, ...warnings], form);
  },
  async title(workspace, tree, form) {
    const { title } = await setTitle(workspace, tree, field(form, "title"));
    return on(tree, [`It is now called "${title}".`], form);
  },
};

/** Says it on the page that the form came from: one of this branch's, or its own. */
function on({ branch }: BranchTree, said: readonly string[], form: URLSearchParams): ActionOutcome {
  const own = branchAddress(branch);
  const back = form.get("back") ?? "";
  const address = /^\/[^/?#]+\/[^/?#]+$/.test(back.slice(own.length)) && back.startsWith(own) ? back : own;
  return { said: said.filter((line) => line !== ""), address };
}

function field(form: URLSearchParams, name: string): string {
  const value = form.get(name)?.trim() ?? "";
  if (value === "")
    throw userError("missing_field", `The form came without "${name}".`, { hints: ["Go back and fill it in."] });
  return value;
}

function mannerOf(name: string): Pick<CompactRequest, "profile" | "model" | "strategies"> {
  if (name === "auto") {
    // Its own steps alone: the summary that it may go on to could ask a model.
    const { summarizeAbove: _, ...strategies } = choosePipelines(["auto"]);
    return { strategies };
  }
  if (name === "extract") return { profile: "heavy", model: EXTRACTIVE };
  // Who writes it is the user's word in the settings: no form names a model.
  if (name === "summary") return { profile: "heavy" };
  const profile = MANNERS.find((manner) => manner === name);
  if (profile === undefined)
    throw userError("unknown_profile", `A page compacts with ${MANNERS.join(", ")}, not with "${name}".`);
  return { profile };
}
