// Import of many sessions, against what git alone takes for the same bytes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { interleave } from "./measure.mjs";
import { createRow, formatNumber, ratio, skipWithoutCorpus } from "./row.mjs";
import { listSessions, writeCopies } from "./sessions.mjs";

/** Measures an import of the corpus, over and over until there are so many bytes. */
export async function benchImport(sandbox, { rounds, minBytes, corpus }) {
  const sessions = listSessions(corpus);
  const name = "jpg import of the corpus, copied ÷ bare git fast-import of the same bytes";
  if (sessions === null) return [skipWithoutCorpus("import", name, corpus)];
  const folder = sandbox.newPath("sessions");
  mkdirSync(folder);
  const sessionBytes = sessions.reduce((sum, path) => sum + statSync(path).size, 0);
  const bytes = writeCopies(sessions, folder, Math.ceil(minBytes / sessionBytes));
  let store = "";
  const times = await interleave(rounds, {
    jpg: async () => {
      if (store !== "") rmSync(store, { recursive: true });
      store = sandbox.newPath("store");
      return (await sandbox.jpg(["import", "--store", store, folder, "--quiet"])).ms;
    },
    again: async () => (await sandbox.jpg(["import", "--store", store, folder, "--quiet"])).ms,
    git: () => fastImport(sandbox, folder),
  });
  const files = readdirSync(folder).length;
  for (const path of [store, folder]) rmSync(path, { recursive: true });
  const imported = ratio(times.jpg, times.git);
  const detail = `${imported.detail}; ${formatNumber(bytes / 1e6)} MB in ${files} files`;
  return [
    createRow("import", name, { ...imported, detail, limit: { atMost: 2.5 } }),
    createRow("import-again", "importing it all again ÷ first import", ratio(times.again, times.jpg)),
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
