// Parses the answers of `git cat-file --batch`, however the output is cut into chunks.

/** An object as stored. */
export interface StoredObject {
  readonly oid: string;
  readonly type: string;
  readonly bytes: Buffer;
}

interface Body {
  readonly oid: string;
  readonly type: string;
  /** The content and the line end that follows it. */
  readonly bytes: Buffer;
  filled: number;
}

/** Parses the output of `cat-file --batch`: calls back once per request, with null for a missing or ambiguous name. */
export function createBatchParser(onObject: (object: StoredObject | null) => void): (chunk: Buffer) => void {
  let header = "";
  let body: Body | null = null;
  const takeHeader = (chunk: Buffer, at: number): number => {
    const end = chunk.indexOf(0x0a, at);
    header += chunk.toString("latin1", at, end < 0 ? chunk.length : end);
    if (end < 0) return chunk.length;
    body = parseHeader(header);
    header = "";
    if (body === null) onObject(null);
    return end + 1;
  };
  const takeBody = (into: Body, chunk: Buffer, at: number): number => {
    const copied = chunk.copy(into.bytes, into.filled, at);
    into.filled += copied;
    if (into.filled === into.bytes.length) {
      body = null;
      onObject({ oid: into.oid, type: into.type, bytes: into.bytes.subarray(0, -1) });
    }
    return at + copied;
  };
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) at = body === null ? takeHeader(chunk, at) : takeBody(body, chunk, at);
  };
}

function parseHeader(header: string): Body | null {
  const match = /^([0-9a-f]{40,64}) ([a-z]+) (\d+)$/.exec(header);
  if (match === null) return null;
  const [, oid = "", type = "", size = "0"] = match;
  return { oid, type, bytes: Buffer.allocUnsafeSlow(Number(size) + 1), filled: 0 };
}
