// Ids of events. jp's entries have none: an id is made of an entry's kind and time, so that it stays the same while the stream
// grows and when jp drops other entries. What came from elsewhere carries its id in its metadata, which jp keeps.
import { deriveName } from "../derived-name.ts";
import { isRecord, type RawLine } from "../json-line.ts";
import { isTalk, type StreamKind } from "./entry-kind.ts";
import { decodeStoredText } from "./stored-text.ts";

/** The key of metadata under which jpg names an entry. */
export const ID_KEY = "jpg_id";

const LETTERS: Readonly<Record<StreamKind, string>> = {
  turn_start: "t",
  chat_request: "q",
  chat_response: "a",
  tool_call_request: "c",
  tool_call_response: "r",
  inquiry_request: "i",
  inquiry_response: "j",
  config_delta: "k",
  compaction: "z",
  unknown: "x",
};

const USABLE = /^[A-Za-z0-9_-]{1,128}$/;

/** Whether an id can stand in names, and has no dot. */
export function isUsableId(id: string): boolean {
  return USABLE.test(id);
}

/** What an id is made of. */
export interface Dated {
  readonly kind: StreamKind;
  readonly raw: RawLine;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
}

/** Creates what gives the entries of a stream their ids, asked in the order of the stream. */
export function createIdMaker(): (entry: Dated) => string {
  const counts = new Map<string, number>();
  const used = new Set<string>();
  return ({ kind, raw, timestamp }) => {
    const base = `${LETTERS[kind]}${timestamp.replace(/\D/g, "")}`;
    let count = counts.get(base) ?? 0;
    // Of equal length: of two compactions of one time the later wins, which is the one with the larger id.
    const own = (): string => (count === 0 ? base : `${base}-${String(count).padStart(6, "0")}`);
    while (used.has(own())) count++;
    counts.set(base, count + 1);
    const named = nameIn(kind, raw);
    const id = named === null || used.has(named) ? own() : named;
    used.add(id);
    return id;
  };
}

/** The id of the entry that an export names so: the name itself, where it can be one. */
export function idOfName(name: string): string {
  return isUsableId(name) ? name : deriveName(name);
}

function nameIn(kind: StreamKind, { metadata }: RawLine): string | null {
  const stored = isTalk(kind) && isRecord(metadata) ? metadata[ID_KEY] : undefined;
  if (typeof stored !== "string") return null;
  const name = decodeStoredText(stored);
  return isUsableId(name) ? name : null;
}

/** Whether an id is made of an entry's kind and time. */
export function isOwnId(id: string, { kind, timestamp }: Pick<Dated, "kind" | "timestamp">): boolean {
  return id.split("-")[0] === `${LETTERS[kind]}${timestamp.replace(/\D/g, "")}`;
}
