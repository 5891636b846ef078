// Checks how a branch reads: compactions that do not apply, commits that say something else than they do, and the coverage
// invariant of the view.

import { createFinding, type Finding } from "../../core/conversation/branch-files.ts";
import { checkCoverage } from "../../core/conversation/coverage.ts";
import { project } from "../../core/conversation/projection.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import { loadCompactions } from "../branch/load-view.ts";
import { readCompactionLog } from "../inspect/log.ts";
import type { ReadBranch } from "./checked-files.ts";

/** Compactions that do not apply, and the coverage invariant. Where a turn is missing or malformed there is no view. */
export async function checkView(
  store: ConversationStore,
  { name, commit }: BranchTip,
  { files, turns, records }: ReadBranch,
): Promise<readonly Finding[]> {
  const isWhole = turns.every((turn) => turn?.findings.every(({ severity }) => severity !== "error") === true);
  if (!isWhole || records.compactions.length === 0) return [];
  const turnOids = turns.map((turn) => turn?.oid ?? "");
  const tree = { branch: name, commit, turnOids, compactions: files.records.compactions };
  const live = await loadCompactions(store, tree);
  const pathOf = new Map(records.compactions.map(({ path, compaction }) => [compaction.id, path]));
  const stale = live.unapplied.map(({ compaction, reason }) =>
    createFinding("compaction_stale", {
      path: pathOf.get(compaction.id) ?? "compactions",
      message: `it does not count: ${reason}`,
      hint: `\`jpg show ${compaction.id}\` shows it; \`jpg revert ${compaction.id}\` undoes it`,
    }),
  );
  const whole = new Map(turns.map((turn, index) => [index, { index, events: turn?.events ?? [] }]));
  const view = project({ turnCount: turns.length, turns: whole, compactions: live.applied });
  const broken = checkCoverage([...whole.values()], live.applied, view).slice(0, 1);
  return [
    ...(await checkMessages(store, tree)),
    ...stale,
    ...broken.map(({ rule, id, message }) =>
      createFinding("coverage_broken", {
        message: `the view breaks the coverage invariant (${rule}): ${id} ${message}`,
        hint: "this is a bug in jpg: please report it with the kinds of the events and the compactions of this branch",
      }),
    ),
  ];
}

/** A commit's message is anybody's text. */
async function checkMessages(
  store: ConversationStore,
  tree: Parameters<typeof readCompactionLog>[1],
): Promise<readonly Finding[]> {
  const rows = await readCompactionLog({ store }, tree);
  return rows
    .filter(({ message }) => message !== undefined)
    .map(({ commit, compaction, subject, message = "" }) =>
      createFinding("message_differs", {
        message: `commit ${commit.slice(0, 9)} says "${message.slice(0, 80)}", but what it does is "${subject}"`,
        hint: `\`jpg show ${compaction}\` shows what the model reads; \`jpg revert ${compaction}\` undoes it`,
      }),
    );
}
