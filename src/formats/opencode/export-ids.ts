// Ids of sessions, messages and parts that jpg writes: with the prefixes that OpenCode asks for, derived from what is written.
// Parts of a message are sent in the order of their ids.
import { type SessionName, type Sha1, sessionUuid, uuidV5 } from "../derived-ids.ts";

/** Namespace of ids of messages: chosen once at random, never to change. */
const MESSAGE_NAMESPACE = "b4a7d4b0-3c1f-4e0b-9d55-0c6a8e2f7f13";
/** Letters and digits behind a prefix, as many as OpenCode's own have. */
const LENGTH = 26;
/** Digits of a part's place in its message. */
const PLACE_DIGITS = 6;

/** Gives the id of an exported session. */
export function writtenSessionId(name: SessionName, sha1: Sha1): string {
  return `ses_${shorten(sessionUuid(name, sha1))}`;
}

/** Gives the id of an exported message. */
export function writtenMessageId(sessionId: string, name: string, sha1: Sha1): string {
  return `msg_${shorten(uuidV5(MESSAGE_NAMESPACE, JSON.stringify([sessionId, name]), sha1))}`;
}

/** Gives the id of the `place`-th part of a message, 0-based. */
export function writtenPartId(messageId: string, place: number): string {
  return `prt_${String(place).padStart(PLACE_DIGITS, "0")}${messageId.slice("msg_".length)}`;
}

function shorten(uuid: string): string {
  return uuid.replaceAll("-", "").slice(0, LENGTH);
}
