// What a person waits for: start-up of the command, and compact, diff and others on a real session of 4 MB.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { interleave } from "./measure.mjs";
import { createRow, formatNumber, ms, ratio, skipWithoutCorpus } from "./row.mjs";
import { largest, listSessions } from "./sessions.mjs";

/** Measures start-up against an empty node. */
export async function benchStart(sandbox, { rounds }) {
  const version = JSON.parse(
    (await sandbox.run(process.execPath, ["-p", "JSON.stringify(process.versions.node)"])).output,
  );
  const times = await interleave(rounds, {
    node: async () => (await sandbox.run(process.execPath, ["-e", "0"])).ms,
    version: async () => (await sandbox.jpg(["--version"])).ms,
    help: async () => (await sandbox.jpg(["--help"])).ms,
  });
  return [
    createRow("version", "jpg --version ÷ an empty node", ratio(times.version, times.node)),
    createRow("help", `jpg --help ÷ an empty node (${version})`, ratio(times.help, times.node)),
  ];
}

/** Measures commands on the largest session of the corpus. */
export async function benchCommands(sandbox, { rounds, corpus }) {
  const sessions = listSessions(corpus);
  if (sessions === null)
    return [skipWithoutCorpus("compact", "compact of a 4 MB session ÷ its print --compacted", corpus)];
  const template = sandbox.newPath("template");
  await sandbox.jpg(["import", "--store", template, largest(sessions), "--quiet"]);
  const compacted = sandbox.newPath("compacted");
  cpSync(template, compacted, { recursive: true });
  await sandbox.jpg(["compact", "--store", compacted, "--quiet"]);
  const jpg =
    (args, store = compacted) =>
    async () =>
      (await sandbox.jpg([...args, "--store", store])).ms;
  const times = await interleave(rounds, {
    node: async () => (await sandbox.run(process.execPath, ["-e", "0"])).ms,
    print: jpg(["print", "--compacted"], template),
    printAfter: jpg(["print", "--compacted"]),
    compact: () => compactCopy(sandbox, template),
    diff: jpg(["diff"]),
    diffStat: jpg(["diff", "--stat"]),
    ls: jpg(["ls"]),
    log: jpg(["log"]),
    show: jpg(["show"]),
    stats: jpg(["stats"]),
  });
  const other = ["diff", "diffStat", "ls", "log", "show", "stats"].map((name) =>
    createRow(`start-${name}`, `jpg ${name === "diffStat" ? "diff --stat" : name} ÷ an empty node`, {
      ...ratio(times[name], times.node),
      limit: { atMost: 5 },
    }),
  );
  return [
    createRow("compact", "compact of a 4 MB session ÷ its print --compacted", {
      ...ratio(times.compact, times.print),
      limit: { atMost: 3 },
    }),
    createRow("compact-node", "the same ÷ an empty node", {
      ...ratio(times.compact, times.node),
      limit: { atMost: 12 },
    }),
    createRow("compact-after", "the same, print of the compacted view", ratio(times.compact, times.printAfter)),
    createRow("print", "print --compacted of a 4 MB session ÷ an empty node", {
      ...ratio(times.print, times.node),
      limit: { atMost: 5 },
    }),
    ...other,
    ...(await countProcesses(sandbox, { template, compacted })),
  ];
}

async function compactCopy(sandbox, template) {
  const store = sandbox.newPath("copy");
  cpSync(template, store, { recursive: true });
  // A copied store is set right by the first command, which is not what is measured: people compact where they imported.
  await sandbox.jpg(["ls", "--store", store, "--quiet"]);
  const run = await sandbox.jpg(["compact", "--store", store, "--json"]);
  rmSync(store, { recursive: true, force: true });
  if (JSON.parse(run.output).compaction === null) throw new Error("there was nothing to compact");
  return run.ms;
}

/** How many git processes a command starts, their children included. */
async function countProcesses(sandbox, { template, compacted }) {
  const fresh = sandbox.newPath("traced");
  cpSync(template, fresh, { recursive: true });
  await sandbox.jpg(["ls", "--store", fresh, "--quiet"]);
  const commands = [
    ["print", ["print", "--compacted"], compacted],
    ["log", ["log"], compacted],
    ["ls", ["ls"], compacted],
    ["diff", ["diff"], compacted],
    ["compact", ["compact"], fresh],
    ["undo", ["undo"], fresh],
    ["fork", ["fork"], fresh],
  ];
  const rows = [];
  for (const [name, args, store] of commands) {
    const trace = sandbox.newPath("trace");
    mkdirSync(trace);
    await sandbox.jpg([...args, "--store", store], { env: { ...sandbox.env, GIT_TRACE2_EVENT: trace } });
    const started = readdirSync(trace).map((file) => gitCommand(`${trace}/${file}`));
    rows.push(
      createRow(`git-${name}`, `git processes of jpg ${name}`, {
        value: started.length,
        unit: "",
        detail: started.sort().join(", "),
      }),
    );
    rmSync(trace, { recursive: true });
  }
  return rows;
}

function gitCommand(trace) {
  const lines = readFileSync(trace, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
  const name = lines.find((line) => line.event === "cmd_name")?.name ?? "?";
  const end = lines.findLast((line) => line.event === "atexit")?.t_abs;
  return end === undefined ? name : `${name} ${ms(Number(formatNumber(end * 1000)))}`;
}
