// Commit messages and the values they stand for. Subjects and trailers are read by people and tools; the tree stays the
// truth. Invariant: no text of a conversation can pass for a trailer, for it stands on one line or indented.
import type { Compaction } from "../../core/compaction/compaction.ts";
import { describePolicies } from "../../core/compaction/policy.ts";
import type { HiddenContent } from "../../core/loss/hidden-content.ts";
import { type CutRange, formatTurnRange, parseTurnRange } from "../../core/range/turn-range.ts";
import { forLine } from "../../core/safe-text.ts";
import { formatTokens } from "../../core/tokens/token-estimate.ts";
import { compactionBody } from "./compaction-body.ts";
import { shortPolicies } from "./short-policies.ts";

/** Longest request in a subject, characters (code points). */
const REQUEST_LENGTH = 60;
/** Longest name of a profile or model in a trailer, characters. */
const NAME_LENGTH = 100;

const FORK_CUT = "later turns removed, history here is squashed";
const FORK_ALIGNED = "compactions as they were at the tip";
const REVERT_SUBJECT = /^(Revert|Reapply) "(.*)"$/;

/** The commit of one turn. */
export interface TurnCommit {
  readonly type: "turn";
  /** Turn position, 0-based. */
  readonly turn: number;
  /** Start of the request, one line; empty when it has no text and when the turn is continued. */
  readonly request: string;
  /** An earlier commit holds the turn already, shorter. */
  readonly continued: boolean;
}

/** The commit of one compaction, as its subject and trailers tell it. */
export interface CompactionCommit {
  readonly type: "compact";
  readonly compaction: string;
  readonly range: CutRange;
  /** Policies in words, e.g. `reasoning + tools stripped`. */
  readonly policies: string;
  /** Policies by key, e.g. `reasoning=strip tool_calls=strip`. */
  readonly policy: string;
  readonly profile?: string;
  readonly source?: string;
  readonly tokens?: { readonly before: number; readonly after: number };
  readonly model?: string;
}

/** A commit that takes another back (`revert`) or takes a revert back (`reapply`), in stock git's words. */
export interface RevertCommit {
  readonly type: "revert" | "reapply";
  /** Subject of the commit that was taken back, or of the one that is there again. */
  readonly subject: string;
  /** Id of the commit taken back, 40 or 64 hex digits. */
  readonly commit: string;
}

/** Any other commit. */
export interface OtherCommit {
  readonly type: "other";
  readonly subject: string;
}

export type CommitMessage = TurnCommit | CompactionCommit | RevertCommit | OtherCommit;

/** Makes the message of a turn's commit; `request` may be any text. */
export function turnMessage({ turn, request, continued }: Omit<TurnCommit, "type">): string {
  const start = continued ? "" : forLine(request, REQUEST_LENGTH);
  return formatCommitMessage({ type: "turn", turn, request: start, continued });
}

/** Makes the message of a compaction's commit: subject, body for reviewers, trailers. `hidden` = its receipt, or null. */
export function compactionMessage(work: {
  readonly compaction: Compaction;
  readonly hidden: HiddenContent | null;
}): string {
  return formatCommitMessage(compactionCommit(work.compaction), compactionBody(work.compaction, work.hidden));
}

/** Gives the subject of a compaction's commit, as its record has it. */
export function subjectOf(compaction: Compaction): string {
  return compactionSubject(compactionCommit(compaction));
}

/** Takes the words of reverts and reapplies off a subject: what is left, and whether it ends up taken back. */
export function takenBack(subject: string): { readonly subject: string; readonly isTakenBack: boolean } {
  const match = REVERT_SUBJECT.exec(subject);
  if (match === null) return { subject, isTakenBack: false };
  const inner = takenBack(match[2] ?? "");
  return { subject: inner.subject, isTakenBack: match[1] === "Revert" ? !inner.isTakenBack : inner.isTakenBack };
}

/** Makes the message of the commit that a fork needs; `turn` = its last, 0-based, `isCut` = the commit takes later turns away. */
export function forkMessage(turn: number, isCut: boolean): string {
  return `fork at turn ${turn}: ${isCut ? FORK_CUT : FORK_ALIGNED}\n`;
}

/** Whether a subject is that of a fork's commit. */
export function isForkSubject(subject: string): boolean {
  const what = /^fork at turn \d+: (.*)$/.exec(subject)?.[1];
  return what === FORK_CUT || what === FORK_ALIGNED;
}

/** Formats what a message stands for; `body` goes between a compaction's subject and trailers. */
export function formatCommitMessage(message: CommitMessage, body = ""): string {
  switch (message.type) {
    case "turn":
      if (message.continued) return `turn ${message.turn} (continued)\n`;
      return message.request === "" ? `turn ${message.turn}\n` : `turn ${message.turn}: ${message.request}\n`;
    case "compact":
      return [compactionSubject(message), ...(body === "" ? [] : [body]), `${formatTrailers(message)}\n`].join("\n\n");
    case "revert":
      return `Revert "${message.subject}"\n\nThis reverts commit ${message.commit}.\n`;
    case "reapply":
      return `Reapply "${message.subject}"\n\nThis reverts commit ${message.commit}.\n`;
    case "other":
      return `${message.subject}\n`;
    default:
      return message satisfies never;
  }
}

