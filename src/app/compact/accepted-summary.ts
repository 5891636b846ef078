// Summaries that somebody else writes: reads them (`--accept`), and creates the bundle to write them from (`--emit`).
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { PlacedEvent } from "../../core/compact/event-ledger.ts";
import { firstLine } from "../../core/compact/hidden-content.ts";
import type { ChosenStrategies } from "../../core/compact/strategies/pipelines.ts";
import { readBlock, splitBlock } from "../../core/compact/summary-answer.ts";
import {
  detectWork,
  fillTemplate,
  nameTurns,
  phraseFocus,
  rawBeginning,
  wordLimit,
  writeTask,
} from "../../core/compact/summary-prompt.ts";
import type { RangeRequest } from "../../core/conversation/bound-resolution.ts";
import type { Summary } from "../../core/conversation/compaction.ts";
import { textOfContent } from "../../core/conversation/event.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { findProfile } from "../../core/conversation/policy.ts";
import { parseBound } from "../../core/conversation/range-bound.ts";
import { asSentence, reasonOf, userError } from "../../core/errors.ts";
import { coveredEvents, coverFacts, coversDigest } from "../conversation/covers.ts";
import { loadConversationConfig } from "../conversation/marks.ts";
import { type Runtime, sha256 } from "../conversation/runtime.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { requireTexts } from "../conversation/turns.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { readPromptTemplates, type SummaryStyle } from "./ask-summary.ts";
import { describeNothing } from "./compact-report.ts";
import { isNothingPlanned, type PlannedCompaction, planOnBranch } from "./plan.ts";

/** A summary to store, with its range. */
export interface AcceptedSummary {
  readonly summary: Summary;
  readonly range: Omit<RangeRequest, "keepLast">;
  readonly covers?: string;
  /** Profile of the bundle's plan. */
  readonly profile?: string;
}

/**
 * Reads an accepted summary: the bundle's answer as JSON, a text with the block that the suffix form asks for, or plain text with
 * explicit bounds. Throws `bad_summary`, `unreadable_file`.
 */
export async function acceptedSummary(
  runtime: Runtime,
  file: string,
  range: Omit<RangeRequest, "keepLast">,
): Promise<AcceptedSummary> {
  const { body, block } = splitBlock((await readText(runtime, file)).trim());
  const answer = answerIn(block);
  if (answer === null) return plainSummary(body, file, range);
  const { plan, files, open_tasks } = readBlock(answer);
  const summary = body === "" ? answer["summary"] : body;
  if (typeof summary !== "string" || isEmpty(summary)) throw badSummary(file, "it holds no text under `summary`");
  return {
    summary: {
      summary: summary.trim(),
      source: "authored",
      ...(answer["files"] === undefined ? {} : { files }),
      ...(answer["open_tasks"] === undefined ? {} : { open_tasks }),
    },
    ...boundsOf(plan, file, range),
  };
}

function plainSummary(text: string, file: string, range: Omit<RangeRequest, "keepLast">): AcceptedSummary {
  if (isEmpty(text)) throw badSummary(file, "it is empty");
  if (range.to === undefined && range.keep === undefined)
    throw badSummary(file, "it names no plan, and no --to or --keep says which turns it replaces");
  return { summary: { summary: text.trim(), source: "authored" }, range };
}

function boundsOf(
  plan: unknown,
  file: string,
  range: Omit<RangeRequest, "keepLast">,
): Omit<AcceptedSummary, "summary"> {
  const facts = plan as Partial<BundlePlan> | undefined;
  const profile = isName(facts?.profile) ? facts.profile : undefined;
  if (range.from !== undefined || range.to !== undefined || range.keep !== undefined) return { range, profile };
  if (typeof facts?.from_turn !== "number" || typeof facts.to_turn !== "number" || typeof facts.digest !== "string") {
    throw badSummary(
      file,
      "it does not contain the bundle's `plan`, and no --from, --to or --keep says which turns it replaces",
    );
  }
  const bound = (turn: number, event: string | undefined) =>
    parseBound(event === undefined ? String(turn) : `${turn}:${event}`);
  return {
    range: { from: bound(facts.from_turn, facts.from_event), to: bound(facts.to_turn, facts.to_event) },
    covers: facts.digest,
    profile,
  };
}

