// Checks one branch of a conversation: its files, each by itself and against each other, and the view that they make. What is
// read of a turn is kept for the other forks of the conversation, so that each file is read once.
import {
  type BranchFile,
  type BranchFiles,
  createFinding,
  type Finding,
  RECORD_FOLDERS,
  sortBranchFiles,
} from "../../core/conversation/branch-files.ts";
import {
  type CheckedRecords,
  checkCompactions,
  checkRecords,
  checkTurnFile,
  checkTurns,
  type StoredTurn,
} from "../../core/conversation/conversation-check.ts";
import { sourceFileOf, turnIndexOfPath, turnIndexOfSource, turnPath } from "../../core/conversation/turn-file.ts";
import { JpgError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import type { BranchTip, ConversationStore, RewrittenFile } from "../../store/store.ts";
import { openSealedCache, type SealedCache } from "../conversation/caches.ts";
import { findSplice } from "../conversation/spliced-turns.ts";
import { BRANCH_ATTRIBUTES, collectBlobs, damagedHeader, parseHeader, SPECIAL_HEADER } from "../conversation/tree.ts";
import { bringTurns, decodeLines } from "../conversation/turns.ts";
import { type CheckedFiles, checkStoredAttachments, checkView } from "./checked-files.ts";

/** What a branch holds. */
interface BranchVerdict {
  readonly turns: number;
  readonly findings: readonly Finding[];
}

/**
 * Checks a branch at a commit. An object that cannot be read ends the check of its branch, and is a finding. Throws
 * `turns_elsewhere`, `objects_elsewhere` in a partial clone: nothing is wrong with what is not here.
 */
export async function checkBranch(
  store: ConversationStore,
  tip: BranchTip,
  checked: CheckedFiles,
): Promise<BranchVerdict> {
  const findings: Finding[] = [];
  let turns = 0;
  try {
    const files = await store.listTree(tip.commit);
    const header = await checkHeader(store, tip, files);
    appendAll(findings, header);
    // What a newer jpg wrote, or what is no conversation, is not for this one to judge.
    if (header.length > 0) return { turns, findings };
    const sorted = sortBranchFiles(files);
    turns = sorted.turns.length;
    appendAll(findings, sorted.findings);
    appendAll(findings, await checkFiles(store, tip, sorted, checked));
  } catch (error) {
    if (!(error instanceof JpgError) || error.kind !== "repository" || error.code.endsWith("_elsewhere")) throw error;
    const hint = error.hints[0] ?? "bring the object back from a copy or a remote of the store";
    findings.push(createFinding("object_damaged", { message: error.message, hint }));
  }
  return { turns, findings };
}

/** Checks conversation.json: what is found ends the check of its branch. */
async function checkHeader(
  store: ConversationStore,
  { name }: BranchTip,
  files: readonly BranchFile[],
): Promise<readonly Finding[]> {
  const path = "conversation.json";
  const file = files.find((candidate) => candidate.path === path);
  if (file === undefined)
    return [
      createFinding("header_unreadable", {
        path,
        message: "there is none: this branch is no conversation",
        hint: `\`jpg git log --diff-filter=D -- ${path}\` shows whether a commit removed it`,
      }),
    ];
  try {
    if (file.special !== undefined) throw damagedHeader(name, SPECIAL_HEADER);
    const [bytes] = await collectBlobs(store, [file.oid]);
    parseHeader(new TextDecoder().decode(bytes), name);
    return [];
  } catch (error) {
    if (!(error instanceof JpgError)) throw error;
    const code = error.code === "newer_format" ? "newer_format" : "header_unreadable";
    return [createFinding(code, { path, message: error.message, hint: error.hints[0] ?? "" })];
  }
}

async function checkFiles(
  store: ConversationStore,
  { name, commit }: BranchTip,
  files: BranchFiles,
  checked: CheckedFiles,
): Promise<readonly Finding[]> {
  const turns = await readTurns(store, name, { files, checked });
  const records = await readRecords(store, files);
  return [
    ...(await checkAttributes(store, commit)),
    ...turns.flatMap((turn) => turn?.findings ?? []),
    ...(await withSides(store, { name, commit }, checkTurns(turns), turns)),
    ...records.findings,
    ...checkCompactions(records.compactions, turns),
    ...(await checkView(store, { name, commit }, { files, turns, records })),
    ...(await checkStoredAttachments(store, { commit, files, turns, records, checked })),
  ];
}

/** Turns that do not follow each other: what gives each side back is the same as other commands say. */
async function withSides(
  store: ConversationStore,
  { name, commit }: BranchTip,
  findings: readonly Finding[],
  turns: readonly (StoredTurn | undefined)[],
): Promise<readonly Finding[]> {
  const isWhole = turns.every((turn) => turn !== undefined);
  if (!isWhole || findings.every(({ code }) => code !== "chain_broken")) return findings;
  const splice = await findSplice(store, { branch: name, commit, turnOids: turns.map(({ oid }) => oid) });
  const hint = splice?.hints.join(" ") ?? "";
  return findings.map((finding) => (finding.code === "chain_broken" && hint !== "" ? { ...finding, hint } : finding));
}

async function checkAttributes(store: ConversationStore, commit: string): Promise<readonly Finding[]> {
  const path = ".gitattributes";
  const oid = (await store.readEntries(commit, [path])).get(path);
  const [bytes] = oid === undefined ? [] : await collectBlobs(store, [oid]);
  if (bytes !== undefined && new TextDecoder().decode(bytes) === BRANCH_ATTRIBUTES) return [];
  return [
    createFinding("attributes_differ", {
      path,
      message: `${oid === undefined ? "there is none" : "it is not as jpg wrote it"}: git may change line ends, and shows compactions as raw JSON`,
      hint: `\`jpg git log -p -- ${path}\` shows who changed it; revert that commit`,
    }),
  ];
}

async function readTurns(
  store: ConversationStore,
  branch: string,
  { files, checked }: { readonly files: BranchFiles; readonly checked: CheckedFiles },
): Promise<readonly (StoredTurn | undefined)[]> {
  const key = (index: number): string => `${index}:${files.turns[index]?.oid}`;
  const isReadable = (file: BranchFile | undefined): boolean => file !== undefined && file.special !== "repository";
  const unknown = [...files.turns.keys()].filter((at) => isReadable(files.turns[at]) && !checked.turns.has(key(at)));
  let next = 0;
  await bringTurns(store, { branch, turnOids: files.turns.map((file) => file?.oid ?? "") }, unknown);
  for await (const bytes of store.readBlobs(unknown.map((index) => files.turns[index]?.oid ?? ""))) {
    const index = unknown[next++] ?? 0;
    const turn = checkTurnFile(decodeLines(bytes), turnPath(index));
    checked.turns.set(key(index), { ...turn, oid: files.turns[index]?.oid ?? "" });
  }
  return files.turns.map((_, index) => checked.turns.get(key(index)));
}

/** Reads the records of a branch, and checks each. */
async function readRecords(store: ConversationStore, files: BranchFiles): Promise<CheckedRecords> {
  const listed = RECORD_FOLDERS.flatMap((folder) =>
    files.records[folder].map(({ path, oid }) => ({ folder, path, oid })),
  );
  const blobs = await collectBlobs(
    store,
    listed.map(({ oid }) => oid),
  );
  return checkRecords(
    listed.map(({ folder, path }, index) => ({ folder, path, text: new TextDecoder().decode(blobs[index]) })),
  );
}

// What is known of files in which nothing is wrong, by object id, in one cache file a conversation: a later check reads what is new
// alone. Nothing of what was said is kept.

/** What the checks of a branch need of a turn file that is sound by itself. */
export interface SoundTurn {
  readonly previous: string | null;
  /** Marks of its events' ids: equal ids have equal marks, and others seldom have. */
  readonly ids: readonly number[];
  /** Names of payloads that its events refer to. */
  readonly attachments: ReadonlySet<string>;
}

export interface SoundFiles {
  /** By object id. */
  readonly turns: Map<string, SoundTurn>;
  /** Whether an attachment holds what its name says, by `<name> <object id>`. */
  readonly attachments: Map<string, boolean>;
  /** Writes what was added; without effect where nothing can be written. */
  save(): Promise<void>;
}

/** Raised when checks find what they did not find before, or something else is kept. */
export const CHECKS_VERSION = 2;

/** Turns, and attachments, that are kept at most: those known longest are forgotten. */
const MOST_KEPT = 100_000;
/** Of fewer events, and no attachments, nothing is kept: they are read again sooner than a file of them is written and found. */
const LEAST_KEPT = 32;

type Row = readonly [oid: string, previous: string | null, ids: readonly number[], attachments: readonly string[]];

/** Opens where it is kept, of all conversations. */
export function openSoundCache(store: ConversationStore): SealedCache {
  return openSealedCache(store, "sound-files");
}

/** Opens what is known of the conversation whose first turn has this object id. */
export function openSoundFiles(cache: SealedCache, first: string): SoundFiles {
  const key = `checks-${CHECKS_VERSION}-${first}`;
  const known = cache.read(key);
  // What was sealed here was written by jpg: its rows are taken as they are.
  const kept = known === null ? { turns: [], attachments: [] } : (JSON.parse(String(known)) as Kept);
  const turns = new Map(kept.turns.map(fromRow));
  const attachments = new Map(kept.attachments.map((name) => [name, true]));
  const before = turns.size + attachments.size;
  return {
    turns,
    attachments,
    async save() {
      if (turns.size + attachments.size === before) return;
      if (attachments.size === 0 && countEvents(turns) < LEAST_KEPT) return;
      const sound = [...attachments].filter(([, isSound]) => isSound).map(([name]) => name);
      const body: Kept = { turns: [...turns].slice(-MOST_KEPT).map(toRow), attachments: sound.slice(-MOST_KEPT) };
      await cache.write(JSON.stringify(body), key);
    },
  };
}

function countEvents(turns: ReadonlyMap<string, SoundTurn>): number {
  let count = 0;
  for (const { ids } of turns.values()) count += ids.length;
  return count;
}

interface Kept {
  readonly turns: readonly Row[];
  readonly attachments: readonly string[];
}

function toRow([oid, { previous, ids, attachments }]: readonly [string, SoundTurn]): Row {
  return [oid, previous, ids, [...attachments]];
}

function fromRow([oid, previous, ids, attachments]: Row): [string, SoundTurn] {
  return [oid, { previous, ids, attachments: new Set(attachments) }];
}

/** What is kept of a turn; null where something is wrong with it. */
export function soundTurn({ events, previous, attachments, findings }: Omit<StoredTurn, "oid">): SoundTurn | null {
  if (findings.some(({ severity }) => severity === "error")) return null;
  return { previous, attachments, ids: events.map(({ id }) => markOf(id)) };
}

/** A number of 53 bits for a text. Two texts of one number cost a look at the whole branch, and nothing else. */
function markOf(text: string): number {
  let [high, low] = [0x811c9dc5, 0x2f0b4c47];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul((low ^ unit) + high, 0x0019660d);
  }
  return (high >>> 11) * 2 ** 32 + (low >>> 0);
}

