// What checking a store costs beside git's own check of it.
import { mkdirSync, rmSync } from "node:fs";
import { interleave } from "./measure.mjs";
import { createRow, ratio, skipWithoutCorpus } from "./row.mjs";
import { lastStates, listSessions, writeCopies } from "./sessions.mjs";

/** Measures `jpg fsck` against `git fsck` of the same store. */
export async function benchFsck(sandbox, { rounds, copies, corpus }) {
  const name = "jpg fsck of the corpus ÷ git fsck";
  const sessions = listSessions(corpus);
  if (sessions === null) return [skipWithoutCorpus("fsck", name, corpus)];
  const folder = sandbox.newPath("sessions");
  mkdirSync(folder);
  writeCopies(lastStates(sessions), folder, copies);
  const store = sandbox.newPath("store");
  await sandbox.jpg(["import", "--store", store, folder, "--quiet"]);
  const times = await interleave(rounds, {
    jpg: async () => (await sandbox.jpg(["fsck", "--store", store])).ms,
    git: async () => (await sandbox.run("git", ["-C", store, "fsck", "--full", "--no-dangling", "--no-progress"])).ms,
  });
  rmSync(folder, { recursive: true });
  rmSync(store, { recursive: true });
  return [createRow("fsck", name, ratio(times.jpg, times.git))];
}