/** Accepts a name of one line only: the writer of the answer may have changed it. */
function isName(value: unknown): value is string {
  return typeof value === "string" && /^[^\p{C}]{1,100}$/u.test(value);
}

/** Returns the answer, also if the whole bundle came back with its `answer` filled in. */
function answerIn(value: Readonly<Record<string, unknown>> | null): Readonly<Record<string, unknown>> | null {
  const inner = value?.["summary"] === undefined ? value?.["answer"] : undefined;
  return typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>) : value;
}

async function readText(runtime: Runtime, file: string): Promise<string> {
  if (file === "-") return Buffer.from(await runtime.readStdin()).toString("utf8");
  try {
    return await readFile(resolve(runtime.cwd, file), "utf8");
  } catch (error) {
    throw userError("unreadable_file", `${file} cannot be read: ${reasonOf(error)}.`, {
      hints: ["`jpg compact --emit FILE` writes a bundle to write a summary from."],
      cause: error,
    });
  }
}

function isEmpty(text: string): boolean {
  return text.trim() === "" || text.trim() === "…";
}

function badSummary(file: string, reason: string): Error {
  return userError("bad_summary", `The summary in ${file} cannot be stored: ${reason}.`, {
    hints: [
      "`jpg compact --emit FILE` writes a bundle whose `answer` shows the form.",
      "A plain text needs bounds: `jpg compact --accept FILE --from 0 --to 12`.",
    ],
  });
}

// The bundle of `--emit`: all that is needed to write a summary. It holds raw events, never a projection, and names the plan, so
// that a summary of other turns is refused. Its suffix form is one message for an agent that has the same conversation in its
// context and answers from its own prompt cache.

/** The plan in a bundle; an accepted summary returns it. */
export interface BundlePlan {
  readonly id: string;
  readonly conversation: string;
  readonly branch: string;
  /** Profile for the summary: the one that was named, or the configured one if it summarises. */
  readonly profile?: string;
  readonly from_turn: number;
  readonly to_turn: number;
  readonly from_event?: string;
  readonly to_event?: string;
  /** Digest of the turns that the summary replaces. */
  readonly digest: string;
}

export interface BundleRequest {
  readonly range: Omit<RangeRequest, "keepLast">;
  /** Named by the user; must summarise (see `requireSummary`). */
  readonly profile?: string;
  readonly style?: SummaryStyle;
  /** What the summary should focus on. */
  readonly focus?: readonly string[];
  /** Return only the suffix form: text, not JSON. */
  readonly suffixOnly?: boolean;
}

/**
 * Creates the bundle for a range: plan, instructions, raw events, and the suffix form if the view shows these events raw. Throws
 * `nothing_to_compact`, and `no_suffix` when the suffix form is asked for and there is none.
 */
export async function createBundle(workspace: Workspace, tree: BranchTree, request: BundleRequest): Promise<string> {
  const profile = request.profile ?? (await configuredProfile(workspace, tree));
  const rules = profile === undefined ? { policies: { summary: { policy: "summarize" } } as const } : { profile };
  const planned = await planOnBranch(workspace, tree, { range: request.range, ...rules });
  if (isNothingPlanned(planned)) {
    const { nothing: reason, hints: known = [] } = planned.plan;
    const { title, why, hints } = describeNothing({ reason, hints: known });
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
    profile,
    from_turn,
    to_turn,
    from_event,
    to_event,
    digest: covers,
  };
  const covered = coveredEvents(compaction, planned.turns);
  const { instructions, suffix } = await writeInstructions(planned, { plan, covered, request });
  if (request.suffixOnly === true) return `${suffix ?? raiseNoSuffix(plan)}\n`;
  const answer = { plan, summary: "…", files: ["…"], open_tasks: ["…"] };
  // Images are left out, because a bundle is read as text.
  requireTexts(
    tree.commit,
    covered.map(({ event }) => event),
  );
  const events = covered.map(({ turn, event }) => ({ turn, ...event }));
  const bundle = { plan, instructions, answer, ...(suffix === null ? {} : { suffix }), events };
  return `${JSON.stringify(bundle, null, 1)}\n`;
}

