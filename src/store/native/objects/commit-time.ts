// When commits were made, from the commit objects alone: no history is walked.
import type { BlobReader } from "./blob-reader.ts";

/** Committer times in seconds since 1970, in the order asked; 0 for an object that has none. Throws `object_missing`. */
export async function readCommitTimes(
  reader: Pick<BlobReader, "readAll">,
  commits: readonly string[],
): Promise<readonly number[]> {
  const times: number[] = [];
  for await (const bytes of reader.readAll(commits)) times.push(parseCommitTime(bytes));
  return times;
}

/** The message follows an empty line: what it says of a committer is not looked at. */
function parseCommitTime(bytes: Uint8Array): number {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  const head = text.slice(0, text.indexOf("\n\n") + 1 || undefined);
  return Number(/^committer .*> (\d+) [+-]\d{4}$/m.exec(head)?.[1] ?? 0);
}