// Whether a branch is sound, from the files of it that are new and from what is known of all others: what it costs is what
// changed. Whatever it doubts is left to the check of the whole branch.

/**
 * Whether nothing in a branch is an error, as `checkBranch` finds them; false where that is not certain without all of its turns.
 * What is new and sound is added to what is known. The coverage of the view is not looked at: no file can break it, but jpg's
 * own code alone, and each compaction is checked when it is made. So one of which no turn was known before is left to the check
 * of the whole where it has compactions. `read` = turns that were just found sound by themselves.
 */
export async function isSoundBranch(
  store: ConversationStore,
  tip: BranchTip,
  { known, read }: { readonly known: SoundFiles; readonly read: ReadonlyMap<string, SoundTurn> },
): Promise<boolean> {
  try {
    const files = await store.listTree(tip.commit);
    const sorted = sortBranchFiles(files);
    const oids = sorted.turns.flatMap((file) => file?.oid ?? []);
    const isKnown = oids.some((oid) => known.turns.has(oid));
    const isPlain = sorted.records.compactions.length === 0 && oids.some((oid) => read.has(oid));
    if ((!isKnown && !isPlain) || hasErrors(sorted.findings)) return false;
    addTurns(known, read, oids);
    if ((await checkHeader(store, tip, files)).length > 0) return false;
    const turns = await readSoundTurns(store, sorted, known);
    if (turns === null || !isChain(turns, sorted) || hasRepeatedIds(turns)) return false;
    const records = await readRecords(store, sorted);
    if (hasErrors(records.findings)) return false;
    const branch = { commit: tip.commit, files: sorted, turns, records, checked: known };
    return !hasErrors(await checkStoredAttachments(store, branch));
  } catch (error) {
    if (error instanceof JpgError && error.kind === "repository") return false;
    throw error;
  }
}

