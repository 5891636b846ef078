// Which process wrote a file, and whether it still runs. A number that the system gave to another process meanwhile is not
// mistaken for it: the time at which a process was started is part of its mark.
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import { existsProcess, readProcessEntry } from "../store/process-entry.ts";
import { askProgram } from "./external-process.ts";

/** A process, told from all others. */
export interface ProcessMark {
  readonly pid: number;
  /** When it was started: clock ticks since the system started where the system tells them, else RFC 3339. */
  readonly started: string;
  /** Machine, its start and the process table that the number is of. */
  readonly place: string;
}

/** `unknown` = it runs, or ran, where nothing can be learnt of it from here. */
export type ProcessState = "running" | "ended" | "unknown";

/** How far two clocks' accounts of one start may be apart, milliseconds. */
const START_TOLERANCE_MS = 10_000;

/** Gives the mark of this process. */
export async function markThisProcess(): Promise<ProcessMark> {
  const { pid } = process;
  const [entry, place] = await Promise.all([readProcessEntry(pid), readPlace()]);
  return { pid, started: entry?.started ?? new Date(performance.timeOrigin).toISOString(), place };
}

/** Says whether the process that a mark is of still runs. */
export async function stateOfProcess(mark: ProcessMark): Promise<ProcessState> {
  const place = await readPlace();
  if (mark.place !== place) return isSameMachine(mark.place, place) ? "ended" : "unknown";
  if (!existsProcess(mark.pid)) return "ended";
  const entry = await readProcessEntry(mark.pid);
  if (entry !== null) return entry.started === mark.started && !entry.isDead ? "running" : "ended";
  const started = await askStart(mark.pid);
  if (started === null) return "running";
  return Math.abs(started - Date.parse(mark.started)) <= START_TOLERANCE_MS ? "running" : "ended";
}

/** Host, start of the system and process namespace; the last two where the system tells them. */
async function readPlace(): Promise<string> {
  const quietly = (read: Promise<string>): Promise<string> => read.catch(() => "");
  const [boot, namespace] = await Promise.all([
    quietly(readFile("/proc/sys/kernel/random/boot_id", "utf8")),
    quietly(readlink("/proc/self/ns/pid")),
  ]);
  return [hostname(), boot.trim(), namespace].join(" ");
}

/** Another start of the same machine: what ran before it has ended. */
function isSameMachine(one: string, other: string): boolean {
  const [host, boot] = one.split(" ");
  const [otherHost, otherBoot] = other.split(" ");
  return host === otherHost && boot !== "" && otherBoot !== "" && boot !== otherBoot;
}

/** Start of a process in milliseconds since 1970, as `ps` tells it; null when it cannot say. */
async function askStart(pid: number): Promise<number | null> {
  const answer = await askProgram({
    command: ["/bin/ps", "-o", "lstart=", "-p", String(pid)],
    cwd: "/",
    env: { LC_ALL: "C" },
    input: "",
    timeoutMs: 5000,
    maxBytes: 1024,
  });
  const time = "output" in answer ? Date.parse(answer.output.trim()) : Number.NaN;
  return Number.isFinite(time) ? time : null;
}
