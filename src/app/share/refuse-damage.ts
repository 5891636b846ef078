// Checks branches as fsck does before they are sent: a damaged conversation would be damaged for everybody.
import type { Finding } from "../../core/conversation/branch-files.ts";
import { conversationOf, forkOf, slugOf } from "../../core/conversation/name.ts";
import { repositoryError } from "../../core/errors.ts";
import { shellWord } from "../../core/safe-text.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import { type CheckedFiles, createCheckedFiles } from "../integrity/checked-files.ts";
import { checkBranch } from "../integrity/fsck-branch.ts";

/** A branch to be sent, and the first error in it. */
interface DamagedTip {
  readonly tip: BranchTip;
  readonly finding: Finding;
}

/** Refuses to send a damaged conversation; `outcome` = the end of the message. Throws `damaged_conversation`. */
export async function refuseDamage(
  store: ConversationStore,
  tips: readonly BranchTip[],
  outcome = "nothing was sent",
): Promise<void> {
  const damaged = await findDamage(store, tips);
  if (damaged !== null) throw damagedError(damaged, outcome);
}

/** Returns the first damaged tip; null = all are sound. Files that forks of one conversation share are checked once. */
export async function findDamage(store: ConversationStore, tips: readonly BranchTip[]): Promise<DamagedTip | null> {
  let family = { conversation: "", checked: createCheckedFiles() };
  for (const tip of tips) {
    const commit = await store.resolveCommit(tip.commit);
    if (commit === null || !(await store.readEntries(commit, ["conversation.json"])).has("conversation.json")) continue;
    const conversation = conversationOf(tip.name);
    if (conversation !== family.conversation) family = { conversation, checked: createCheckedFiles() };
    const finding = await findError(store, { name: checkableName(tip.name), commit }, family.checked);
    if (finding !== null) return { tip, finding };
  }
  return null;
}

/** Returns the first error in a branch; null if it is sound, or written by a newer jpg. */
async function findError(store: ConversationStore, tip: BranchTip, checked: CheckedFiles): Promise<Finding | null> {
  const { findings } = await checkBranch(store, tip, checked);
  return findings.find(({ severity, code }) => severity === "error" && code !== "newer_format") ?? null;
}

/** Returns a name that the checks accept: stock git can push branches of any name. */
function checkableName(name: string): string {
  return /^[\w-]+\/[\w-]+$/.test(name) ? name : `${slugOf(conversationOf(name))}/${slugOf(forkOf(name))}`;
}

export function describeDamage({ path, line, code, message }: Finding): string {
  const place = path === undefined ? "" : `${path}${line === undefined ? "" : `, line ${line}`}: `;
  return `${place}${message} (${code})`;
}

function damagedError({ tip: { name, commit }, finding }: DamagedTip, outcome: string): Error {
  const { code, hint } = finding;
  return repositoryError(
    "damaged_conversation",
    `${name} is damaged, and copies of it would be, too; ${outcome}:\n${describeDamage(finding)}`,
    {
      hints: [`\`jpg fsck ${shellWord(name)}\` shows all of it.`, hint.replace(/\.?$/, ".")],
      data: { branch: name, commit, code },
    },
  );
}
