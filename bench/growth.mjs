// What must not grow with a conversation's length: printing a view of 10,000 turns of which a summary hides all but as many as a short
// conversation has. And what importing a session again costs that grew by a turn.
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { interleave } from "./measure.mjs";
import { createRow, ratio } from "./row.mjs";
import { madeSessionId, makeTurns, writeMadeSession } from "./sessions.mjs";

/** Measures views at both lengths, and an import of a session that grew. */
export async function benchGrowth(sandbox, { shortTurns, longTurns, grown, rounds, viewRounds }) {
  const short = await importMade(sandbox, shortTurns);
  const long = await importMade(sandbox, longTurns);
  const summarised = sandbox.newPath("summarised");
  cpSync(long.store, summarised, { recursive: true });
  const summary = sandbox.newPath("summary.txt");
  writeFileSync(summary, "The first turns set the parser up and settled its error messages.\n");
  await sandbox.jpg([
    "compact",
    "--store",
    summarised,
    "--accept",
    summary,
    "--to",
    String(longTurns - shortTurns - 1),
    "--quiet",
  ]);
  const print = (store) => async () => (await sandbox.jpg(["print", "--compacted", "--store", store])).ms;
  const times = await interleave(viewRounds, { long: print(summarised), short: print(short.store) });
  const rows = [
    createRow("view-long", "jpg print --compacted of 10,000 turns, 99 % of them under a summary ÷ of 100 turns", {
      ...ratio(times.long, times.short),
      limit: { atMost: 1.5 },
    }),
    await measureGrownImport(sandbox, { ...grown, rounds }),
  ];
  for (const path of [short.store, long.store, summarised]) rmSync(path, { recursive: true, force: true });
  return rows;
}

async function importMade(sandbox, turns) {
  const file = sandbox.newPath(`${turns}.jsonl`);
  writeMadeSession(file, turns);
  const store = sandbox.newPath(`store-${turns}`);
  await sandbox.jpg(["import", "--store", store, file, "--quiet"]);
  return { file, store, turns };
}

/** What an agent's session is imported with again and again: all of it is parsed, and only what is new is written. */
async function measureGrownImport(sandbox, { turns, resultWords, rounds }) {
  const session = madeSessionId(turns);
  const file = sandbox.newPath("growing.jsonl");
  let store = "";
  const run = async () => (await sandbox.jpg(["import", "--store", store, file, "--quiet"])).ms;
  const times = await interleave(rounds, {
    first: () => {
      if (store !== "") rmSync(store, { recursive: true });
      store = sandbox.newPath("growing");
      writeFileSync(file, makeTurns(session, 0, turns, resultWords));
      return run();
    },
    grown: () => {
      writeFileSync(file, makeTurns(session, turns, turns + 1, resultWords), { flag: "a" });
      return run();
    },
  });
  rmSync(store, { recursive: true });
  return createRow("grown", "jpg import of a session of 30 MB that grew by a turn ÷ its first import", {
    ...ratio(times.grown, times.first),
    limit: { atMost: 0.6 },
  });
}
