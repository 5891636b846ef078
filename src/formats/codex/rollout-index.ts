// First pass over a rollout: what each line is for, and what the lines before it say of it: time, model, the answer that it
// belongs to. No text is kept. A line's entry never depends on later lines: a file that grows only adds entries.
import { defined } from "../../core/json.ts";
import type { SkippedLine } from "../imported-session.ts";
import { type RawLine, recordOf, stringOf } from "../json-line.ts";
import type { ParsedLines } from "../parsed-lines.ts";
import { NO_DATE } from "../timestamp.ts";
import { toUsableId } from "../usable-id.ts";
import { isCodexLine, sessionNamedBy } from "./detect.ts";
import { baseNamedBy, NO_BASE } from "./history-base.ts";
import { kindOfRolloutLine, type RolloutKind } from "./line-kind.ts";
import { LINE_MARK } from "./line-mark.ts";
import { payloadOf } from "./rollout-line.ts";
import { followLine, noFacts, type RunningFacts } from "./running-facts.ts";
import { readWayBack, type WayBack } from "./way-back.ts";

/** A line that is an event, or changes which of them count. */
export interface RolloutEntry extends WayBack {
  /** 0-based. */
  readonly line: number;
  readonly kind: Exclude<RolloutKind, "silent">;
  /** Id of its event, without a dot. */
  readonly id: string;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
  readonly provider: string;
  readonly model?: string;
  /** Of what a model made, and of its usage: shared by all that one answer gave. */
  readonly messageId?: string;
  /** A prompt that was typed while the agent worked. */
  readonly isQueued?: true;
}

export interface RolloutIndex {
  readonly entries: readonly RolloutEntry[];
  readonly sessionId: string;
  /** The line that names it, 0-based; absent = none does. */
  readonly namedAt?: number;
  readonly createdAt: string;
  readonly cwd?: string;
  /** Titles that the session was given, oldest first. */
  readonly titles: readonly { readonly line: number; readonly timestamp: string; readonly title: string }[];
  readonly skipped: readonly SkippedLine[];
  /** Ids that jpg gave the lines of a session that it wrote. */
  readonly marks: ReadonlySet<string>;
  /** Whether any line can only come from Codex. */
  readonly isCodex: boolean;
  /** The newest places at which a request opens a turn, oldest first: as many as are read again once the file has grown. */
  readonly starts: readonly RolloutStart[];
}

/** A line, and what those before it say of it and of those behind it. Survives JSON. */
export interface RolloutStart {
  /** 0-based. */
  readonly line: number;
  readonly facts: RunningFacts;
  /** As in `Writer`. */
  readonly idEnding: string;
  readonly answer?: string;
  readonly lastAnswer?: string;
  readonly counted?: number;
}

/** How many starts of turns are known. */
export const KNOWN_STARTS = 2;

/** Indexes the lines of a rollout; those from a start on only where one is given with the session's id. */
export function indexRollout(
  lines: ParsedLines,
  lineCount: number,
  from?: { readonly sessionId: string; readonly namedAt?: undefined; readonly start: RolloutStart },
): RolloutIndex {
  const { line: first, facts: before = noFacts(), ...answers } = from?.start ?? { line: 0 };
  const { sessionId, namedAt } = from ?? findSessionId(lines, lineCount);
  const writer: Writer = {
    sessionId,
    idEnding: sessionId.replaceAll(".", "_"),
    facts: { ...before },
    entries: [],
    titles: [],
    skipped: [],
    marks: new Set(),
    isCodex: false,
    starts: [],
    ...answers,
  };
  for (let at = first; at < lineCount; at++) {
    const line = lines.at(at);
    if (typeof line === "string") writer.skipped.push({ line: at + 1, reason: line });
    else if (line !== null) addLine(writer, line, at);
  }
  if (first === 0 && lacksBase(lines, lineCount)) writer.skipped.unshift({ line: 1, reason: NO_BASE });
  const { facts, entries, titles, skipped, marks, isCodex, starts } = writer;
  const { createdAt = NO_DATE, cwd } = facts;
  return {
    entries,
    sessionId,
    ...defined({ namedAt }),
    createdAt,
    ...defined({ cwd }),
    titles,
    skipped,
    marks,
    isCodex,
    starts,
  };
}

/** Whether a file goes on from another that does not stand in the text: its description would be the next line. */
function lacksBase(lines: ParsedLines, lineCount: number): boolean {
  const [first, next] = [lines.at(0), lineCount > 1 ? lines.at(1) : null];
  if (first === null || typeof first === "string" || baseNamedBy(first) === null) return false;
  return next === null || typeof next === "string" || sessionNamedBy(next) === undefined;
}

