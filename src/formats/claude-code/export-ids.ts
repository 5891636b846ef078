// Names of exported sessions and their lines: UUIDv5 (RFC 9562 §5.5), so that the same export has the same ids and an
// import knows its own lines again; and the side line that says where an exported session comes from.
import type { ExportOrigin } from "../imported-session.ts";
import { isRecord, stringOf } from "./line.ts";

/** What names one exported session: exporting the same things twice gives the same id. */
export interface SessionName {
  readonly conversation: string;
  readonly branch: string;
  /** Commit the branch stands at. */
  readonly tip: string;
  /** Format it is exported to, e.g. `claude-code`. */
  readonly target: string;
  /** Counts exports of the same tip that must differ, from 0. */
  readonly n: number;
}

/** SHA-1 of some bytes: 20 bytes. */
export type Sha1 = (bytes: Uint8Array) => Uint8Array;

/** Namespace of jpg's session ids: chosen once at random, never to change. */
const SESSION_NAMESPACE = "0d9b53c5-6a0e-4b52-9d0c-7b1f3c2e8a64";
const ORIGIN_TYPE = "jpg-origin";
/** Version of the side line; a reader ignores newer ones. */
const ORIGIN_FORMAT = 1;

/** Gives the id of an exported session. */
export function sessionUuid({ conversation, branch, tip, target, n }: SessionName, sha1: Sha1): string {
  return uuidV5(SESSION_NAMESPACE, JSON.stringify([conversation, branch, tip, target, n]), sha1);
}

/** Gives the id of an exported line: `sourceId` is the id of the event, or of the part of it, that the line holds. */
export function lineUuid(sessionId: string, sourceId: string, sha1: Sha1): string {
  return uuidV5(sessionId, sourceId, sha1);
}

/** Makes a name-based UUID, version 5. `namespace` is a UUID. */
export function uuidV5(namespace: string, name: string, sha1: Sha1): string {
  const text = new TextEncoder().encode(name);
  const input = new Uint8Array(16 + text.length);
  input.set(bytesOfUuid(namespace));
  input.set(text, 16);
  const digest = Uint8Array.from(sha1(input).subarray(0, 16));
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x50;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Creates the side line that names where a session comes from. The agent ignores and keeps it. */
export function createOriginLine(origin: ExportOrigin, sessionId: string): Readonly<Record<string, unknown>> {
  return { type: ORIGIN_TYPE, format: ORIGIN_FORMAT, ...origin, sessionId };
}

/** Reads the origin from a session's first line, parsed; null when jpg did not write it. Never throws. */
export function readExportOrigin(firstLineJson: unknown): ExportOrigin | null {
  if (!isRecord(firstLineJson) || firstLineJson["type"] !== ORIGIN_TYPE) return null;
  if (firstLineJson["format"] !== ORIGIN_FORMAT) return null;
  const conversation = stringOf(firstLineJson, "conversation");
  const branch = stringOf(firstLineJson, "branch");
  const commit = stringOf(firstLineJson, "commit");
  if (conversation === undefined || branch === undefined || commit === undefined) return null;
  const turn = firstLineJson["turn"];
  return {
    conversation,
    branch,
    commit,
    ...(Number.isSafeInteger(turn) && Number(turn) >= 0 ? { turn: Number(turn) } : {}),
  };
}

function bytesOfUuid(uuid: string): Uint8Array {
  const hex = uuid.replaceAll("-", "");
  return Uint8Array.from({ length: 16 }, (_, at) => Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16));
}
