// A file of a Cline session, before anything is believed about it: one JSON document with the messages of the conversation or,
// in a second file beside it, with those that Cline sends since it compacted it. A file is parsed once, whoever asks.
import { parseDocumentText, parseJsonDocument } from "../json-document.ts";
import { isRecord, type RawLine, recordOf, stringOf } from "../json-line.ts";
import type { SessionSource } from "../session-source.ts";
import { toUsableId } from "../usable-id.ts";

/** A document that is one of Cline's. */
export interface ClineDocument {
  /** As it stands there. */
  readonly id: string;
  /** The session's id as it can stand in names; what is sent since a compaction has a name of its own. */
  readonly sessionId: string;
  /** As many as the list has; what is no object says nothing. */
  readonly messages: readonly RawLine[];
  /** When it was saved. */
  readonly updatedAt: unknown;
}

const parsed = new WeakMap<SessionSource, ClineDocument | null>();

/** Parses a file; null where it is no document of Cline's. Never throws. */
export function parseClineDocument(source: SessionSource): ClineDocument | null {
  let document = parsed.get(source);
  if (document === undefined) {
    document = toDocument(parseJsonDocument(source));
    parsed.set(source, document);
  }
  return document;
}

/** Parses the second file of a session; null where it is none of the session's. Never throws. */
export function parseCompactedState(text: string, { id }: ClineDocument): ClineDocument | null {
  const state = toDocument(parseDocumentText(text));
  return state?.id === id ? state : null;
}

function toDocument(value: unknown): ClineDocument | null {
  if (!isRecord(value) || typeof value["version"] !== "number") return null;
  const id = stringOf(value, "sessionId") ?? "";
  const list = value["messages"];
  if (id === "" || !Array.isArray(list)) return null;
  const messages = list.map((message) => (isRecord(message) ? message : {}));
  const isCompacted = messages.some((message) => recordOf(message, "metadata")?.["kind"] === KIND);
  const sessionId = toUsableId(isCompacted ? `${id}-compacted` : id);
  return { id, sessionId, messages, updatedAt: value["updated_at"] };
}

/** Marks the message that a compaction begins with. */
const KIND = "compaction";
