// What checking a store costs: by its bytes where conversations are large, by the conversation where they are many.
import { mkdirSync, rmSync } from "node:fs";
import { interleave } from "./measure.mjs";
import { createRow, formatNumber, ratio, skipWithoutCorpus } from "./row.mjs";
import { lastStates, listSessions, writeCopies } from "./sessions.mjs";
import { makeSmallConversations, TURNS } from "./small-conversations.mjs";

/** Measures `jpg fsck` against `git fsck` of the same store. */
export async function benchFsck(sandbox, { rounds, copies, manyRounds, conversations, corpus }) {
  const large = await measureLarge(sandbox, { rounds, copies, corpus });
  const store = await makeSmallConversations(sandbox, conversations);
  const name = `${conversations} conversations of ${TURNS} turns`;
  const small = await measureStore(sandbox, { store, rounds: manyRounds });
  rmSync(store, { recursive: true });
  return [
    ...large,
    createRow("fsck-many", `jpg fsck of ${name}`, speedOf(small)),
    createRow("fsck-many-git", "the same ÷ git fsck", ratio(small.jpg, small.git)),
  ];
}

async function measureLarge(sandbox, { rounds, copies, corpus }) {
  const name = "jpg fsck of the corpus, copied";
  const sessions = listSessions(corpus);
  if (sessions === null) return [skipWithoutCorpus("fsck", name, corpus)];
  const folder = sandbox.newPath("sessions");
  mkdirSync(folder);
  writeCopies(lastStates(sessions), folder, copies);
  const store = sandbox.newPath("store");
  await sandbox.jpg(["import", "--store", store, folder, "--quiet"]);
  const measured = await measureStore(sandbox, { store, rounds });
  rmSync(folder, { recursive: true });
  rmSync(store, { recursive: true });
  return [
    createRow("fsck", name, { ...speedOf(measured), limit: { atLeast: 50 } }),
    createRow("fsck-git", "the same ÷ git fsck", ratio(measured.jpg, measured.git)),
  ];
}

async function measureStore(sandbox, { store, rounds }) {
  const times = await interleave(rounds, {
    jpg: async () => (await sandbox.jpg(["fsck", "--store", store])).ms,
    git: async () => (await sandbox.run("git", ["-C", store, "fsck", "--full", "--no-dangling", "--no-progress"])).ms,
  });
  return { ...times, bytes: await bytesOf(sandbox, store) };
}

/** Bytes of all objects, inflated. */
async function bytesOf(sandbox, store) {
  const args = ["-C", store, "cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectsize)"];
  const { output } = await sandbox.run("git", args);
  return output.split("\n").reduce((sum, size) => sum + Number(size), 0);
}

function speedOf({ jpg, bytes }) {
  return {
    value: bytes / 1e3 / jpg.median,
    unit: "MB/s",
    detail: `${formatNumber(bytes / 1e6)} MB of objects in ${formatNumber(jpg.median)} ms (best ${formatNumber(jpg.best)})`,
  };
}
