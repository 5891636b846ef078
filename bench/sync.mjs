// What `jpg sync` costs where nothing has changed: it looks at every session file, and reads none.
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { median } from "./measure.mjs";
import { createRow, ms } from "./row.mjs";
import { makeTurns } from "./sessions.mjs";

const TURNS = 3;
/** Long ago: what changed just now is read again. */
const CHANGED = new Date("2026-01-01T00:00:00Z");

/** Measures the processor's time of a sync of many unchanged files, beyond that of one. */
export async function benchSync(sandbox, { runs, files: count }) {
  const folder = sandbox.newPath("sessions");
  const store = sandbox.newPath("store");
  mkdirSync(folder);
  const files = Array.from({ length: count }, (_, index) => {
    const id = `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`;
    const path = join(folder, `${id}.jsonl`);
    writeFileSync(path, makeTurns(id, 0, TURNS));
    utimesSync(path, CHANGED, CHANGED);
    return path;
  });
  await sandbox.jpg(["import", "--store", store, folder, "--quiet"]);
  const sync = async (path) => (await sandbox.jpg(["sync", "--store", store, path, "--quiet"], { usage: true })).cpuMs;
  /** @type {Record<string, number[]>} */
  const times = { all: [], one: [] };
  for (let run = 0; run < runs; run++) {
    times.all.push(await sync(folder));
    times.one.push(await sync(files[0]));
  }
  const [all, one] = [median(times.all), median(times.one)];
  return [
    createRow("sync-unchanged", `processor time of jpg sync of ${count} unchanged files − of one`, {
      value: all - one,
      unit: "ms",
      limit: { atMost: 500 },
      detail: `${ms(all)} − ${ms(one)}`,
    }),
  ];
}
