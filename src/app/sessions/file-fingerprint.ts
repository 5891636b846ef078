// How a session file and the files beside it stand in the file system, as git's index remembers it of files: while none of
// it changes, neither do the bytes.
import { type BigIntStats, lstatSync, statSync } from "node:fs";
import { sha256 } from "../workspace/object-id.ts";
import { scatteredFiles } from "./scattered-session.ts";
import type { SessionFile } from "./session-files.ts";
import { allSideFiles } from "./side-files.ts";

export interface Fingerprint {
  /** Digest of path, size, times, inode and device of all the files, 64 hex digits. */
  readonly digest: string;
  /** Size of the session file, bytes. */
  readonly byteLength: number;
}

/** Times to the nanosecond. */
const STATE = { bigint: true } as const;
const SECOND = 1_000_000_000n;
/** How much older than the clock a change must be for the next one to be seen: clocks of file systems stand still so long. */
const COARSE_CLOCK = 2n * SECOND;
/** The same where times are not whole seconds. */
const FINE_CLOCK = SECOND / 10n;

/**
 * Takes the fingerprint of a session, before its files are read. Null when it would say nothing: of standard input, of files
 * that cannot be looked at, and of files so new that they may change again without another time (git calls that racy).
 */
export async function takeFingerprint(file: SessionFile, now: () => Date): Promise<Fingerprint | null> {
  if (file.path === "-") return null;
  const clock = BigInt(now().getTime()) * 1_000_000n;
  try {
    // At once: for each of thousands of files a detour through the thread pool would cost many times what looking costs.
    const own = statSync(file.path, STATE);
    const lines = [describe("", own)];
    let isSettled = hasSettled(own, clock);
    const parts = scatteredFiles(file.path).map((path) => [path, path] as const);
    for (const [path, full] of [...(await allSideFiles(file)), ...parts]) {
      const state = lstatSync(full, STATE);
      lines.push(describe(path, state));
      isSettled &&= hasSettled(state, clock);
    }
    return isSettled ? { digest: sha256(lines.join("\n")), byteLength: Number(own.size) } : null;
  } catch {
    return null; // reading it says what is wrong with it
  }
}

function describe(path: string, { size, mtimeNs, ctimeNs, ino, dev }: BigIntStats): string {
  return JSON.stringify([path, ...[size, mtimeNs, ctimeNs, ino, dev].map(String)]);
}

/** Whether a change from now on cannot have the time that the file has already. */
function hasSettled({ mtimeNs, ctimeNs }: BigIntStats, clock: bigint): boolean {
  const newest = mtimeNs > ctimeNs ? mtimeNs : ctimeNs;
  return newest < clock - (newest % SECOND === 0n ? COARSE_CLOCK : FINE_CLOCK);
}
