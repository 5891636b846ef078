// Looks at the branches that are about to leave as fsck does: what would be damaged for everybody is not sent. Commits and files that
// were found sound are kept in mind, so that each is looked at once.
import type { Finding } from "../../core/conversation/branch-files.ts";
import { checkTurnFile } from "../../core/conversation/conversation-check.ts";
import { conversationOf, forkOf, slugOf } from "../../core/conversation/name.ts";
import { turnIndexOfPath, turnPath } from "../../core/conversation/turn-file.ts";
import { repositoryError } from "../../core/errors.ts";
import { shellWord } from "../../core/safe-text.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import { openKnownIds, type SealedCache } from "../conversation/caches.ts";
import { decodeLines } from "../conversation/turns.ts";
import { type CheckedFiles, createCheckedFiles } from "../integrity/checked-files.ts";
import {
  CHECKS_VERSION,
  checkBranch,
  isSoundBranch,
  openSoundCache,
  openSoundFiles,
  type SoundFiles,
  type SoundTurn,
  soundTurn,
} from "../integrity/fsck-branch.ts";
import type { ContentReader } from "./scan-outgoing.ts";

/** Commits kept at most. */
const MOST_SOUND = 20_000;
/** Conversations whose files are written at once: each holds a file open. */
const SAVED_AT_ONCE = 32;

/** A branch that is about to leave, and the first thing that is wrong with it. */
interface DamagedTip {
  readonly tip: BranchTip;
  readonly finding: Finding;
}

/**
 * Refuses to let a damaged conversation leave; `read` as for `findDamage`, `nothing` = what was not done. Throws
 * `damaged_conversation`.
 */
export async function refuseDamage(
  store: ConversationStore,
  tips: readonly BranchTip[],
  {
    read,
    nothing = "nothing was sent",
  }: { readonly read?: ReadonlyMap<string, SoundTurn>; readonly nothing?: string } = {},
): Promise<void> {
  const damaged = await findDamage(store, tips, read);
  if (damaged !== null) throw damagedError(damaged, nothing);
}

/**
 * The first tip that is damaged; null where all are sound, which is kept in mind. `read` = turns that were just found sound by
 * themselves, by object id.
 */
export async function findDamage(
  store: ConversationStore,
  tips: readonly BranchTip[],
  read: ReadonlyMap<string, SoundTurn> = new Map(),
): Promise<DamagedTip | null> {
  const known = openKnownIds(store, "sound-tips", { key: `checks-${CHECKS_VERSION}`, most: MOST_SOUND });
  const sound = new Set<string>();
  const cache = openSoundCache(store);
  let family = openFamily(cache, "", "");
  const saving: Promise<void>[] = [];
  for (const tip of tips) {
    if (known.has(tip.commit) || sound.has(tip.commit)) continue;
    const first = await firstTurn(store, tip);
    if (first === null) continue;
    if (conversationOf(tip.name) !== family.conversation || first !== family.first) {
      saving.push(family.files.save());
      // A file by itself takes many times as long as one of many.
      if (saving.length === SAVED_AT_ONCE) await Promise.all(saving.splice(0));
      family = openFamily(cache, conversationOf(tip.name), first);
    }
    const finding = await findError(store, tip, { ...family, read });
    if (finding !== null) return { tip, finding };
    sound.add(tip.commit);
  }
  await Promise.all([...saving, family.files.save()]);
  await known.add([...sound]);
  return null;
}

/** What is known of files that forks of a conversation share. */
interface Family {
  readonly conversation: string;
  /** Object id of their first turn; "" where there is none. */
  readonly first: string;
  readonly files: SoundFiles;
  readonly checked: CheckedFiles;
}

function openFamily(cache: SealedCache, conversation: string, first: string): Family {
  return { conversation, first, files: openSoundFiles(cache, first), checked: createCheckedFiles() };
}

/** Object id of the first turn of a conversation, "" of one without turns; null of what is no conversation. */
async function firstTurn(store: ConversationStore, { commit: tip }: BranchTip): Promise<string | null> {
  const commit = await store.resolveCommit(tip);
  if (commit === null) return null;
  const entries = await store.readEntries(commit, ["conversation.json", turnPath(0)]);
  return entries.has("conversation.json") ? (entries.get(turnPath(0)) ?? "") : null;
}

/** The first thing that is wrong; null of what is sound, and of what a newer jpg wrote. */
async function findError(
  store: ConversationStore,
  tip: BranchTip,
  { files, checked, read }: Family & { readonly read: ReadonlyMap<string, SoundTurn> },
): Promise<Finding | null> {
  const commit = (await store.resolveCommit(tip.commit)) ?? tip.commit;
  const branch = { name: branchLike(tip.name), commit };
  if (await isSoundBranch(store, branch, { known: files, read })) return null;
  const { findings } = await checkBranch(store, branch, checked);
  for (const turn of checked.turns.values()) {
    const sound = soundTurn(turn);
    if (sound !== null) files.turns.set(turn.oid, sound);
  }
  for (const [name, isSound] of checked.attachments) files.attachments.set(name, isSound);
  return findings.find(({ severity, code }) => severity === "error" && code !== "newer_format") ?? null;
}

/** What stock git pushes may be named anything: the checks speak of a branch. */
function branchLike(name: string): string {
  return /^[\w-]+\/[\w-]+$/.test(name) ? name : `${slugOf(conversationOf(name))}/${slugOf(forkOf(name))}`;
}

/** What is wrong, and where. */
export function describeDamage({ path, line, code, message }: Finding): string {
  const place = path === undefined ? "" : `${path}${line === undefined ? "" : `, line ${line}`}: `;
  return `${place}${message} (${code})`;
}

function damagedError({ tip: { name, commit }, finding }: DamagedTip, nothing: string): Error {
  const { code, hint } = finding;
  return repositoryError(
    "damaged_conversation",
    `${name} is damaged, and so would every copy of it be; ${nothing}:\n${describeDamage(finding)}`,
    {
      hints: [`\`jpg fsck ${shellWord(name)}\` shows all of it.`, hint.replace(/\.?$/, ".")],
      data: { branch: name, commit, code },
    },
  );
}

/** Turns that were read. */
interface ReadTurns {
  readonly read: ContentReader;
  /** Those that are sound by themselves, by object id. */
  readonly sound: ReadonlyMap<string, SoundTurn>;
}

/** Begins with none. */
export function createReadTurns(): ReadTurns {
  const sound = new Map<string, SoundTurn>();
  return {
    sound,
    read({ kind, oid, path }, bytes) {
      if (kind !== "blob" || turnIndexOfPath(path) === null) return;
      const turn = soundTurn(checkTurnFile(decodeLines(bytes), path));
      if (turn !== null) sound.set(oid, turn);
    },
  };
}
