// What a list of many conversations costs, the first time and when it is known.
import { rmSync } from "node:fs";
import { interleave } from "./measure.mjs";
import { createRow, ms } from "./row.mjs";
import { makeSmallConversations, TURNS } from "./small-conversations.mjs";

/** Measures `jpg ls`. */
export async function benchList(sandbox, { rounds, conversations }) {
  const store = await makeSmallConversations(sandbox, conversations);
  const first = (await sandbox.jpg(["ls", "--store", store])).ms;
  const { ls } = await interleave(rounds, { ls: async () => (await sandbox.jpg(["ls", "--store", store])).ms });
  rmSync(store, { recursive: true });
  return [
    createRow("ls", `jpg ls of ${conversations} conversations of ${TURNS} turns, after the first`, {
      value: ls.median / 1000,
      unit: "s",
      limit: { atMost: 1 },
      detail: `best ${ms(ls.best)}; the first ${ms(first)}`,
    }),
  ];
}
