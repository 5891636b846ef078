// Import speed and memory: many sessions and one huge one, against what git and a bare reading of the bytes cost.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { interleave, median } from "./measure.mjs";
import { createRow, formatNumber, ms, skipWithoutCorpus } from "./row.mjs";
import { largest, listSessions, writeCopies, writeLongSession } from "./sessions.mjs";

const PEAK_LIMIT_MB = 300;
const NAMES = [
  ["import", "import of the corpus, over 100 MB"],
  ["import-memory", "peak memory of it"],
  ["import-again", "importing it all again ÷ first import"],
  ["import-long", "import of one session over 100 MB"],
  ["import-long-memory", "peak memory of it"],
];

/** Measures imports. */
export async function benchImport(sandbox, { rounds, longRounds, minBytes, corpus }) {
  const sessions = listSessions(corpus);
  if (sessions === null) return NAMES.map(([id, name]) => skipWithoutCorpus(id, name, corpus));
  const folder = sandbox.newPath("sessions");
  mkdirSync(folder);
  const sessionBytes = sessions.reduce((sum, path) => sum + statSync(path).size, 0);
  const bytes = writeCopies(sessions, folder, Math.ceil(minBytes / sessionBytes));
  const many = await measureImport(sandbox, { folder, bytes, rounds });
  rmSync(folder, { recursive: true });

  const longFolder = sandbox.newPath("long");
  mkdirSync(longFolder);
  const longBytes = writeLongSession(largest(sessions), join(longFolder, "session.jsonl"), minBytes);
  const long = await measureImport(sandbox, { folder: longFolder, bytes: longBytes, rounds: longRounds });
  rmSync(longFolder, { recursive: true });
  return [
    ...rowsOf(many, ["import", "import-memory", "import-again"]),
    ...rowsOf(long, ["import-long", "import-long-memory", "import-long-again"]),
  ];
}

async function measureImport(sandbox, { folder, bytes, rounds }) {
  let peakMb = 0;
  let peakAgainMb = 0;
  /** @type {Record<string, number[]>} */
  const cpu = { jpg: [], parse: [] };
  let store = "";
  const nextStore = () => {
    if (store !== "") rmSync(store, { recursive: true });
    store = sandbox.newPath("store");
  };
  const times = await interleave(rounds, {
    jpg: async () => {
      nextStore();
      const run = await sandbox.jpg(["import", "--store", store, folder, "--quiet"], { usage: true });
      peakMb = Math.max(peakMb, run.peakMb);
      cpu.jpg.push(run.cpuMs);
      return run.ms;
    },
    again: async () => {
      const run = await sandbox.jpg(["import", "--store", store, folder, "--quiet"], { usage: true });
      peakAgainMb = Math.max(peakAgainMb, run.peakMb);
      return run.ms;
    },
    git: () => fastImport(sandbox, folder),
    parse: () => {
      const before = process.cpuUsage();
      const time = parseAll(folder);
      const { user, system } = process.cpuUsage(before);
      cpu.parse.push((user + system) / 1000);
      return time;
    },
  });
  rmSync(store, { recursive: true });
  return { times, bytes, peakMb, peakAgainMb, cpu, files: readdirSync(folder).length };
}

function rowsOf({ times, bytes, peakMb, peakAgainMb, cpu, files }, [id, memoryId, againId]) {
  const name = NAMES.find(([candidate]) => candidate === id)?.[1] ?? id;
  const { jpg, again, git, parse } = times;
  const speed = (time) => formatNumber(bytes / 1e6 / (time / 1000));
  return [
    createRow(id, name, {
      value: bytes / 1e3 / jpg.median,
      unit: "MB/s",
      limit: { atLeast: 25 },
      detail: `${formatNumber(bytes / 1e6)} MB in ${files} files, ${ms(jpg.median)} (best ${speed(jpg.best)} MB/s); bare git fast-import of the same bytes ${speed(git.median)} MB/s, reading and JSON.parse ${speed(parse.median)} MB/s`,
    }),
    createRow(`${id}-cpu`, `CPU time of the jpg process ÷ reading and JSON.parse`, {
      value: median(cpu.jpg) / median(cpu.parse),
      detail: `${ms(median(cpu.jpg))} ÷ ${ms(median(cpu.parse))}; without git's`,
    }),
    createRow(`${id}-git`, `${name} ÷ bare git fast-import`, {
      value: jpg.median / git.median,
      detail: `${ms(jpg.median)} ÷ ${ms(git.median)}`,
    }),
    createRow(memoryId, "peak memory of it", {
      value: peakMb,
      unit: "MB",
      limit: { atMost: PEAK_LIMIT_MB },
      detail: `resident, of the jpg process; importing again ${formatNumber(peakAgainMb)} MB`,
    }),
    createRow(againId, "importing it all again ÷ first import", {
      value: again.median / jpg.median,
      limit: { atMost: 0.1 },
      detail: `${ms(again.median)} ÷ ${ms(jpg.median)}`,
    }),
  ];
}

/** The same bytes as blobs through `git fast-import`, as jpg calls it. Gives milliseconds. */
async function fastImport(sandbox, folder) {
  const repository = sandbox.newPath("raw");
  await sandbox.run("git", ["init", "--quiet", "--bare", repository]);
  const start = performance.now();
  const args = ["-C", repository, "-c", "core.compression=1", "fast-import", "--quiet", "--done", "--depth=50"];
  const child = spawn("git", args, { env: { ...sandbox.env, ...MEMORY }, stdio: ["pipe", "ignore", "inherit"] });
  const ended = once(child, "close");
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, name));
    // In pieces as large as turns are, so that delta search meets what it meets in an import.
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      child.stdin.write(`blob\ndata ${piece.length}\n`);
      if (!child.stdin.write(piece)) await once(child.stdin, "drain");
      child.stdin.write("\n");
    }
  }
  child.stdin.end("done\n");
  const [code] = await ended;
  const time = performance.now() - start;
  rmSync(repository, { recursive: true });
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
  return time;
}

const PIECE_BYTES = 100_000;
// As jpg sets them for its own fast-import.
const MEMORY = {
  MALLOC_TOP_PAD_: String(16 * 1024 * 1024),
  MALLOC_TRIM_THRESHOLD_: String(256 * 1024 * 1024),
  MALLOC_MMAP_THRESHOLD_: String(256 * 1024 * 1024),
};

/** Reads every file and parses every line once, in this process. Gives milliseconds. */
function parseAll(folder) {
  const start = performance.now();
  let parsed = 0;
  for (const name of readdirSync(folder)) {
    for (const line of readFileSync(join(folder, name), "utf8").split("\n")) parsed += isJson(line) ? 1 : 0;
  }
  if (parsed === 0) throw new Error(`no line of ${folder} was parsed`);
  return performance.now() - start;
}

/** Real sessions have a line now and then that is none. */
function isJson(line) {
  try {
    return JSON.parse(line) !== undefined;
  } catch {
    return false;
  }
}
