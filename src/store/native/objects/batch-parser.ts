// Parses the answers of `git cat-file --batch`, however the output is cut into chunks.

/** An object as stored. */
export interface StoredObject {
  readonly oid: string;
  readonly type: string;
  readonly bytes: Buffer;
}

interface Head {
  readonly oid: string;
  readonly type: string;
  /** Bytes of the content and the line end that follows it. */
  readonly length: number;
}

/** What came of a content that is cut. */
interface Part {
  readonly bytes: Buffer;
  filled: number;
}

/**
 * Parses the output of `cat-file --batch`: calls back once per request, with null for a missing or ambiguous name. Bytes that
 * came in one chunk are a part of it.
 */
export function createBatchParser(onObject: (object: StoredObject | null) => void): (chunk: Buffer) => void {
  let header = "";
  let head: Head | null = null;
  let part: Part | null = null;
  const takeHeader = (chunk: Buffer, at: number): number => {
    const end = chunk.indexOf(0x0a, at);
    header += chunk.toString("latin1", at, end < 0 ? chunk.length : end);
    if (end < 0) return chunk.length;
    head = parseHeader(header);
    header = "";
    if (head === null) onObject(null);
    return end + 1;
  };
  const give = ({ oid, type }: Head, bytes: Buffer): void => {
    head = null;
    part = null;
    onObject({ oid, type, bytes: bytes.subarray(0, -1) });
  };
  const takeBody = (of: Head, chunk: Buffer, at: number): number => {
    const whole = at + of.length;
    if (part === null && whole <= chunk.length) {
      give(of, chunk.subarray(at, whole));
      return whole;
    }
    part ??= { bytes: Buffer.allocUnsafeSlow(of.length), filled: 0 };
    const copied = chunk.copy(part.bytes, part.filled, at);
    part.filled += copied;
    if (part.filled === of.length) give(of, part.bytes);
    return at + copied;
  };
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) at = head === null ? takeHeader(chunk, at) : takeBody(head, chunk, at);
  };
}

function parseHeader(header: string): Head | null {
  const match = /^([0-9a-f]{40,64}) ([a-z]+) (\d+)$/.exec(header);
  if (match === null) return null;
  const [, oid = "", type = "", size = "0"] = match;
  return { oid, type, length: Number(size) + 1 };
}
