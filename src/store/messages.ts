// Commit messages. People and tools read subjects and trailers; the tree is authoritative. Invariant: no text of a conversation
// can pass for a trailer, because it is in one line or indented.
import { type MergedTurns, nameMergedTurns } from "../core/compact/fork-merge.ts";
import type { Compaction, Summary } from "../core/conversation/compaction.ts";
import { mapPolicies } from "../core/conversation/contents/content-types.ts";
import { type CutRange, formatTurnRange } from "../core/conversation/event.ts";
import { type CompactionGroup, describeGroup, groupRange } from "../core/conversation/group.ts";
import { conversationOf, forkOf } from "../core/conversation/name.ts";
import { formatTokens } from "../core/conversation/token-estimate.ts";
import { fence, forHostLine, forLine } from "../core/safe-text.ts";
import {
  type CompactionEffect,
  compactionBody,
  type GroupEffect,
  groupBody,
  quoteStart,
  revertCommand,
} from "./compaction-body.ts";

/** Longest request in a subject, characters (code points). */
const REQUEST_LENGTH = 60;
/** Longest name of a profile or model in a trailer, characters. */
const NAME_LENGTH = 100;
/** Policies of a group that a trailer lists. */
const MOST_POLICIES = 10;
/** Longest id of an event in a trailer, characters. */
const EVENT_LENGTH = 300;

const FORK_CUT = "later turns removed, history here is squashed";
const FORK_ALIGNED = "compactions as they were at the tip";
const REVERT_SUBJECT = /^(Revert|Reapply) "(.*)"$/;

/**
 * Formats the message of a turn's commit. `turn` = its position, 0-based; `request` may be any text; `continued` = an earlier
 * commit holds a shorter form of the turn.
 */
export function turnMessage(work: {
  readonly turn: number;
  readonly request: string;
  readonly continued: boolean;
}): string {
  const subject = `turn ${work.turn}`;
  if (work.continued) return `${subject} (continued)\n`;
  const start = foreignLine(work.request, REQUEST_LENGTH);
  return start === "" ? `${subject}\n` : `${subject}: ${start}\n`;
}

/** Formats a message of one line: `what` is jpg's own word, `text` anybody's, e.g. a title. */
export function recordMessage(what: string, text: string): string {
  return `${what}: ${foreignLine(text, Number.POSITIVE_INFINITY)}\n`;
}

/** Foreign text as one line of a subject, on which no host acts. */
function foreignLine(text: string, limit: number): string {
  return forHostLine(forLine(text, limit));
}

/** Formats the message of a compaction's commit: subject, body for reviewers, trailers; at most 60,000 bytes, whatever the session. */
export function compactionMessage({
  compaction,
  ...effect
}: CompactionEffect & { readonly compaction: Compaction }): string {
  const intro = `The turns themselves are unchanged; from here on they are read as follows.\nTo take it back: \`git revert\` of this commit, or ${revertCommand(compaction)}.`;
  const body = compactionBody(compaction, effect);
  return [subjectOf([compaction]), intro, body, `${formatTrailers([compaction])}\n`].join("\n\n");
}

/** Formats the message of a commit of a group, or of one compaction with pins; the same limit applies. */
export function groupMessage({ group, ...effect }: GroupEffect & { readonly group: CompactionGroup }): string {
  const intro = `The turns themselves are unchanged; from here on they are read as follows.\nTo take all of it back: \`git revert\` of this commit, or ${revertCommand(group[0])}.`;
  return [subjectOf(group), intro, groupBody(group, effect), `${formatTrailers(group)}\n`].join("\n\n");
}

/** Returns the subject of the commit of a compaction or a group, from its records. */
export function subjectOf(group: CompactionGroup): string {
  const { from, to } = groupRange(group);
  const { before, after } = group[0].stats?.tokens ?? {};
  const change =
    before === undefined || after === undefined ? "" : ` (${formatTokens(before)} → ${formatTokens(after)} tokens)`;
  return `compact ${from}..${to}: ${describeGroup(group)}${change}`;
}

/**
 * Formats the message of the commit that reverts another, or, with `isBack`, reapplies one, in stock git's words. `subject` =
 * that of the commit that is reverted or reapplied; `commit` = the id of the reverted one, absent = not known.
 */
export function revertMessage(work: {
  readonly isBack: boolean;
  readonly subject: string;
  readonly commit?: string;
}): string {
  const subject = `${work.isBack ? "Reapply" : "Revert"} "${work.subject}"\n`;
  return work.commit === undefined ? subject : `${subject}\nThis reverts commit ${work.commit}.\n`;
}

/** Removes the words of reverts and reapplies from a subject: returns the rest, and whether it ends up reverted. */
export function parseRevertSubject(subject: string): { readonly subject: string; readonly isTakenBack: boolean } {
  const match = REVERT_SUBJECT.exec(subject);
  if (match === null) return { subject, isTakenBack: false };
  const inner = parseRevertSubject(match[2] ?? "");
  return { subject: inner.subject, isTakenBack: match[1] === "Revert" ? !inner.isTakenBack : inner.isTakenBack };
}

/** Formats the message of a fork's first commit; `turn` = its last, 0-based, `isCut` = the commit removes later turns. */
export function forkMessage(turn: number, isCut: boolean): string {
  return `fork at turn ${turn}: ${isCut ? FORK_CUT : FORK_ALIGNED}\n`;
}

