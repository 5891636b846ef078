// What planning `auto` and computing its receipt cost on the largest session, against its projection in the same process.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "./measure.mjs";
import { createRow, ms } from "./row.mjs";
import { bundlePlanning } from "./strategies-library.mjs";

const WORKER = fileURLToPath(new URL("./strategies-worker.mjs", import.meta.url));

/** Measures planning over a session as it was imported, and with the agent's compactions taken back. */
export async function benchPlanning(sandbox, { path, compactions }, { repetitions }) {
  const library = join(sandbox.dir, "jpg/dist/planning.mjs");
  await bundlePlanning(library);
  const store = sandbox.newPath("store");
  await sandbox.jpg(["import", "--store", store, path, "--quiet"]);
  const imported = await measure(sandbox, [library, store, "view"], repetitions);
  if (compactions.length > 0) await sandbox.jpg(["revert", "--store", store, ...compactions.map(({ id }) => id)]);
  const viewFirst = await measure(sandbox, [library, store, "view"], repetitions);
  const planFirst = await measure(sandbox, [library, store, "plan"], repetitions);
  rmSync(store, { recursive: true });
  return [
    createRow("plan", "planning auto over a 4 MB session ÷ its projection from git", {
      ...share(viewFirst, ["warm", "plan"], viewFirst),
      limit: { atMost: 2 },
    }),
    createRow("plan-receipt", "the loss receipt of it ÷ the same projection", {
      ...share(viewFirst, ["warm", "receipt"], viewFirst),
      limit: { atMost: 3 },
    }),
    createRow("plan-cold", "planning, both as the first call of a process", {
      ...share(planFirst, ["cold", "plan"], viewFirst),
    }),
    createRow("plan-receipt-cold", "the receipt, the first of a process ÷ the first projection of one", {
      ...share(viewFirst, ["cold", "receipt"], viewFirst),
    }),
    createRow("plan-imported", "planning under the agent's own compactions ÷ that projection", {
      ...share(imported, ["warm", "plan"], imported),
    }),
    createRow("plan-imported-receipt", "the receipt of that ÷ that projection", {
      ...share(imported, ["warm", "receipt"], imported),
    }),
  ];
}

async function measure(sandbox, args, repetitions) {
  const runs = [];
  for (let run = 0; run < repetitions; run++) {
    const { output } = await sandbox.run(process.execPath, [WORKER, ...args]);
    runs.push(JSON.parse(output));
  }
  return runs;
}

/** A measurement over the projection in the same state; medians over the processes. */
function share(runs, [state, what], over) {
  const time = median(runs.map((run) => run[state][what]));
  const view = median(over.map((run) => run[state].view));
  const { turns, tokens } = runs[0];
  return { value: time / view, detail: `${ms(time)} ÷ ${ms(view)}; ${turns} turns read, ${tokens.before} tokens` };
}
