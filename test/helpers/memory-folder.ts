// Where the tests make their folders. A test makes and removes hundreds of small files, which a disk takes its time for, and
// git waits until each is safe on it: in memory both are free.
import { readFileSync, statfsSync } from "node:fs";

const PLACE = "/dev/shm";
/** What all tests need at a time, ten times over; bytes. */
const ROOM = 2 ** 30;

/** What a place may be called: tests write paths into command lines and settings as they are. */
const PLAIN = /^[\w./-]+$/;

/** A folder for the tests of this process, in memory where that is roomy and runs programs; undefined = where TMPDIR says, or the system. */
export function memoryFolder(): string | undefined {
  const { TMPDIR: chosen } = process.env;
  if (chosen !== undefined && PLAIN.test(chosen)) return undefined;
  if (hasRoom()) return `${PLACE}/jpg-tests-${process.pid}`;
  return chosen === undefined ? undefined : `/tmp/jpg-tests-${process.pid}`;
}

function hasRoom(): boolean {
  if (process.platform !== "linux") return false;
  const options = /^\S+ \/dev\/shm tmpfs (\S+)/m.exec(readFileSync("/proc/mounts", "utf8"))?.[1]?.split(",");
  if (options === undefined || options.includes("noexec") || !options.includes("rw")) return false;
  const { bavail, bsize } = statfsSync(PLACE);
  return bavail * bsize >= ROOM;
}
