// What a person waits for: start-up of the command, and looking at a real session of 4 MB and compacting it.
import { cpSync, rmSync } from "node:fs";
import { interleave } from "./measure.mjs";
import { createRow, ratio, skipWithoutCorpus } from "./row.mjs";
import { largest, listSessions } from "./sessions.mjs";

/** Measures start-up against an empty node. */
export async function benchStart(sandbox, { rounds }) {
  const times = await interleave(rounds, {
    node: async () => (await sandbox.run(process.execPath, ["-e", "0"])).ms,
    version: async () => (await sandbox.jpg(["--version"])).ms,
    help: async () => (await sandbox.jpg(["--help"])).ms,
  });
  return [
    createRow("version", "jpg --version ÷ an empty node", ratio(times.version, times.node)),
    createRow("help", "jpg --help ÷ an empty node", ratio(times.help, times.node)),
  ];
}

const LOOKS = {
  log: ["log"],
  ls: ["ls"],
  print: ["print", "--compacted"],
  show: ["show"],
  diff: ["diff"],
  stats: ["stats"],
};

/** Measures commands on the largest session of the corpus. */
export async function benchView(sandbox, { rounds, corpus }) {
  const sessions = listSessions(corpus);
  if (sessions === null) return [skipWithoutCorpus("view", "commands on a session of 4 MB ÷ an empty node", corpus)];
  const template = sandbox.newPath("template");
  await sandbox.jpg(["import", "--store", template, largest(sessions), "--quiet"]);
  const compacted = sandbox.newPath("compacted");
  cpSync(template, compacted, { recursive: true });
  await sandbox.jpg(["compact", "--store", compacted, "--quiet"]);
  const looks = Object.fromEntries(
    Object.entries(LOOKS).map(([name, args]) => [
      name,
      async () => (await sandbox.jpg([...args, "--store", compacted])).ms,
    ]),
  );
  const times = await interleave(rounds, {
    node: async () => (await sandbox.run(process.execPath, ["-e", "0"])).ms,
    ...looks,
    compact: () => compactCopy(sandbox, template),
  });
  return [
    ...Object.entries(LOOKS).map(([name, args]) =>
      createRow(`view-${name}`, `jpg ${args.join(" ")} of a session of 4 MB ÷ an empty node`, {
        ...ratio(times[name], times.node),
        limit: { atMost: 5 },
      }),
    ),
    createRow("view-compact", "jpg compact of it ÷ an empty node", {
      ...ratio(times.compact, times.node),
      limit: { atMost: 12 },
    }),
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
