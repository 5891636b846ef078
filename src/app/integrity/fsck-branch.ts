// Checks one branch of a conversation: each file by itself and against the others, and the view that they make. Turns are cached
// for the other forks of the conversation, so that each file is read once.
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
import { findSplice } from "../conversation/spliced-turns.ts";
import { BRANCH_ATTRIBUTES, collectBlobs, damagedHeader, parseHeader, SPECIAL_HEADER } from "../conversation/tree.ts";
import { decodeLines, fetchMissingTurns } from "../conversation/turns.ts";
import { type CheckedFiles, checkStoredAttachments, checkView } from "./checked-files.ts";

interface BranchVerdict {
  readonly turns: number;
  readonly findings: readonly Finding[];
}

/**
 * Checks a branch at a commit. An unreadable object ends the check of its branch and is a finding. Throws `turns_elsewhere`,
 * `objects_elsewhere` in a partial clone: a missing object there is no damage.
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
    // This jpg cannot check what a newer one wrote, or what is not a conversation.
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

/** Checks conversation.json; a finding ends the check of its branch. */
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
    ...(await withSideHints(store, { name, commit }, checkTurns(turns), turns)),
    ...records.findings,
    ...checkCompactions(records.compactions, turns),
    ...(await checkView(store, { name, commit }, { files, turns, records })),
    ...(await checkStoredAttachments(store, { commit, files, turns, records, checked })),
  ];
}

/** Adds to spliced turns the hints on each side that other commands give. */
async function withSideHints(
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
  await fetchMissingTurns(store, { branch, turnOids: files.turns.map((file) => file?.oid ?? "") }, unknown);
  for await (const bytes of store.readBlobs(unknown.map((index) => files.turns[index]?.oid ?? ""))) {
    const index = unknown[next++] ?? 0;
    const turn = checkTurnFile(decodeLines(bytes), turnPath(index));
    checked.turns.set(key(index), { ...turn, oid: files.turns[index]?.oid ?? "" });
  }
  return files.turns.map((_, index) => checked.turns.get(key(index)));
}

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

/** How a file may change. */
const RULES = {
  turn: "a turn only grows",
  piece: "of an agent's file the newest piece only grows, and no older one changes",
  record: "it is written once",
} as const;

/** Lists the files that changed in a way that their kind may not. */
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
        message: `commit ${commit.slice(0, 9)} changed it in place: ${RULES[rule]}`,
        hint: `\`jpg git show ${commit.slice(0, 9)} -- ${path}\` shows what; revert that commit if it was not meant`,
      }),
    );
  }
  return findings;
}

/** Null = the agent may rewrite it: a session that is one document, and files next to a session. */
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
    if (error instanceof JpgError) return true; // git reports a missing object
    throw error;
  }
}

/** Returns whether a piece is the last of its session at a commit; pieces are ordered by path. */
async function isNewestPiece(store: ConversationStore, commit: string, path: string): Promise<boolean> {
  const files = await store.listTree(commit, { under: [sourceFileOf(path)] });
  return !files.some((file) => turnIndexOfSource(file.path) !== null && file.path > path);
}
