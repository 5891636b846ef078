// What a list of many conversations costs: against `git for-each-ref`, the first time and when it is known.
import { rmSync } from "node:fs";
import { interleave } from "./measure.mjs";
import { createRow, formatNumber } from "./row.mjs";
import { makeSmallConversations, TURNS } from "./small-conversations.mjs";

/** Measures `jpg ls` with as many refs in files of their own, as imports leave them, and packed. */
export async function benchList(sandbox, { rounds, conversations }) {
  const [few, loose] = [await makeSmallConversations(sandbox, 1), await makeSmallConversations(sandbox, conversations)];
  const first = (await sandbox.jpg(["ls", "--store", loose])).ms;
  const rows = [
    createRow("list-first", `jpg ls of ${conversations} conversations, the first time, ms each`, {
      value: first / conversations,
      unit: "ms",
      detail: `${formatNumber(first / 1000)} s; ${TURNS} turns each`,
    }),
  ];
  for (const refs of ["loose", "packed"]) {
    if (refs === "packed") await sandbox.run("git", ["-C", loose, "pack-refs", "--all"]);
    rows.push(await measureList(sandbox, { few, many: loose, conversations, refs, rounds }));
  }
  rmSync(loose, { recursive: true });
  return rows;
}

async function measureList(sandbox, { few, many, conversations, refs, rounds }) {
  const { ls, start, git } = await interleave(rounds, {
    ls: async () => (await sandbox.jpg(["ls", "--store", many])).ms,
    start: async () => (await sandbox.jpg(["ls", "--store", few])).ms,
    git: async () => (await sandbox.run("git", ["-C", many, "for-each-ref"])).ms,
  });
  return createRow(`list-${refs}`, `(jpg ls of ${conversations} − of one) ÷ git for-each-ref, ${refs} refs`, {
    value: (ls.median - start.median) / git.median,
    limit: { atMost: 3 },
    detail: `(${formatNumber(ls.median)} − ${formatNumber(start.median)} ms) ÷ ${formatNumber(git.median)} ms`,
  });
}
