// Whether a file is a rollout of Codex, told from its first lines so that asking costs nothing; and the id of its session.
import { type RawLine, recordOf, stringOf } from "../json-line.ts";
import { namedUnder, type SessionDescent } from "../session-descent.ts";
import type { SessionSource } from "../session-source.ts";
import { toUsableId } from "../usable-id.ts";
import { parseRolloutLine, payloadOf } from "./rollout-line.ts";

/** How many lines are looked at; the first ones may be damaged. */
const LINES_LOOKED_AT = 50;

/** Types of lines that no other format has in a frame of `timestamp` and `payload`. */
const FRAMED: ReadonlySet<unknown> = new Set([
  "session_meta",
  "response_item",
  "event_msg",
  "turn_context",
  "compacted",
  "world_state",
]);

/** Whether the first lines look like a rollout. */
export function isCodexSession(source: SessionSource): boolean {
  for (let at = 0; at < Math.min(source.lineCount, LINES_LOOKED_AT); at++) {
    const line = parseRolloutLine(source.line(at));
    if (line !== null && typeof line !== "string" && isCodexLine(line)) return true;
  }
  return false;
}

/** Whether a parsed line can only come from Codex. */
export function isCodexLine(line: RawLine): boolean {
  return FRAMED.has(line["type"]) && stringOf(line, "timestamp") !== undefined && isOwnPayload(line);
}

/** The header of old times is one by its keys alone; what has no frame is its own payload. */
function isOwnPayload(line: RawLine): boolean {
  const payload = payloadOf(line);
  if (line["type"] !== "session_meta") return payload["type"] !== line["type"];
  return "instructions" in payload || "cwd" in payload || "originator" in payload;
}

/** Gives the id of the session that a file names first; null when it names none. */
export function codexSessionId(source: SessionSource): string | null {
  for (let at = 0; at < source.lineCount; at++) {
    const line = parseRolloutLine(source.line(at));
    const id = line === null || typeof line === "string" ? undefined : sessionNamedBy(line);
    if (id !== undefined) return toUsableId(id);
  }
  return null;
}

/** The id of the session that a line describes; absent where it describes none. */
export function sessionNamedBy(line: RawLine): string | undefined {
  return line["type"] === "session_meta" ? stringOf(payloadOf(line), "id") : undefined;
}

/** How many lines are looked at for descriptions of other sessions: they stand behind the own one. */
const DESCRIPTIONS = 16;

/** Where a session comes from, as its description says; null for one that began by itself. Never throws. */
export function codexDescent(source: SessionSource): SessionDescent | null {
  const described = firstDescriptions(source);
  const [own, ...copied] = described;
  if (own === undefined) return null;
  const begunBy = parentOf(own);
  const parent = begunBy ?? namedUnder(own, "forked_from_id");
  if (parent === undefined) return null;
  const ids = [parent, ...copied.flatMap((payload) => namedUnder(payload, "id") ?? [])];
  return { kind: begunBy === undefined ? "fork" : "agent", sessions: [...new Set(ids.map(toUsableId))] };
}

/** The session whose agent began this one. */
function parentOf(description: RawLine): string | undefined {
  const subagent = recordOf(recordOf(description, "source") ?? {}, "subagent") ?? {};
  return (
    namedUnder(recordOf(subagent, "thread_spawn") ?? {}, "parent_thread_id") ??
    namedUnder(description, "parent_thread_id")
  );
}

/** The descriptions of sessions that a file begins with: its own, then those that were copied with what it goes on from. */
function firstDescriptions(source: SessionSource): readonly RawLine[] {
  const found: RawLine[] = [];
  for (let at = 0; at < Math.min(source.lineCount, LINES_LOOKED_AT) && found.length < DESCRIPTIONS; at++) {
    const line = parseRolloutLine(source.line(at));
    if (line === null || typeof line === "string") continue;
    if (line["type"] === "session_meta") found.push(payloadOf(line));
    else if (found.length > 0) break;
  }
  return found;
}
