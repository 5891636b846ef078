// What a person waits for inside the running agent: from the request of a plug-in to its answer, for a session that was imported before,
// as a hook at the end of each turn does.
import { cpSync, readFileSync, rmSync } from "node:fs";
import { interleave } from "./measure.mjs";
import { createRow, ratio, skipWithoutCorpus } from "./row.mjs";
import { largest, listSessions, madeSessionId, writeMadeSession } from "./sessions.mjs";

/** Measures a compaction of a real session against an empty node, and of a made-up one against one of half its size. */
export async function benchLive(sandbox, { rounds, madeTurns, corpus }) {
  const made = { short: madeTurns, long: 2 * madeTurns };
  const measured = {};
  for (const [name, turns] of Object.entries(made)) {
    const file = sandbox.newPath(`${madeSessionId(turns)}.jsonl`);
    writeMadeSession(file, turns);
    measured[name] = await prepare(sandbox, { file, session: madeSessionId(turns) });
  }
  const sessions = listSessions(corpus);
  if (sessions !== null) {
    const file = largest(sessions);
    measured.real = await prepare(sandbox, { file, session: sessionOf(file) });
  }
  /** @type {Record<string, { median: number, best: number }>} */
  const times = await interleave(rounds, {
    node: async () => (await sandbox.run(process.execPath, ["-e", "0"])).ms,
    ...measured,
  });
  const real =
    sessions === null
      ? skipWithoutCorpus("live-compact", "a compaction by jpg live of a session of 4 MB ÷ an empty node", corpus)
      : createRow("live-compact", "a compaction by jpg live of a session of 4 MB ÷ an empty node", {
          ...ratio(times.real, times.node),
          limit: { atMost: 30 },
        });
  return [
    real,
    createRow("live-linear", "a compaction by jpg live of a session twice as long ÷ of the shorter one", {
      ...ratio(times.long, times.short),
      limit: { atMost: 2.2 },
    }),
  ];
}

/** Imports a session, and gives a function that compacts a copy of its store: what a hook keeps is there when a plug-in asks. */
async function prepare(sandbox, { file, session }) {
  const template = sandbox.newPath("template");
  await sandbox.jpg(["import", "--store", template, file, "--quiet"]);
  const request = { jpg: 1, do: "compact", agent: "claude-code", session, transcript: file, cwd: sandbox.dir };
  const input = `${JSON.stringify({ ...request, window: 1_000_000, trigger: "asked", instructions: "default" })}\n`;
  return async () => {
    const store = sandbox.newPath("copy");
    cpSync(template, store, { recursive: true });
    await sandbox.jpg(["ls", "--store", store, "--quiet"]);
    const run = await sandbox.jpg(["live", "--store", store], { input });
    rmSync(store, { recursive: true, force: true });
    if (JSON.parse(run.output).done !== "compact") throw new Error(`jpg live answered ${run.output.slice(0, 300)}`);
    return run.ms;
  };
}

function sessionOf(file) {
  return /"sessionId":"([^"]+)"/.exec(readFileSync(file, "utf8"))?.[1] ?? "";
}