/** Returns the configured profile if it summarises. */
async function configuredProfile(workspace: Workspace, tree: BranchTree): Promise<string | undefined> {
  const { default_profile, profiles } = (await loadConversationConfig(workspace, tree)).config.conversation.compaction;
  return findProfile(default_profile, profiles).summary === undefined ? undefined : default_profile;
}

interface BundleParts {
  readonly plan: BundlePlan;
  readonly covered: readonly PlacedEvent[];
  readonly request: BundleRequest;
}

/**
 * Writes the instructions for a reader of the bundle, and the suffix form for an agent with the conversation in its context; null
 * if the view does not show the events raw.
 */
async function writeInstructions(
  planned: PlannedCompaction,
  { plan, covered: placed, request }: BundleParts,
): Promise<{ readonly instructions: string; readonly suffix: string | null }> {
  const { style, focus = [] } = request;
  const templates = await readPromptTemplates(style);
  const covered = placed.map(({ event }) => event);
  const emphasis = phraseFocus(focus, detectWork(covered));
  const instructions = fillTemplate("summary-bundle", templates.bundle, {
    text: fillTemplate("summary text", templates.summary.text, { turns: nameTurns(plan.from_turn, plan.to_turn) }),
    focus: emphasis,
    sections: templates.summary.sections,
  });
  if (rawBeginning(planned.before, covered) === null) return { instructions, suffix: null };
  const words = wordLimit(planned.tokens.before - planned.tokens.after);
  const suffix = writeTask(templates, {
    subject: describeSubject(planned, plan),
    focus: emphasis,
    words,
    block: { plan },
  });
  return { instructions, suffix };
}

/** Describes the end of the range to an agent that sees the whole conversation. */
function describeSubject({ turns, before }: PlannedCompaction, { to_turn, to_event }: BundlePlan): string {
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
    `There is no suffix form for turns ${from_turn}..${to_turn}: it can only summarise unchanged turns at the beginning of the view.`,
    { hints: ["`jpg compact --emit FILE` without --suffix writes a bundle with the raw events."] },
  );
}

export interface SummaryRequirement {
  /** Options that only a summary uses, as typed; never empty. */
  readonly options: readonly string[];
  readonly strategies: ChosenStrategies | null;
  /** Absent = the configured one; ignored if there are strategies. */
  readonly profile?: string;
}

/** Refuses options that only a summary uses if the strategies, or the profile, never write one. Throws `no_summary`, `unknown_profile`. */
export async function requireSummary(
  workspace: Workspace,
  tree: BranchTree,
  { options, strategies, profile }: SummaryRequirement,
): Promise<void> {
  if (strategies !== null) {
    const { uses, names, summarizeAbove } = strategies;
    if (summarizeAbove !== undefined || uses.some(({ strategy }) => strategy.summarizes === true)) return;
    const hint = `Leave ${options.join(", ")} out, or use \`--strategy summarize\`, which writes one.`;
    throw noSummary(`The strategy ${names.join(", ")}`, options, hint);
  }
  const { default_profile, profiles } = (await loadConversationConfig(workspace, tree)).config.conversation.compaction;
  const name = profile ?? default_profile;
  if (findProfile(name, profiles).summary !== undefined) return;
  const other = Object.keys(profiles).find((other) => profiles[other]?.summary !== undefined);
  throw noSummary(
    `The profile ${name}`,
    options,
    other === undefined
      ? "`[conversation.compaction.profiles.NAME]` with a summary defines one that does."
      : `\`--profile ${other}\` writes one.`,
  );
}

function noSummary(rules: string, options: readonly string[], hint: string): Error {
  const [last = "", ...others] = options.toReversed();
  const named = others.length === 0 ? last : `${others.toReversed().join(", ")} and ${last}`;
  return userError("no_summary", `${rules} writes no summary, so ${named} would have no effect.`, {
    data: { options },
    hints: [hint],
  });
}
