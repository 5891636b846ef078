// Session files that an agent has compressed with zstd: recognised by their first bytes, whatever they are called. What they
// unpack to is bounded, for a few bytes may stand for any number.
import { Buffer } from "node:buffer";
import { messageOf, userError } from "../../core/errors.ts";

/** First bytes of a frame (RFC 8878 §3.1.1). */
const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** What is unpacked at most, bytes. */
const LARGEST_UNPACKED = 512 * 1024 * 1024;
/** What is handed to the decoder at a time, bytes. */
const PIECE_BYTES = 64 * 1024;

/** Whether bytes begin as a compressed file does. */
export function isPacked(bytes: Uint8Array): boolean {
  return MAGIC.equals(bytes.subarray(0, MAGIC.length));
}

/** Unpacks a file. Throws `damaged_file` for one that is cut off or no such file, `large_file` for one with more in it than `limit` bytes. */
export async function unpackFile(bytes: Uint8Array, name: string, limit: number = LARGEST_UNPACKED): Promise<Buffer> {
  const { chunks, problem } = await unpack(bytes, { limit, isWhole: true });
  if (problem === null) return Buffer.concat(chunks);
  if (problem === TOO_LARGE) {
    throw userError("large_file", `${name} unpacks to more than ${limit} bytes, so jpg stopped reading it.`, {
      hints: ["Unpack it yourself if you trust it: `zstd -d FILE`, then import what comes out."],
    });
  }
  throw userError("damaged_file", `${name} is compressed with zstd and is cut off or damaged: ${problem}.`, {
    hints: ["Nothing of it was imported. If an agent is still writing it, import it again afterwards."],
  });
}

/** Unpacks as much of a file's beginning as it gives, up to `limit` bytes; null where that is nothing. Never throws. */
export async function unpackBeginning(bytes: Uint8Array, limit: number): Promise<Buffer | null> {
  const { chunks } = await unpack(bytes, { limit: limit + LARGEST_BLOCK, isWhole: false });
  return chunks.length === 0 ? null : Buffer.concat(chunks).subarray(0, limit);
}

/** A block unpacks to no more (RFC 8878 §3.1.1.2.4), bytes. */
const LARGEST_BLOCK = 128 * 1024;
const TOO_LARGE = "too large";

interface Unpacked {
  readonly chunks: readonly Uint8Array[];
  /** What is wrong; null = nothing. */
  readonly problem: string | null;
}

async function unpack(
  bytes: Uint8Array,
  { limit, isWhole }: { readonly limit: number; readonly isWhole: boolean },
): Promise<Unpacked> {
  const { Decompress } = await import("fzstd");
  const chunks: Uint8Array[] = [];
  let size = 0;
  const decoder = new Decompress((chunk) => {
    size += chunk.length;
    if (size > limit) throw new Error(TOO_LARGE);
    chunks.push(chunk);
  });
  try {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const end = at + PIECE_BYTES;
      decoder.push(bytes.subarray(at, end), isWhole && end >= bytes.length);
    }
    return { chunks, problem: null };
  } catch (error) {
    return { chunks, problem: messageOf(error) };
  }
}