/** Whether a subject is that of a fork's commit. */
export function isForkSubject(subject: string): boolean {
  const what = /^fork at turn \d+: (.*)$/.exec(subject)?.[1];
  return what === FORK_CUT || what === FORK_ALIGNED;
}

/** Trailers of the first compaction; of a group also its id and the number of records, because the tree lists them. */
function formatTrailers(group: CompactionGroup): string {
  const [compaction] = group;
  const tokens = compaction.stats?.tokens;
  const isOne = group.length === 1;
  const trailers: readonly (readonly [string, string | undefined])[] = [
    ["Compaction", compaction.id],
    ["Group", compaction.group === undefined ? undefined : `${compaction.group} ${group.length}`],
    ["Range", formatTurnRange(isOne ? trailerRange(compaction) : groupRange(group))],
    ["Policy", [...new Set(group.map(shortPolicies))].slice(0, MOST_POLICIES).join(", ")],
    ["Profile", foreignLine(compaction.profile ?? "", NAME_LENGTH)],
    ["Source", compaction.source],
    ["Tokens", tokens === undefined ? undefined : `${tokens.before} -> ${tokens.after}`],
    ["Model", foreignLine(group.find(({ summary }) => summary !== undefined)?.summary?.model ?? "", NAME_LENGTH)],
  ];
  const known = trailers.filter(([, value]) => value !== undefined && value !== "");
  return known.map(([name, value]) => `Jpg-${name}: ${value}`).join("\n");
}

function trailerRange({ from_turn, from_event, to_turn, to_event }: Compaction): CutRange {
  const [fromEvent, toEvent] = [from_event, to_event].map((event) => event && escapeEvent(event));
  return {
    from: from_turn,
    ...(isShort(fromEvent) ? { fromEvent } : {}),
    to: to_turn,
    ...(isShort(toEvent) ? { toEvent } : {}),
  };
}

/** Longer ids are left to the record. */
function isShort(event: string | undefined): event is string {
  return event !== undefined && event.length <= EVENT_LENGTH;
}

/** Ids from foreign sources may hold anything: what could break the trailer is percent-encoded. */
function escapeEvent(event: string): string {
  if (/^[\w:-]+(\.[\w:-]+)*$/.test(event)) return event;
  return encodeURIComponent(event.replace(/\p{Cs}/gu, "\ufffd")).replaceAll(".", "%2E");
}

// The policies of a compaction in one line by key, for the trailer Jpg-Policy, e.g. `reasoning=strip tool_calls=truncate:2000`.

/** Formats the policies in a fixed order; `none` when the compaction has no opinion. */
export function shortPolicies(compaction: Compaction): string {
  const { summary, replacement, turns } = compaction;
  const parts = [
    ...(summary === undefined ? [] : [`summary=${summary.source ?? "text"}`]),
    ...(replacement === undefined ? [] : [`replacement=${replacement.length}`]),
    ...(turns === undefined ? [] : [`turns=${turns}`]),
    ...mapPolicies(compaction, ({ content, brief }, policy) => `${content}=${brief(policy)}`),
  ];
  return parts.length === 0 ? "none" : parts.join(" ");
}

// The message of the commit that merges a fork: what the model is told of it, for reviewers, and a trailer that identifies the
// commit. Invariant: no text of a conversation can pass for a trailer, because it is in a fence.

const TRAILER = "Jpg-Merge";
/** Longest name of a model in a trailer, characters. */
const MERGED_NAME_LENGTH = 100;

/** Longest text of the summary, bytes: hosts cut longer ones. */
const SUMMARY_BYTES = 50_000;

/** What a merge of a fork adds to a branch. */
interface ForkMerge {
  readonly told: MergedTurns;
  /** The branch that is merged into. */
  readonly branch: string;
  /** Position of the turn that describes the fork, 0-based. */
  readonly turn: number;
  readonly summary: Summary;
}

export function forkMergeMessage({ told, branch, turn, summary }: ForkMerge): string {
  const fork = conversationOf(told.branch) === conversationOf(branch) ? forkOf(told.branch) : told.branch;
  const turns = nameMergedTurns(told);
  const model = summary.source === "generated" ? oneLine(summary.model ?? "") : "";
  const trailers = [`${TRAILER}: ${forLine(told.branch)} ${told.from_turn}..${told.from_turn + told.turns.length - 1}`];
  return [
    `merge ${forLine(fork)}: ${turns} as turn ${turn}`,
    `Turn ${turn} tells the model what was said and done on the fork ${forLine(fork)}, in ${turns} of it.\nThe turns themselves stay there; no compaction, source or setting of the fork comes along.`,
    `${headingOf(summary)}:\n${fence(quoteStart(summary.summary, SUMMARY_BYTES, `jpg print --turn ${turn}`))}`,
    `${[...trailers, ...(model === "" ? [] : [`Jpg-Model: ${model}`])].join("\n")}\n`,
  ].join("\n\n");
}

function headingOf({ source, model }: Summary): string {
  if (source === "generated") return `Summary, written by ${oneLine(model ?? "a model")}`;
  return source === "extractive" ? "Summary, an extract that no model wrote" : "Summary, written by a person";
}

function oneLine(name: string): string {
  return forHostLine(forLine(name, MERGED_NAME_LENGTH));
}

/** Whether a message is that of a commit which merges a fork. */
export function isForkMergeMessage(message: string): boolean {
  const last = message.trimEnd().split("\n\n").at(-1) ?? "";
  return last.split("\n").some((line) => line.startsWith(`${TRAILER}: `));
}
