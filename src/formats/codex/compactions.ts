// Codex's own compactions as overlays. Each covers everything before it, and lists the items that are sent instead: what OpenAI made
// of the history is encrypted and goes back unchanged. Old ones hold only a summary: then the user's words stay, followed by the
// summary.
import { type Compaction, compareTimestamps } from "../../core/conversation/compaction.ts";
import { type Content, type Event, isText, plainText } from "../../core/conversation/event.ts";
import { deriveName, plainValues } from "../imported-session.ts";
import { addMilliseconds, isRecord, type ParsedLines, type RawLine, stringOf } from "../session-source.ts";
import { speakerOf } from "./context-text.ts";
import { toItemEvent } from "./events.ts";
import type { RolloutEntry } from "./rollout.ts";
import { payloadOf } from "./rollout-line.ts";
import { isListedItem } from "./sent-items.ts";
import { type RolloutTurn, readLineEvent } from "./turns.ts";

/** Reads the compactions of turns, oldest first, with rising timestamps. */
export function readCodexCompactions(lines: ParsedLines, turns: readonly RolloutTurn[]): readonly Compaction[] {
  const compactions: Compaction[] = [];
  let asked: (RolloutEntry | Event)[] = [];
  let end: LastEvent | undefined;
  for (const { index, entries } of turns) {
    for (const entry of entries) {
      if (entry.kind === "prompt") asked.push(entry);
      if (entry.kind !== "compacted") end = { turn: index, event: entry.id };
      if (entry.kind !== "compacted" || end === undefined) continue;
      const compaction = createCompaction(lines, entry, { asked, end, after: compactions.at(-1)?.timestamp });
      asked = (compaction.replacement ?? []).filter(isFromUser);
      compactions.push(compaction);
    }
  }
  return compactions;
}

/** The last event that a compaction covers. */
interface LastEvent {
  readonly turn: number;
  readonly event: string;
}

interface CompactionContext {
  /** The user's requests that are still sent. */
  readonly asked: readonly (RolloutEntry | Event)[];
  readonly end: LastEvent;
  /** Timestamp of the previous compaction. */
  readonly after: string | undefined;
}

function createCompaction(
  lines: ParsedLines,
  entry: RolloutEntry,
  { asked, end, after }: CompactionContext,
): Compaction {
  const line = lines.at(entry.line);
  const payload = line === null || typeof line === "string" ? {} : payloadOf(line);
  const isLater = after === undefined || compareTimestamps(entry.timestamp, after) > 0;
  return {
    type: "compaction",
    id: deriveName(`${entry.id}.compacted`),
    timestamp: isLater ? entry.timestamp : addMilliseconds(after, 1),
    from_turn: 0,
    to_turn: end.turn,
    to_event: end.event,
    replacement:
      replacementOf(payload, entry) ??
      summarised(
        payload,
        entry,
        asked.flatMap((one) => ("type" in one ? [one] : readLineEvent(lines, one))),
      ),
    source: "import",
    metadata: { ...plainValues(payload), line: entry.id },
  };
}

function replacementOf(payload: RawLine, entry: RolloutEntry): readonly Event[] | null {
  const items = payload["replacement_history"];
  if (!Array.isArray(items)) return null;
  return items
    .filter(isRecord)
    .filter(isListedItem)
    .map((item, at) => toItemEvent(item, { ...placeOf(entry, at), ...(isHarness(item) && { origin: "harness" }) }));
}

function isHarness(item: RawLine): boolean {
  return item["type"] === "message" && stringOf(item, "role") !== "assistant" && speakerOf(item) !== "user";
}

/** The user's newest words, then the summary as one more request. */
function summarised(payload: RawLine, entry: RolloutEntry, requests: readonly Event[]): readonly Event[] {
  const copies = newestWords(requests).map((request, at): Event => ({ ...request, ...idsOf(entry, at) }));
  const summary = stringOf(payload, "message") || NO_SUMMARY;
  return [...copies, { type: "chat_request", ...idsOf(entry, copies.length), content: summary }];
}

/** What Codex sends in place of an empty summary. */
const NO_SUMMARY = "(no summary available)";
/** Tokens of the user's words that Codex keeps. */
const KEPT_TOKENS = 20_000;
/** Bytes that Codex counts as a token. */
const TOKEN_BYTES = 4;

/** The texts of the newest requests, without images; of the request that is too long, its beginning and end. */
function newestWords(requests: readonly Event[]): readonly Event[] {
  const kept: Event[] = [];
  let room = KEPT_TOKENS;
  for (const request of requests.toReversed()) {
    if (room <= 0) break;
    if (request.type !== "chat_request") continue;
    const texts = textsOf(request.content);
    const words = texts.join("\n");
    const tokens = Math.ceil(utf8(words).length / TOKEN_BYTES);
    kept.push({ ...request, content: tokens > room ? withoutMiddle(words, room) : textContent(texts) });
    room -= tokens;
  }
  return kept.reverse();
}

function textsOf(content: Content): readonly string[] {
  if (isText(content)) return [plainText(content)];
  return content.flatMap((part) => (part.type === "text" ? [plainText(part.text)] : []));
}

function textContent(texts: readonly string[]): Content {
  const [only] = texts;
  return texts.length === 1 && only !== undefined ? only : texts.map((text) => ({ type: "text", text }));
}

function withoutMiddle(words: string, tokens: number): Content {
  const bytes = utf8(words);
  const half = (tokens * TOKEN_BYTES) / 2;
  const cut = Math.ceil((bytes.length - 2 * half) / TOKEN_BYTES);
  return textContent([
    decodeWhole(bytes.subarray(0, half)),
    `…${cut} tokens truncated…`,
    decodeWhole(bytes.subarray(bytes.length - half)),
  ]);
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Decodes bytes without the halves of characters at their ends. */
function decodeWhole(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replace(/^\uFFFD+|\uFFFD+$/g, "");
}

function isFromUser(event: Event): boolean {
  return event.type === "chat_request" && event.role === undefined && event.metadata?.origin !== "harness";
}

function idsOf({ id, timestamp }: RolloutEntry, at: number): { readonly id: string; readonly timestamp: string } {
  return { id: `${id}.${at}`, timestamp };
}

function placeOf(entry: RolloutEntry, at: number) {
  const { provider, model } = entry;
  return { ...idsOf(entry, at), provider, model };
}