function addTurns({ turns }: SoundFiles, read: ReadonlyMap<string, SoundTurn>, oids: readonly string[]): void {
  for (const oid of oids) {
    const turn = read.get(oid);
    if (turn !== undefined && !turns.has(oid)) turns.set(oid, turn);
  }
}

function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => severity === "error");
}

/** The turns in order; null where one of those that are new is not sound. */
async function readSoundTurns(
  store: ConversationStore,
  { turns }: BranchFiles,
  known: SoundFiles,
): Promise<readonly SoundTurn[] | null> {
  const oids = turns.flatMap((file) => file?.oid ?? []);
  const unknown = [...oids.keys()].filter((at) => !known.turns.has(oids[at] ?? ""));
  let next = 0;
  for await (const bytes of store.readBlobs(unknown.map((at) => oids[at] ?? ""))) {
    const at = unknown[next++] ?? 0;
    const turn = soundTurn(checkTurnFile(decodeLines(bytes), turnPath(at)));
    if (turn === null) return null;
    known.turns.set(oids[at] ?? "", turn);
  }
  return oids.flatMap((oid) => known.turns.get(oid) ?? []);
}

function isChain(turns: readonly SoundTurn[], files: BranchFiles): boolean {
  return turns.every(({ previous }, at) => previous === null || previous === files.turns[at - 1]?.oid);
}

