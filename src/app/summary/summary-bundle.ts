// The bundle of `--emit`: what anybody needs to write a summary. It holds raw events, never a projection, and names the plan, so
// that a summary of other turns is refused when it comes back. Its suffix form is one message for an agent that has the very
// conversation before it, and answers from its own cached context.

import { firstLine } from "../../core/compact/hidden-content.ts";
import {
  detectWork,
  fillTemplate,
  nameTurns,
  rawBeginning,
  wordFocus,
  wordLimit,
  writeTask,
} from "../../core/compact/summary-prompt.ts";
import type { PlacedEvent } from "../../core/compact/transcript.ts";
import { isNothing, type RangeRequest } from "../../core/conversation/bound-resolution.ts";
import { textOfContent } from "../../core/conversation/event.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { findProfile } from "../../core/conversation/policy.ts";
import { asSentence, userError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import { requireTexts } from "../branch/attachments.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadConversationConfig } from "../branch/conversation-config.ts";
import { coverFacts } from "../branch/cover-facts.ts";
import { coveredEvents } from "../branch/covered-events.ts";
import { coversDigest } from "../branch/covers.ts";
import { type PlannedCompaction, planOnBranch } from "../plan/compact-plan.ts";
import { sayNothing } from "../plan/compact-report.ts";
import { sha256 } from "../workspace/object-id.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { readPromptTemplates, type SummaryStyle } from "./summary-templates.ts";

/** What a bundle says of its plan; an accepted summary gives it back. */
export interface BundlePlan {
  readonly id: string;
  readonly conversation: string;
  readonly branch: string;
  /** The profile by which the range is summarised: the one that was named, or the configured one if it summarises. */
  readonly profile?: string;
  readonly from_turn: number;
  readonly to_turn: number;
  readonly from_event?: string;
  readonly to_event?: string;
  /** Digest over what the summary stands for. */
  readonly digest: string;
}

/** What a bundle is made for. */
export interface BundleRequest {
  readonly range: Omit<RangeRequest, "keepLast">;
  /** Named by the user; must be one that summarises (`requireSummary`). */
  readonly profile?: string;
  readonly style?: SummaryStyle;
  /** What the summary should dwell on. */
  readonly focus?: readonly string[];
  /** Give the suffix form alone: a text, not JSON. */
  readonly suffixOnly?: boolean;
}

/**
 * Makes the bundle for a range: plan, instructions, raw events, and the suffix form where the view shows these events raw.
 * Throws `nothing_to_compact`, and `no_suffix` when the suffix form is asked for and there is none.
 */
export async function createBundle(workspace: Workspace, tree: BranchTree, request: BundleRequest): Promise<string> {
  const profile = request.profile ?? (await configuredProfile(workspace, tree));
  const rules = profile === undefined ? { policies: { summary: { policy: "summarize" } } as const } : { profile };
  const planned = await planOnBranch(workspace, tree, { range: request.range, ...rules });
  if (isNothing(planned)) {
    const { nothing: reason, hints: known = [] } = planned;
    const { title, why, hints } = sayNothing({ reason, hints: known });
    throw userError("nothing_to_compact", asSentence(`${title} ${why}`.trim()), {
      hints: hints.length === 0 ? ["Name other turns with --from, --to or --keep."] : hints,
    });
  }
  const { compaction } = planned.plan;
  const { from_turn, to_turn, from_event, to_event } = compaction;
  const covers = (await coversDigest(compaction, coverFacts(workspace.store, tree))) ?? "";
  const plan: BundlePlan = {
    id: sha256(`${tree.branch}\n${covers}`).slice(0, 12),
    conversation: conversationOf(tree.branch),
    branch: tree.branch,
    ...defined({ profile }),
    from_turn,
    to_turn,
    ...defined({ from_event, to_event }),
    digest: covers,
  };
  const covered = coveredEvents(compaction, planned.turns);
  const { instructions, suffix } = await writeInstructions(planned, { plan, covered, request });
  if (request.suffixOnly === true) return `${suffix ?? raiseNoSuffix(plan)}\n`;
  const answer = { plan, summary: "…", files: ["…"], open_tasks: ["…"] };
  // Images say nothing to whoever reads the bundle as text.
  requireTexts(
    tree.commit,
    covered.map(({ event }) => event),
  );
  const events = covered.map(({ turn, event }) => ({ turn, ...event }));
  const bundle = { plan, instructions, answer, ...(suffix === null ? {} : { suffix }), events };
  return `${JSON.stringify(bundle, null, 1)}\n`;
}

/** The profile that counts where none is named, if it summarises. */
async function configuredProfile(workspace: Workspace, tree: BranchTree): Promise<string | undefined> {
  const { default_profile, profiles } = (await loadConversationConfig(workspace, tree)).config.conversation.compaction;
  return findProfile(default_profile, profiles).summary === undefined ? undefined : default_profile;
}

interface BundleParts {
  readonly plan: BundlePlan;
  readonly covered: readonly PlacedEvent[];
  readonly request: BundleRequest;
}

/** The task in words: for whoever reads the bundle, and for who has the conversation before them; null where nobody sees it raw. */
async function writeInstructions(
  planned: PlannedCompaction,
  { plan, covered: placed, request }: BundleParts,
): Promise<{ readonly instructions: string; readonly suffix: string | null }> {
  const { style, focus = [] } = request;
  const templates = await readPromptTemplates(style);
  const covered = placed.map(({ event }) => event);
  const emphasis = wordFocus(focus, detectWork(covered));
  const instructions = fillTemplate("summary-bundle", templates.bundle, {
    text: fillTemplate("summary text", templates.summary.text, { turns: nameTurns(plan.from_turn, plan.to_turn) }),
    focus: emphasis,
    sections: templates.summary.sections,
  });
  if (rawBeginning(planned.before, covered) === null) return { instructions, suffix: null };
  const words = wordLimit(planned.tokens.before - planned.tokens.after);
  const suffix = writeTask(templates, { subject: aboveUpTo(planned, plan), focus: emphasis, words, block: { plan } });
  return { instructions, suffix };
}

/** How an agent that sees the whole conversation is told where the range ends. */
function aboveUpTo({ turns, before }: PlannedCompaction, { to_turn, to_event }: BundlePlan): string {
  const next = to_event === undefined ? turns.get(to_turn + 1) : undefined;
  const request = next?.events.find((event) => event.type === "chat_request");
  if (request?.type === "chat_request")
    return `the conversation above up to the request that begins ${JSON.stringify(firstLine(textOfContent(request.content)))} (which is not part of it)`;
  const isWhole = before.turns.at(-1)?.events.at(-1)?.id === to_event;
  return isWhole ? "the conversation above" : `the conversation above up to turn ${to_turn} (turns are counted from 0)`;
}

function raiseNoSuffix({ from_turn, to_turn }: BundlePlan): never {
  throw userError(
    "no_suffix",
    `There is no suffix form for turns ${from_turn}..${to_turn}: it asks for a summary of what stands at the beginning of the view, and the view does not show these turns there as they were said.`,
    { hints: ["`jpg compact --emit FILE` without --suffix writes a bundle with the raw events."] },
  );
}
