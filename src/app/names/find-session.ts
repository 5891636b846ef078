// Which branch holds a session: one of the conversation that its id names, else a fork of another one, for a session that was
// forked off another is kept as a fork.
import { forkOf } from "../../core/conversation-name.ts";
import type { BranchTip, ConversationStore } from "../../store/conversation-store.ts";
import { familyOf, importSuffix } from "./session-family.ts";

/** Finds the branch; null when none holds it. */
export async function findSession(
  store: ConversationStore,
  tips: readonly BranchTip[],
  { format, session }: { readonly format: string; readonly session: string },
): Promise<BranchTip | null> {
  const family = familyOf(tips, { suffix: importSuffix(format, session), continues: undefined });
  const path = `sources/${session}`;
  const forks = tips.filter((tip) => forkOf(tip.name) !== "main" && !family.includes(tip));
  for (const tip of [...family, ...forks]) if (await holds(store, tip, path)) return tip;
  return null;
}

/** One that cannot be read holds nothing; it is named where it is looked at. */
async function holds(store: ConversationStore, { commit }: BranchTip, path: string): Promise<boolean> {
  const entries = await store.readEntries(commit, [path]).catch(() => null);
  return entries?.has(path) === true;
}
