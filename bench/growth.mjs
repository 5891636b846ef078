// What must not grow with a conversation's length: opening a view whose turns are mostly under one summary, and appending
// a turn. Made-up conversations of 100 and 10,000 turns; under the summary of the long one are all but as many as the short one has.
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { interleave } from "./measure.mjs";
import { createRow, ratio } from "./row.mjs";
import { activeTree, createRuntime } from "./sandbox.mjs";
import { madeSessionId, makeTurns, writeMadeSession } from "./sessions.mjs";

/** Measures views and appends at both lengths. */
export async function benchGrowth(sandbox, { shortTurns, longTurns, grown, rounds, viewRounds, appendRounds }) {
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
  const rows = [
    ...(await measureView(sandbox, { short: short.store, long: summarised }, viewRounds)),
    ...(await measureLooks(sandbox, { short: short.store, long: summarised }, { shortTurns, longTurns, rounds })),
    ...(await measureChanges(sandbox, { short: short.store, long: summarised }, rounds)),
    ...(await measureAppend(sandbox, { short: short.store, long: long.store }, appendRounds)),
    await measurePrintedTurns(sandbox, { short: short.store, long: long.store }, viewRounds),
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

/** @param {import("./sandbox.mjs").Sandbox} sandbox */
async function measureView(sandbox, stores, rounds) {
  const print = (store) => async () => (await sandbox.jpg(["print", "--compacted", "--store", store])).ms;
  const { loadBranchTree, loadView, openWorkspace } = await sandbox.library();
  let objects = 0;
  const load = (store) => async () => {
    const workspace = await openWorkspace(createRuntime(sandbox.env, store), { store });
    await loadView(workspace.store, await activeTree(loadBranchTree, workspace));
    objects = workspace.store.objectsRead;
    await workspace.close();
  };
  const { short, long } = stores;
  const whole = await interleave(rounds, { long: print(long), short: print(short) });
  const inside = await interleave(rounds, { short: load(short), long: load(long) });
  const opened = ratio(inside.long, inside.short);
  return [
    createRow("view", "print --compacted, 10,000 turns with 99 % summarised ÷ 100 turns", {
      ...ratio(whole.long, whole.short),
      limit: { atMost: 1.5 },
    }),
    createRow("view-load", "the same, loading the view in a running process", {
      ...opened,
      limit: { atMost: 1.5 },
      detail: `${opened.detail}; ${objects} objects read of the long one`,
    }),
  ];
}

/** Commands that look: what a summary hides costs them little. */
async function measureLooks(sandbox, stores, { shortTurns, longTurns, rounds }) {
  const looks = {
    stats: ["stats"],
    show: ["show"],
    blame: ["blame", String(shortTurns - 5)],
    diff: ["diff", "--stat"],
  };
  // The same turn from the end.
  const inLong = { ...looks, blame: ["blame", String(longTurns - 5)] };
  const rows = [];
  for (const [name, args] of Object.entries(looks)) {
    const times = await interleave(rounds, {
      long: async () => (await sandbox.jpg([...inLong[name], "--store", stores.long])).ms,
      short: async () => (await sandbox.jpg([...args, "--store", stores.short])).ms,
    });
    const title = `jpg ${name === "blame" ? "blame TURN" : args.join(" ")}, 10,000 turns with 99 % summarised ÷ 100 turns`;
    rows.push(createRow(`look-${name}`, title, ratio(times.long, times.short)));
  }
  return rows;
}

/** A batch is worth it from 20,000 tokens: these turns are short. */
const AUTO = ["compact", "-s", "auto", "--min-gain", "0"];
const HEAVY = ["compact", "-p", "heavy", "--dry-run"];

/** Commands that compact and take back, in turn: what a summary hides costs them little, too, but where a new one is made of it. */
async function measureChanges(sandbox, stores, rounds) {
  const run = (args, store) => async () => (await sandbox.jpg([...args, "--store", store, "--quiet"])).ms;
  const times = await interleave(rounds, {
    longCompact: run(["compact"], stores.long),
    longUndo: run(["undo"], stores.long),
    shortCompact: run(["compact"], stores.short),
    shortUndo: run(["undo"], stores.short),
    longAuto: run(AUTO, stores.long),
    longBack: run(["undo"], stores.long),
    shortAuto: run(AUTO, stores.short),
    shortBack: run(["undo"], stores.short),
    longHeavy: run(HEAVY, stores.long),
    shortHeavy: run(HEAVY, stores.short),
  });
  const title = (name) => `jpg ${name}, 10,000 turns with 99 % summarised ÷ 100 turns`;
  return [
    createRow("change-compact", title("compact"), ratio(times.longCompact, times.shortCompact)),
    createRow("change-undo", title("undo"), ratio(times.longUndo, times.shortUndo)),
    createRow("change-auto", title("compact -s auto"), ratio(times.longAuto, times.shortAuto)),
    createRow("change-heavy", title("compact -p heavy --dry-run"), ratio(times.longHeavy, times.shortHeavy)),
  ];
}

async function measurePrintedTurns(sandbox, stores, rounds) {
  const print = (store) => async () => (await sandbox.jpg(["print", "--turn", "40..41", "--store", store])).ms;
  const times = await interleave(rounds, { long: print(stores.long), short: print(stores.short) });
  return createRow("print-turns", "print --turn of two turns, of 10,000 turns ÷ of 100", {
    ...ratio(times.long, times.short),
    limit: { atMost: 1.5 },
  });
}

/** @param {import("./sandbox.mjs").Sandbox} sandbox */
async function measureAppend(sandbox, stores, rounds) {
  const { loadBranchTree, openWorkspace, refreshViews, turnPath } = await sandbox.library();
  const appender = (store) => {
    let writeMs = 0;
    const append = async (round) => {
      const workspace = await openWorkspace(createRuntime(sandbox.env, store), { store });
      const { branch, commit: tip, turnOids } = await activeTree(loadBranchTree, workspace);
      const start = performance.now();
      const [result] = await workspace.store.write([
        { branch, expected: tip, parent: tip, commits: [turnCommit(turnPath, turnOids, round)] },
      ]);
      writeMs = performance.now() - start;
      if (result?.moved !== true) throw new Error(`the turn was not appended to ${store}`);
      await refreshViews(workspace, branch);
      const ms = performance.now() - start;
      await workspace.close();
      return ms;
    };
    return { append, lastWrite: () => writeMs };
  };
  const [short, long] = [appender(stores.short), appender(stores.long)];
  const times = await interleave(rounds, {
    short: short.append,
    shortWrite: short.lastWrite,
    long: long.append,
    longWrite: long.lastWrite,
  });
  return [
    createRow("append", "append of one turn, with its view, at turn 10,000 ÷ at turn 100", {
      ...ratio(times.long, times.short),
      limit: { atMost: 1.2 },
    }),
    createRow("append-write", "the same, the commit alone", {
      ...ratio(times.longWrite, times.shortWrite),
      limit: { atMost: 1.2 },
    }),
  ];
}

function turnCommit(turnPath, turnOids, round) {
  const turn = turnOids.length;
  const timestamp = new Date(Date.UTC(2031, 0, 1) + turn * 1000).toISOString();
  const events = [
    { type: "turn_start", id: `start-${turn}-${round}`, timestamp, prev: turnOids[turn - 1] },
    { type: "chat_request", id: `request-${turn}-${round}`, timestamp, content: "And the next one?" },
    {
      type: "chat_response",
      id: `response-${turn}-${round}`,
      timestamp,
      message: "Done: it reads the line and keeps its place.",
    },
  ];
  const signature = { name: "Bench", email: "bench@example.invalid", seconds: 1_925_000_000 + turn };
  const bytes = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  return {
    message: `turn ${turn}: And the next one?\n`,
    author: signature,
    committer: signature,
    changes: [{ path: turnPath(turn), bytes }],
  };
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
  return createRow("import-grown", "jpg import of a session of 30 MB that grew by a turn ÷ its first import", {
    ...ratio(times.grown, times.first),
    limit: { atMost: 0.6 },
  });
}
