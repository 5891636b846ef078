// One turn as it will be stored: its lines, its object id, and what its commit says.
import { constants, inflateSync } from "node:zlib";
import { ATTACHMENT_LIMITS, attachmentPath, type Inflate, spill } from "../../core/conversation/attachment.ts";
import type { Event } from "../../core/conversation/event.ts";
import { formatTurnFile } from "../../core/conversation/turn-file.ts";
import type { FileChange } from "../../store/store.ts";
import { blobId, sha256 } from "../workspace/object-id.ts";

export interface PreparedTurn {
  readonly bytes: Uint8Array;
  readonly oid: string;
  readonly events: number;
  /** Text of the turn's first request; empty when it has none. */
  readonly request: string;
  /** Times of the first and last dated event, seconds since 1970. */
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly attachments: readonly FileChange[];
}

/** Longest stream of a PDF that is unpacked, bytes. */
const MOST_UNPACKED = 16 * 1024 * 1024;
const LIMITS = { ...ATTACHMENT_LIMITS, inflate: unpack };

/** Prepares a turn for storage; `prev` is the object id of the turn before it, absent for the first. */
export function prepareTurn(events: readonly Event[], prev: string | undefined): PreparedTurn {
  const attachments = new Map<string, FileChange>();
  const put = (payload: { readonly bytes: Uint8Array; readonly extension: string }): string => {
    const digest = sha256(payload.bytes);
    const name = payload.extension === "" ? digest : `${digest}.${payload.extension.replace(/^\./, "")}`;
    attachments.set(name, { path: attachmentPath(name), bytes: payload.bytes });
    return digest;
  };
  const stored = events.map((event) => spill(withPrev(event, prev), LIMITS, put));
  const bytes = new TextEncoder().encode(formatTurnFile(stored));
  const seconds = events
    .map((event) => Math.floor(Date.parse(event.timestamp) / 1000))
    .filter((value) => Number.isFinite(value));
  const start = seconds[0] ?? 0;
  return {
    bytes,
    oid: blobId(bytes),
    events: events.length,
    request: requestText(events),
    startSeconds: start,
    endSeconds: seconds.reduce((latest, value) => Math.max(latest, value), start),
    attachments: [...attachments.values()],
  };
}

/** The text of the first request a person made in the turn, or its first request of any kind. */
export function requestText(events: readonly Event[]): string {
  const requests = events.filter((event) => event.type === "chat_request");
  const request = requests.find((event) => event.metadata?.origin !== "harness") ?? requests[0];
  if (request === undefined) return "";
  if (typeof request.content === "string") return request.content;
  if (!Array.isArray(request.content)) return "[attachment]";
  for (const part of request.content) if (part.type === "text" && typeof part.text === "string") return part.text;
  return request.content[0] === undefined ? "" : `[${request.content[0].type}]`;
}

function withPrev(event: Event, prev: string | undefined): Event {
  return event.type === "turn_start" && prev !== undefined ? { ...event, prev } : event;
}

function unpack(bytes: Uint8Array): ReturnType<Inflate> {
  try {
    return inflateSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MOST_UNPACKED });
  } catch {
    // Encrypted, damaged or too long: the size of the file tells instead.
    return null;
  }
}
