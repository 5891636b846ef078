// What a store takes: its size after `git gc` against the bytes imported, and what a plain fork writes.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { createRow, formatNumber, skipWithoutCorpus } from "./row.mjs";
import { lastStates, listSessions, writeMadeSession } from "./sessions.mjs";

// covers: 064 "Storage grows by a compaction each"

/** Measures sizes and counts; nothing here is a time. */
export async function benchRepository(sandbox, { corpus }) {
  return [...(await measureSize(sandbox, corpus)), ...(await measureFork(sandbox))];
}

async function measureSize(sandbox, corpus) {
  const name = "store after git gc ÷ imported bytes";
  const sessions = listSessions(corpus);
  if (sessions === null) return [skipWithoutCorpus("size", name, corpus)];
  // Growing states of one session would be counted several times and stored once.
  const files = lastStates(sessions);
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  const store = sandbox.newPath("store");
  await sandbox.jpg(["import", "--store", store, ...files, "--quiet"]);
  const gitDir = join(store, ".git");
  const before = sizeOf(gitDir);
  await sandbox.run("git", ["-C", store, "gc", "--quiet", "--prune=now"]);
  const after = sizeOf(gitDir);
  const detail = `${formatNumber(after / 1e6)} MB of ${formatNumber(bytes / 1e6)} MB in ${files.length} sessions, all of .git; ${formatNumber(before / bytes)} as imported`;
  return [createRow("size", name, { value: after / bytes, limit: { atMost: 0.25 }, detail })];
}

async function measureFork(sandbox) {
  const file = sandbox.newPath("session.jsonl");
  writeMadeSession(file, 20);
  const store = sandbox.newPath("store");
  await sandbox.jpg(["import", "--store", store, file, "--quiet"]);
  const before = await countStore(sandbox, store);
  await sandbox.jpg(["fork", "--store", store, "--quiet"]);
  const after = await countStore(sandbox, store);
  return [
    createRow("fork-objects", "objects that a plain fork writes", {
      value: after.objects - before.objects,
      unit: "",
      limit: { atMost: 0 },
    }),
    createRow("fork-refs", "refs that a plain fork writes", {
      value: after.refs - before.refs,
      unit: "",
      limit: { atMost: 1, atLeast: 1 },
    }),
  ];
}

async function countStore(sandbox, store) {
  const objects = (await sandbox.run("git", ["-C", store, "count-objects", "-v"])).output;
  const count = (name) => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(objects)?.[1]);
  const refs = (await sandbox.run("git", ["-C", store, "for-each-ref"])).output.split("\n").length - 1;
  return { objects: count("count") + count("in-pack"), refs };
}

function sizeOf(folder) {
  return readdirSync(folder, { recursive: true })
    .map((path) => statSync(join(folder, path)))
    .reduce((sum, entry) => sum + (entry.isFile() ? entry.size : 0), 0);
}
