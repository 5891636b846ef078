// One part of the benchmarks in a process of its own, so that what one leaves in memory slows no other, and one that fails stops
// none: node bench/part.mjs NAME SANDBOX OPTIONS, as run.mjs starts it. Leaves its rows, or why there are none, in the sandbox.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSandbox } from "./sandbox.mjs";

/** The parts in their order; each is loaded when it runs. */
export const PARTS = {
  start: async () => (await import("./commands.mjs")).benchStart,
  view: async () => (await import("./commands.mjs")).benchView,
  live: async () => (await import("./live.mjs")).benchLive,
  import: async () => (await import("./import.mjs")).benchImport,
  growth: async () => (await import("./growth.mjs")).benchGrowth,
  list: async () => (await import("./list.mjs")).benchList,
  search: async () => (await import("./search.mjs")).benchSearch,
  push: async () => (await import("./push.mjs")).benchPush,
  fsck: async () => (await import("./fsck.mjs")).benchFsck,
  query: async () => (await import("./query.mjs")).benchQuery,
  hindsight: async () => (await import("./hindsight.mjs")).benchHindsight,
};

/** Where a part leaves what came of it: `{rows}`, or `{error}`, a sentence. */
export function resultFile(dir, name) {
  return join(dir, `${name}.json`);
}

async function runPart(name, dir, options) {
  try {
    const bench = await PARTS[name]();
    return { rows: await bench(openSandbox(dir, name), options) };
  } catch (error) {
    console.error(error);
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name = "", dir = "", options = "{}"] = process.argv.slice(2);
  const result = await runPart(name, dir, JSON.parse(options));
  writeFileSync(resultFile(dir, name), JSON.stringify(result));
}
