// npm run bench: measures what jpg must reach, as ratios within one run, and prints a table. Exit code 1 when a target is
// missed. Options: --json, --only NAME[,NAME], --repetitions N (5), --no-build, --keep; of hindsight --hold-out and --write.
import { cpus, loadavg, release, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { benchCommands, benchStart } from "./commands.mjs";
import { benchExtract } from "./extract.mjs";
import { benchFsck } from "./fsck.mjs";
import { benchGrowth } from "./growth.mjs";
import { benchHindsight } from "./hindsight.mjs";
import { benchHooks } from "./hooks.mjs";
import { benchImport } from "./import.mjs";
import { benchKills } from "./kills.mjs";
import { benchList } from "./list.mjs";
import { benchPages } from "./pages.mjs";
import { benchProjection } from "./projection.mjs";
import { benchQuery } from "./query.mjs";
import { benchRepository } from "./repository.mjs";
import { formatNumber, renderRows } from "./row.mjs";
import { createSandbox } from "./sandbox.mjs";
import { benchSearch } from "./search.mjs";
import { benchSharing } from "./sharing.mjs";
import { benchStrategies } from "./strategies.mjs";
import { benchSync } from "./sync.mjs";
import { benchTokens } from "./tokens.mjs";
import { benchWatch } from "./watch.mjs";

const BENCHMARKS = {
  start: benchStart,
  projection: benchProjection,
  commands: benchCommands,
  list: benchList,
  fsck: benchFsck,
  growth: benchGrowth,
  sync: benchSync,
  watch: benchWatch,
  hooks: benchHooks,
  sharing: benchSharing,
  repository: benchRepository,
  import: benchImport,
  tokens: benchTokens,
  extract: benchExtract,
  strategies: benchStrategies,
  pages: benchPages,
  hindsight: benchHindsight,
  query: benchQuery,
  search: benchSearch,
  kills: benchKills,
};

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    only: { type: "string" },
    repetitions: { type: "string", default: "5" },
    "no-build": { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    "hold-out": { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
});

process.exitCode = await main();

async function main() {
  const repetitions = Number(values.repetitions);
  if (!Number.isInteger(repetitions) || repetitions < 1)
    throw new Error(`--repetitions ${values.repetitions} is no whole number from 1 on`);
  const chosen = values.only?.split(",") ?? Object.keys(BENCHMARKS);
  const unknown = chosen.find((name) => !Object.hasOwn(BENCHMARKS, name));
  if (unknown !== undefined) throw new Error(`--only ${unknown} is none of ${Object.keys(BENCHMARKS).join(", ")}`);

  const sandbox = await createSandbox({ isBuilt: values["no-build"] });
  const options = { repetitions, holdOut: values["hold-out"], write: values.write };
  const machine = { ...(await describeMachine(sandbox)), repetitions };
  const rows = [];
  try {
    for (const name of chosen) {
      console.error(`bench: ${name} …`);
      rows.push(...(await BENCHMARKS[name](sandbox, options)));
    }
  } finally {
    if (values.keep) console.error(`bench: kept ${sandbox.dir}`);
    else sandbox.dispose();
  }
  const end = { loadAtEnd: loadavg().map(formatNumber).join(" ") };
  if (values.json) console.log(JSON.stringify({ machine: { ...machine, ...end }, rows }, null, 1));
  else console.log(`${renderMachine({ ...machine, ...end })}\n\n${renderRows(rows)}`);
  for (const { name, detail } of rows.filter(({ result }) => result === "SKIPPED"))
    console.error(`bench: SKIPPED ${name}: ${detail}`);
  const missed = rows.filter(({ result }) => result === "miss");
  for (const { id, name, value, unit } of missed)
    console.error(`bench: missed ${id}: ${name}: ${formatNumber(value)} ${unit}`);
  return missed.length === 0 ? 0 : 1;
}

async function describeMachine(sandbox) {
  const git = (await sandbox.run("git", ["--version"])).output.trim();
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  return {
    node: process.versions.node,
    git: git.replace("git version ", ""),
    system: `${process.platform} ${release()}`,
    processors: `${cpus().length} × ${model}`,
    memory: `${formatNumber(totalmem() / 2 ** 30)} GiB`,
    loadAtStart: loadavg().map(formatNumber).join(" "),
  };
}

function renderMachine(machine) {
  return Object.entries(machine)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
}
