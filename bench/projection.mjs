// Projection of the largest session, from parsed lines and from git objects, against JSON.parse over the same lines; each
// repetition in a process of its own, the first call (cold) and the ones after it (warm) apart.
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { median } from "./measure.mjs";
import { createRow, formatNumber, ms, skipWithoutCorpus } from "./row.mjs";
import { largest, listSessions, writeLongSession } from "./sessions.mjs";

const WORKER = fileURLToPath(new URL("./projection-worker.mjs", import.meta.url));

/** Measures projections: of the largest session with its default compaction in force and without, and of a longer one. */
export async function benchProjection(sandbox, { runs, longRuns, longBytes, corpus }) {
  const sessions = listSessions(corpus);
  if (sessions === null) return [skipWithoutCorpus("project", "projection of the largest session", corpus)];
  const file = largest(sessions);
  const store = await importFile(sandbox, file);
  const raw = await measure(sandbox, { store, file }, runs);
  await sandbox.jpg(["compact", "--store", store, "--quiet"]);
  const compacted = await measure(sandbox, { store, file }, runs);

  const longFile = sandbox.newPath("long.jsonl");
  writeLongSession(file, longFile, longBytes);
  const longStore = await importFile(sandbox, longFile);
  const long = await measure(sandbox, { store: longStore, file: longFile }, longRuns);
  for (const path of [store, longStore, longFile]) rmSync(path, { recursive: true });
  return [
    createRow(
      "project-lines",
      "projection of the largest session from parsed lines ÷ JSON.parse of all its event lines",
      {
        ...share(compacted, "warm", "lines", "parse"),
        limit: { atMost: 0.5 },
      },
    ),
    createRow("project-git", "the same from git objects", {
      ...share(compacted, "warm", "git", "parse"),
      limit: { atMost: 1.5 },
    }),
    createRow(
      "project-git-source",
      "the same ÷ JSON.parse of the session file's lines",
      share(compacted, "warm", "git", "source"),
    ),
    createRow(
      "project-git-cold",
      "the same, both as the first call of a process",
      share(compacted, "cold", "git", "source"),
    ),
    createRow(
      "project-git-raw",
      "from git objects, nothing compacted ÷ JSON.parse",
      share(raw, "warm", "git", "parse"),
    ),
    createRow(
      "project-git-long",
      "from git objects, a session ten times as long ÷ JSON.parse",
      share(long, "warm", "git", "parse"),
    ),
  ];
}

async function importFile(sandbox, file) {
  const store = sandbox.newPath("store");
  await sandbox.jpg(["import", "--store", store, file, "--quiet"]);
  return store;
}

async function measure(sandbox, { store, file }, count) {
  const runs = [];
  for (let run = 0; run < count; run++) {
    const { output } = await sandbox.run(process.execPath, [WORKER, await sandbox.libraryFile(), store, file]);
    runs.push(JSON.parse(output));
  }
  return runs;
}

/** One measurement over another: medians over the processes. */
function share(runs, state, what, over) {
  const [a, b] = [what, over].map((name) => median(runs.map((run) => run[state][name])));
  const { turns, bytes, sourceBytes } = runs[0];
  const size =
    over === "source" ? `${formatNumber(sourceBytes / 1e6)} MB of source` : `${formatNumber(bytes / 1e6)} MB of events`;
  return { value: a / b, detail: `${ms(a)} ÷ ${ms(b)}; ${turns} turns, ${size}` };
}
