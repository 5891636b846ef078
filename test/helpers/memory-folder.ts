// Where the tests make their folders. A test makes and removes hundreds of small files, which a disk takes its time for, and
// git waits until each is safe on it: in memory both are free.
import { readFileSync, statfsSync } from "node:fs";

const PLACE = "/dev/shm";
/** What all tests need at a time, ten times over; bytes. */
const ROOM = 2 ** 30;

/** A folder that is in memory, for the tests of this process; undefined where there is none that is roomy and runs programs, or the user chose one. */
export function memoryFolder(): string | undefined {
  if (process.env["TMPDIR"] !== undefined || process.platform !== "linux") return undefined;
  const options = /^\S+ \/dev\/shm tmpfs (\S+)/m.exec(readFileSync("/proc/mounts", "utf8"))?.[1]?.split(",");
  if (options === undefined || options.includes("noexec") || !options.includes("rw")) return undefined;
  const { bavail, bsize } = statfsSync(PLACE);
  return bavail * bsize < ROOM ? undefined : `${PLACE}/jpg-tests-${process.pid}`;
}
