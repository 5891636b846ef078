// Looks at the branches that are about to leave as fsck does: what would be damaged for everybody is not sent. A commit that was
// found sound is kept in mind, so that each is looked at once.
import { conversationOf, forkOf, slugOf } from "../../core/conversation-name.ts";
import { repositoryError } from "../../core/errors.ts";
import type { Finding } from "../../core/integrity/finding.ts";
import { shellWord } from "../../core/shell-word.ts";
import type { BranchTip, ConversationStore } from "../../store/conversation-store.ts";
import { openSealedCache } from "../branch/sealed-cache.ts";
import { type CheckedFiles, createCheckedFiles } from "../integrity/checked-files.ts";
import { checkBranch } from "../integrity/fsck-branch.ts";

/** Raised when the checks find what they did not find before: what was found sound is looked at again then. */
const CHECKS_VERSION = 1;

/** Commits kept at most. */
const MOST_SOUND = 20_000;

/** Refuses to let a damaged conversation leave. Throws `damaged_conversation`. */
export async function refuseDamage(store: ConversationStore, tips: readonly BranchTip[]): Promise<void> {
  const cache = openSealedCache(store, "sound-tips");
  const key = `checks-${CHECKS_VERSION}`;
  const known = new Set(String(cache.read(key) ?? "").split("\n"));
  const sound: string[] = [];
  let family = "";
  let checked: CheckedFiles = createCheckedFiles();
  for (const tip of tips) {
    if (known.has(tip.commit)) continue;
    known.add(tip.commit);
    if (conversationOf(tip.name) !== family) checked = createCheckedFiles();
    family = conversationOf(tip.name);
    const error = await findError(store, tip, checked);
    if (error !== null) throw damagedError(tip, error);
    sound.push(tip.commit);
  }
  if (sound.length === 0) return;
  const all = [...known].filter((commit) => commit !== "");
  await cache.write(all.slice(-MOST_SOUND).join("\n"), key);
}

/** The first thing that is wrong; null of what is sound, of what a newer jpg wrote, and of what is no conversation. */
async function findError(store: ConversationStore, tip: BranchTip, checked: CheckedFiles): Promise<Finding | null> {
  const commit = await store.resolveCommit(tip.commit);
  if (commit === null) return null;
  const header = (await store.readEntries(commit, ["conversation.json"])).get("conversation.json");
  if (header === undefined) return null;
  const { findings } = await checkBranch(store, { name: branchLike(tip.name), commit }, checked);
  return findings.find(({ severity, code }) => severity === "error" && code !== "newer_format") ?? null;
}

/** What stock git pushes may be named anything: the checks speak of a branch. */
function branchLike(name: string): string {
  return /^[\w-]+\/[\w-]+$/.test(name) ? name : `${slugOf(conversationOf(name))}/${slugOf(forkOf(name))}`;
}

function damagedError({ name, commit }: BranchTip, { path, line, code, message, hint }: Finding): Error {
  const place = path === undefined ? "" : `${path}${line === undefined ? "" : `, line ${line}`}: `;
  return repositoryError(
    "damaged_conversation",
    `${name} is damaged, and would be for everybody who gets it; nothing was sent:\n${place}${message} (${code})`,
    {
      hints: [`\`jpg fsck ${shellWord(name)}\` shows all of it.`, hint.replace(/\.?$/, ".")],
      data: { branch: name, commit, code },
    },
  );
}