interface Writer {
  readonly sessionId: string;
  readonly facts: RunningFacts;
  readonly entries: RolloutEntry[];
  readonly titles: { readonly line: number; readonly timestamp: string; readonly title: string }[];
  readonly skipped: SkippedLine[];
  readonly marks: Set<string>;
  /** With the line's number before it, the id of an event. */
  idEnding: string;
  isCodex: boolean;
  readonly starts: RolloutStart[];
  /** The answer that is being given; absent when somebody else spoke since. */
  answer?: string;
  /** The newest answer, whoever spoke since. */
  lastAnswer?: string;
  /** Tokens of the session as counted last. */
  counted?: number;
}

/** The id that the file names first, so that it stays while the file grows; a file that names none is called after its first line. */
function findSessionId(lines: ParsedLines, lineCount: number): Pick<RolloutIndex, "sessionId" | "namedAt"> {
  for (let at = 0; at < lineCount; at++) {
    const line = lines.at(at);
    const id = line === null || typeof line === "string" ? undefined : sessionNamedBy(line);
    if (id !== undefined) return { sessionId: toUsableId(id), namedAt: at };
  }
  return { sessionId: toUsableId(`first line: ${JSON.stringify(lineCount > 0 ? lines.at(0) : null)}`) };
}

function addLine(writer: Writer, line: RawLine, at: number): void {
  const { facts } = writer;
  const kind = kindOfRolloutLine(line);
  if (kind === "prompt" && facts.task !== "asked") keepStart(writer, at);
  followLine(facts, line);
  writer.isCodex ||= isCodexLine(line);
  if (at > 0 && isFurtherFile(writer, line)) return;
  const title = titleOf(line);
  if (title !== undefined) writer.titles.push({ line: at, timestamp: facts.timestamp, title });
  const mark = takeMark(writer, line);
  if (kind === "silent" || (kind === "usage" && !isNewCount(writer, payloadOf(line)))) return;
  const id = mark ?? `${at}-${writer.idEnding}`;
  const messageId = answerOf(writer, kind, id);
  writer.entries.push({
    line: at,
    kind,
    id,
    timestamp: facts.timestamp,
    provider: facts.provider,
    ...defined({ model: facts.model, messageId }),
    ...(kind === "prompt" && isQueued(facts) && { isQueued: true }),
    ...readWayBack(kind, payloadOf(line), facts),
  });
}

/** Whether a further file of the session begins: its lines have the numbers of those that it left out of the file before. */
function isFurtherFile(writer: Writer, line: RawLine): boolean {
  if (sessionNamedBy(line) !== writer.sessionId || baseNamedBy(line) === null) return false;
  const begun = (stringOf(payloadOf(line), "timestamp") ?? "").replace(/\D/g, "");
  writer.idEnding = `${writer.sessionId.replaceAll(".", "_")}_${begun}`;
  return true;
}

/** Keeps what is known before a line that opens a turn. */
function keepStart({ facts, idEnding, starts, answer, lastAnswer, counted }: Writer, line: number): void {
  if (starts.length === KNOWN_STARTS) starts.shift();
  starts.push({
    line,
    facts: { ...facts },
    idEnding,
    ...defined({ answer, lastAnswer, counted }),
  });
}

/** The id that jpg gave a line; one that stands there twice names the first. */
function takeMark({ marks }: Writer, line: RawLine): string | undefined {
  const mark = stringOf(line, LINE_MARK);
  if (mark === undefined || !USABLE_MARK.test(mark) || marks.has(mark)) return undefined;
  marks.add(mark);
  return mark;
}

/** jpg gives UUIDs; other texts are no marks of its. */
const USABLE_MARK = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** All that a model gives until somebody else speaks is one answer. */
function answerOf(writer: Writer, kind: RolloutKind, id: string): string | undefined {
  if (kind === "usage") return writer.lastAnswer;
  if (kind === "note" || kind === "rollback") return undefined;
  if (kind !== "answer") {
    delete writer.answer;
    return undefined;
  }
  writer.answer ??= id;
  writer.lastAnswer = writer.answer;
  return writer.answer;
}

/** Whether the agent works on an earlier request; it does on this one from now on. */
function isQueued(facts: RunningFacts): boolean {
  const wasAsked = facts.task === "asked";
  if (facts.task === "begun") facts.task = "asked";
  return wasAsked;
}

/** Counts are written again when nothing was asked meanwhile. */
function isNewCount(writer: Writer, payload: RawLine): boolean {
  const info = recordOf(payload, "info") ?? {};
  const total = recordOf(info, "total_token_usage")?.["total_tokens"];
  if (typeof total !== "number" || total === writer.counted || writer.lastAnswer === undefined) return false;
  writer.counted = total;
  const sent = recordOf(info, "last_token_usage")?.["input_tokens"];
  return typeof sent === "number" && sent > 0;
}

function titleOf(line: RawLine): string | undefined {
  const payload = payloadOf(line);
  const isTitle = line["type"] === "event_msg" && payload["type"] === "thread_name_updated";
  return isTitle ? stringOf(payload, "thread_name") : undefined;
}
