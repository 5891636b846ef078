// Names of exported sessions and their lines: UUIDv5 (RFC 9562 §5.5), so that the same export has the same ids and an
// import knows its own lines again.

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

/** Gives the id of an exported session. */
export function sessionUuid({ conversation, branch, tip, target, n }: SessionName, sha1: Sha1): string {
  return uuidV5(SESSION_NAMESPACE, JSON.stringify([conversation, branch, tip, target, n]), sha1);
}

/** Gives the id of an exported line: `sourceId` is its name, see `line-names.ts`. */
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

function bytesOfUuid(uuid: string): Uint8Array {
  const hex = uuid.replaceAll("-", "");
  return Uint8Array.from({ length: 16 }, (_, at) => Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16));
}
