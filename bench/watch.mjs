// What `jpg sync --watch` costs: how long after an agent wrote a turn it is on the branch, and what it takes while nothing happens.
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createRow, ms } from "./row.mjs";
import { makeTurns } from "./sessions.mjs";

const TURNS = 3;
/** Long ago: what changed just now is read again. */
const CHANGED = new Date("2026-01-01T00:00:00Z");
/** What has not come by then, on however busy a machine, never will. */
const NEVER_MS = 200_000;
/** Clock ticks of Linux a second, in which /proc counts. */
const TICK_MS = 10;

const sessionId = (index) => `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`;

/** Measures a watch of one session, and of many. */
export async function benchWatch(sandbox, { turns, files, pauseMs, idleMs }) {
  const one = await watched(sandbox, { turns, files: 1, pauseMs, idleMs });
  const many = await watched(sandbox, { turns, files, pauseMs, idleMs });
  const appended = (name, what, { best, median }) =>
    createRow(name, `turn written → on its branch, ${what}`, {
      value: best,
      unit: "ms",
      limit: { atMost: 300 },
      detail: `best of ${turns}; median ${ms(median)}`,
    });
  return [
    appended("watch-turn", "one session", one),
    appended("watch-turn-many", `one of ${files} sessions`, many),
    createRow("watch-idle", `processor time of jpg sync --watch of ${files} sessions while nothing happens`, {
      value: many.idlePercent,
      unit: "%",
      limit: { atMost: 1 },
      detail: `over ${idleMs / 1000} s, gits included`,
    }),
  ];
}

async function watched(sandbox, { turns, files, pauseMs, idleMs }) {
  const [home, project] = [sandbox.newPath("watch-home"), sandbox.newPath("watch-project")];
  for (const folder of [home, project]) mkdirSync(folder);
  const env = { ...sandbox.env, HOME: home };
  await sandbox.run("git", ["init", "--quiet", "."], { cwd: project, env });
  const folder = join(home, ".claude", "projects", project.replace(/[^A-Za-z0-9]/g, "-"));
  mkdirSync(folder, { recursive: true });
  const pathOf = (index) => join(folder, `${sessionId(index)}.jsonl`);
  for (let index = 0; index < files; index++) {
    writeFileSync(pathOf(index), makeTurns(sessionId(index), 0, TURNS));
    utimesSync(pathOf(index), CHANGED, CHANGED);
  }
  const child = spawn(process.execPath, [sandbox.bin, "sync", "--watch"], { cwd: project, env });
  try {
    await untilPrinted(child, /sessions?: /);
    await sleep(pauseMs);
    const times = [];
    for (let turn = TURNS; turn < TURNS + turns; turn++) {
      times.push(await timeOfTurn(pathOf(0), turn, join(project, ".git/jpg/.git/refs/heads")));
      await sleep(pauseMs);
    }
    times.sort((a, b) => a - b);
    const before = cpuMs(child.pid);
    await sleep(idleMs);
    const idlePercent = ((cpuMs(child.pid) - before) / idleMs) * 100;
    return { best: times[0], median: times[Math.floor(times.length / 2)], idlePercent };
  } finally {
    child.kill("SIGINT");
  }
}

/** Milliseconds from a turn in the file to a branch that moved. */
async function timeOfTurn(path, turn, heads) {
  const standing = () =>
    readdirSync(heads, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith(".lock"))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
      .join("");
  const before = standing();
  const began = performance.now();
  appendFileSync(path, makeTurns(sessionId(0), turn, turn + 1));
  while (performance.now() - began < NEVER_MS) {
    await sleep(5);
    try {
      if (standing() !== before) return performance.now() - began;
    } catch {
      // A file of git's went while it was read.
    }
  }
  throw new Error("the turn never came");
}

async function untilPrinted(child, pattern) {
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (printed += chunk));
  while (!pattern.test(printed)) {
    if (child.exitCode !== null) throw new Error(printed);
    await sleep(20);
  }
}

/** Processor time of a process and of those that it waited for. */
function cpuMs(pid) {
  const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  return rest
    .split(" ")
    .slice(11, 15)
    .reduce((sum, ticks) => sum + Number(ticks) * TICK_MS, 0);
}