/** Parses any commit message. What jpg and git did not word comes back as `other`; a compaction needs its trailers. */
export function parseCommitMessage(text: string): CommitMessage {
  const [subject = ""] = text.split("\n", 1);
  return (
    parseTurn(subject) ?? parseCompaction(subject, text) ?? parseRevert(subject, text) ?? { type: "other", subject }
  );
}

function compactionCommit(compaction: Compaction): CompactionCommit {
  const { id, from_turn, to_turn, from_event, to_event, source, stats } = compaction;
  const profile = forLine(compaction.profile ?? "", NAME_LENGTH);
  const model = forLine(compaction.summary?.model ?? "", NAME_LENGTH);
  return {
    type: "compact",
    compaction: id,
    range: {
      from: from_turn,
      ...(from_event === undefined ? {} : { fromEvent: from_event }),
      to: to_turn,
      ...(to_event === undefined ? {} : { toEvent: to_event }),
    },
    policies: describePolicies(compaction),
    policy: shortPolicies(compaction),
    ...(profile === "" ? {} : { profile }),
    ...(source === undefined ? {} : { source }),
    ...(stats?.tokens === undefined ? {} : { tokens: stats.tokens }),
    ...(model === "" ? {} : { model }),
  };
}

function compactionSubject({ range, policies, tokens }: CompactionCommit): string {
  const change = tokens === undefined ? "" : ` (${formatTokens(tokens.before)} → ${formatTokens(tokens.after)} tokens)`;
  return `compact ${range.from}..${range.to}: ${policies}${change}`;
}

function formatTrailers({ compaction, range, policy, profile, source, tokens, model }: CompactionCommit): string {
  const trailers: readonly (readonly [string, string | undefined])[] = [
    ["Compaction", compaction],
    ["Range", formatTurnRange(mapEvents(range, escapeEvent))],
    ["Policy", policy],
    ["Profile", profile],
    ["Source", source],
    ["Tokens", tokens === undefined ? undefined : `${tokens.before} -> ${tokens.after}`],
    ["Model", model],
  ];
  return trailers.flatMap(([name, value]) => (value === undefined ? [] : [`Jpg-${name}: ${value}`])).join("\n");
}

function parseTurn(subject: string): TurnCommit | null {
  const match = /^turn (\d{1,9})(?:(?<continued> \(continued\))|: (?<request>.+))?$/.exec(subject);
  if (match === null) return null;
  const { continued, request = "" } = match.groups ?? {};
  return { type: "turn", turn: Number(match[1]), request, continued: continued !== undefined };
}

function parseCompaction(subject: string, text: string): CompactionCommit | null {
  const policies = /^compact \d+\.\.\d+: (.*?)(?: \(\S+ → \S+ tokens\))?$/.exec(subject)?.[1];
  const trailers = new Map<string, string>();
  for (const [, name = "", value = ""] of text.matchAll(/^Jpg-([A-Za-z]+): (.*)$/gm)) trailers.set(name, value);
  const compaction = trailers.get("Compaction");
  const range = parseRange(trailers.get("Range") ?? "");
  if (policies === undefined || compaction === undefined || range === null) return null;
  const [profile, source, model] = [trailers.get("Profile"), trailers.get("Source"), trailers.get("Model")];
  const tokens = /^(\d+) -> (\d+)$/.exec(trailers.get("Tokens") ?? "");
  return {
    type: "compact",
    compaction,
    range,
    policies,
    policy: trailers.get("Policy") ?? "",
    ...(profile === undefined ? {} : { profile }),
    ...(source === undefined ? {} : { source }),
    ...(tokens === null ? {} : { tokens: { before: Number(tokens[1]), after: Number(tokens[2]) } }),
    ...(model === undefined ? {} : { model }),
  };
}

function parseRange(text: string): CutRange | null {
  try {
    return mapEvents(parseTurnRange(text), decodeURIComponent);
  } catch {
    // Someone edited the trailer: the commit is none of jpg's then, and the tree has the range.
    return null;
  }
}

function parseRevert(subject: string, text: string): RevertCommit | null {
  const match = REVERT_SUBJECT.exec(subject);
  const commit = /^This reverts commit ([0-9a-f]{40,64})\b/m.exec(text)?.[1];
  if (match === null || commit === undefined) return null;
  return { type: match[1] === "Revert" ? "revert" : "reapply", subject: match[2] ?? "", commit };
}

function mapEvents(range: CutRange, change: (event: string) => string): CutRange {
  const { from, fromEvent, to, toEvent } = range;
  return {
    from,
    ...(fromEvent === undefined ? {} : { fromEvent: change(fromEvent) }),
    to,
    ...(toEvent === undefined ? {} : { toEvent: change(toEvent) }),
  };
}

/** Ids from foreign sources may hold anything: what could break the trailer is percent-encoded. */
function escapeEvent(event: string): string {
  if (/^[\w:-]+(\.[\w:-]+)*$/.test(event)) return event;
  return encodeURIComponent(event.replace(/\p{Cs}/gu, "\ufffd")).replaceAll(".", "%2E");
}