function hasRepeatedIds(turns: readonly SoundTurn[]): boolean {
  const seen = new Set<number>();
  for (const { ids } of turns)
    for (const id of ids) {
      if (seen.has(id)) return true;
      seen.add(id);
    }
  return false;
}

/** What a file may do where it stands. */
const RULES = {
  turn: "a turn only grows",
  piece: "of an agent's file the newest piece only grows, and no older one changes",
  record: "it is written once",
} as const;

/** Lists those that changed otherwise than they may. */
export async function checkRewritten(
  store: ConversationStore,
  rewritten: readonly RewrittenFile[],
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const file of rewritten) {
    const rule = ruleOf(file.path);
    if (rule === null || (rule !== "record" && (await isGrowth(store, file)))) continue;
    const { commit, path } = file;
    findings.push(
      createFinding("changed_in_place", {
        path,
        message: `commit ${commit.slice(0, 9)} changed it where it stood: ${RULES[rule]}`,
        hint: `\`jpg git show ${commit.slice(0, 9)} -- ${path}\` shows what; revert that commit if it was not meant`,
      }),
    );
  }
  return findings;
}

/** Null = the agent may write it anew: a session that is one document, and files beside a session. */
function ruleOf(path: string): keyof typeof RULES | null {
  if (turnIndexOfPath(path) !== null) return "turn";
  if (!path.startsWith("sources/")) return "record";
  return turnIndexOfSource(path) === null ? null : "piece";
}

async function isGrowth(store: ConversationStore, { commit, path, from, to }: RewrittenFile): Promise<boolean> {
  try {
    if (path.startsWith("sources/") && !(await isNewestPiece(store, `${commit}^`, path))) return false;
    const [before, after] = await collectBlobs(store, [from, to]);
    return (
      before !== undefined && after !== undefined && Buffer.compare(before, after.subarray(0, before.length)) === 0
    );
  } catch (error) {
    if (error instanceof JpgError) return true; // an object that is missing is named by git
    throw error;
  }
}

/** Whether a piece is the last of its session at a commit: they are in the order of their paths. */
async function isNewestPiece(store: ConversationStore, commit: string, path: string): Promise<boolean> {
  const files = await store.listTree(commit, { under: [sourceFileOf(path)] });
  return !files.some((file) => turnIndexOfSource(file.path) !== null && file.path > path);
}
