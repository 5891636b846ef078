// Which process made a file, and whether it still runs: used by all of jpg's locks and temporary files. A pid that the system
// has reused is not mistaken for the process: the mark includes the start time.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import * as z from "zod/mini";
import { codeOf } from "../core/errors.ts";
import { type SystemQuestion, startQuestion } from "./platform.ts";

/** Identifies a process. */
export interface ProcessMark {
  readonly pid: number;
  /** Start time: clock ticks since boot where the system has them, else RFC 3339. */
  readonly started: string;
  /** Machine, boot and process namespace of the pid; in a file's name their digest. */
  readonly place: string;
}

export const processMark: z.ZodMiniType<ProcessMark> = z.object({
  pid: z.int().check(z.minimum(1)),
  started: z.string(),
  place: z.string(),
});

/** `unknown` = it runs, or ran, where nothing can be learnt of it from here. */
export type ProcessState = "running" | "ended" | "unknown";

/** Tolerance between two clocks' accounts of one start, milliseconds. */
const START_TOLERANCE_MS = 10_000;
/** A process in state `unknown` counts as gone when its file was not written to for so long, milliseconds. */
const UNKNOWN_WRITER_MS = 10 * 60_000;
/** Hexadecimal digits of the digest of a place in a file's name. */
const PLACE_DIGITS = 12;

let thisProcess: Promise<ProcessMark> | null = null;

export function markThisProcess(): Promise<ProcessMark> {
  thisProcess ??= readThisProcess();
  return thisProcess;
}

async function readThisProcess(): Promise<ProcessMark> {
  const { pid } = process;
  const entry = await readProcessEntry(pid);
  return { pid, started: entry?.started ?? new Date(performance.timeOrigin).toISOString(), place: readPlace() };
}

/** Returns whether the process of a mark still runs. */
export async function stateOfProcess(mark: ProcessMark): Promise<ProcessState> {
  const { place } = await markThisProcess();
  if (mark.place !== place && mark.place !== digestOf(place)) {
    return isSameMachine(mark.place, place) ? "ended" : "unknown";
  }
  if (!existsProcess(mark.pid)) return "ended";
  const entry = await readProcessEntry(mark.pid);
  if (entry !== null) return entry.started === mark.started && !entry.isDead ? "running" : "ended";
  const started = Date.parse((await ask(startQuestion(mark.pid, process.platform, process.env))).trim());
  if (!Number.isFinite(started)) return existsProcess(mark.pid) ? "running" : "ended";
  return Math.abs(started - Date.parse(mark.started)) <= START_TOLERANCE_MS ? "running" : "ended";
}

/** Whether the process that made a file is gone. `age` returns the milliseconds since the file was written to. */
export async function isProcessGone(mark: ProcessMark, age: () => Promise<number>): Promise<boolean> {
  const state = await stateOfProcess(mark);
  return state === "ended" || (state === "unknown" && (await age()) > UNKNOWN_WRITER_MS);
}

/** Formats a mark as a part of a file's name. */
export function formatMark({ pid, started, place }: ProcessMark): string {
  return [pid, encodeURIComponent(started), digestOf(place)].join("_");
}

/** Parses what `formatMark` wrote; null when it is no mark. */
export function parseMark(text: string): ProcessMark | null {
  const match = /^([1-9]\d*)_([\w.%-]+)_([0-9a-f]+)$/.exec(text);
  if (match === null || match[3]?.length !== PLACE_DIGITS) return null;
  return { pid: Number(match[1]), started: (match[2] ?? "").replaceAll("%3A", ":"), place: match[3] };
}

function digestOf(place: string): string {
  return createHash("sha256").update(place).digest("hex").slice(0, PLACE_DIGITS);
}

/** Host, boot id and process namespace; the last two where the system has them. */
function readPlace(): string {
  const boot = quietly(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8"));
  const namespace = quietly(() => readlinkSync("/proc/self/ns/pid"));
  return [hostname(), boot.trim(), namespace].join(" ");
}

function quietly(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

/** Another boot of the same machine: what ran before it has ended. */
function isSameMachine(one: string, other: string): boolean {
  const [host, boot = ""] = one.split(" ");
  const [otherHost, otherBoot = ""] = other.split(" ");
  return host === otherHost && boot !== "" && otherBoot !== "" && boot !== otherBoot;
}

/** A process's entry in Linux's process table. */
export interface ProcessEntry {
  /** Clock ticks since boot. */
  readonly started: string;
  /** A zombie: it has ended, and nobody has waited for it, as in containers without an init process. */
  readonly isDead: boolean;
}

/** Reads the entry of a process; null without /proc, or when the process is not in it. */
export async function readProcessEntry(pid: number): Promise<ProcessEntry | null> {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The program's name, in parentheses, may hold blanks and parentheses; the start is the 20th field after it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state = "", started] = [fields[0], fields[19]];
    return started === undefined ? null : { started, isDead: /^[ZXx]/.test(state) };
  } catch {
    return null;
  }
}

/** Whether a pid is in use; that process may be a zombie (`isDead`). */
export function existsProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process exists too.
    return codeOf(error) === "EPERM";
  }
}

/** Asks `ps`, for systems without /proc. Returns its output; empty when it fails. */
export function askPs(args: readonly string[]): Promise<string> {
  return ask(["/bin/ps", args]);
}

function ask([program, args]: SystemQuestion): Promise<string> {
  return new Promise((resolve) => {
    const isWindows = process.platform === "win32";
    const place = isWindows ? { env: process.env } : { cwd: "/", env: { LC_ALL: "C" } };
    execFile(program, args, { ...place, timeout: 5000, windowsHide: true }, (error, stdout) =>
      resolve(error === null ? stdout : ""),
    );
  });
}
