// Checks one branch of a conversation: its files, each by itself and against each other, and the view that they make. What is
// read of a turn is kept for the other forks of the conversation, so that each file is read once.
import { appendAll } from "../../core/append-all.ts";
import { checkCoverage } from "../../core/coverage/coverage.ts";
import { JpgError } from "../../core/errors.ts";
import { attachmentsOf } from "../../core/event/attachment.ts";
import { turnPath } from "../../core/event/turn-file.ts";
import {
  type BranchFile,
  type BranchFiles,
  RECORD_FOLDERS,
  sortBranchFiles,
} from "../../core/integrity/branch-files.ts";
import {
  checkAttachments,
  checkCompactions,
  checkTurns,
  type StoredTurn,
} from "../../core/integrity/conversation-check.ts";
import { createFinding, type Finding } from "../../core/integrity/finding.ts";
import { type CheckedRecords, checkRecords } from "../../core/integrity/record-check.ts";
import { checkTurnFile } from "../../core/integrity/turn-check.ts";
import { project } from "../../core/projection/projection.ts";
import type { BranchTip, ConversationStore } from "../../store/conversation-store.ts";
import { BRANCH_ATTRIBUTES, collectBlobs, parseHeader } from "../branch/branch-tree.ts";
import { loadCompactions } from "../branch/load-view.ts";
import { findSplice } from "../branch/spliced-turns.ts";
import { decodeLines } from "../branch/turn-bytes.ts";
import { readCompactionLog } from "../inspect/log.ts";
import { parseReference } from "../sessions/source-pieces.ts";
import { sha256 } from "../workspace/object-id.ts";

/** What is known of files that other forks of the conversation hold, too. By position and object id, and by object id. */
export interface CheckedFiles {
  readonly turns: Map<string, StoredTurn>;
  readonly attachments: Map<string, boolean>;
  /** Bytes read so far. */
  bytes: number;
}

/** What a branch holds. */
export interface BranchVerdict {
  readonly turns: number;
  readonly findings: readonly Finding[];
}

/** Creates the memory for the forks of one conversation. */
export function createCheckedFiles(): CheckedFiles {
  return { turns: new Map(), attachments: new Map(), bytes: 0 };
}

/** Checks a branch at a commit. An object that cannot be read ends the check of its branch, and is a finding. */
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
    if (!(error instanceof JpgError) || error.kind !== "repository") throw error;
    const hint = error.hints[0] ?? "bring the object back from a copy or a remote of the store";
    findings.push(createFinding("object_damaged", { message: error.message, hint }));
  }
  return { turns, findings };
}

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
  const [bytes] = await collectBlobs(store, [file.oid]);
  try {
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
  const turns = await readTurns(store, files, checked);
  const records = await readRecords(store, files);
  return [
    ...(await checkAttributes(store, commit)),
    ...turns.flatMap((turn) => turn?.findings ?? []),
    ...(await withSides(store, { name, commit }, checkTurns(turns), turns)),
    ...records.findings,
    ...checkCompactions(records.compactions, turns),
    ...(await checkReading(store, { name, commit }, { files, turns, records })),
    ...(await checkPayloads(store, { commit, files, turns, records, checked })),
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
  files: BranchFiles,
  checked: CheckedFiles,
): Promise<readonly (StoredTurn | undefined)[]> {
  const key = (index: number): string => `${index}:${files.turns[index]?.oid}`;
  const isReadable = (file: BranchFile | undefined): boolean => file !== undefined && file.special !== "repository";
  const unknown = [...files.turns.keys()].filter((at) => isReadable(files.turns[at]) && !checked.turns.has(key(at)));
  let next = 0;
  for await (const bytes of store.readBlobs(unknown.map((index) => files.turns[index]?.oid ?? ""))) {
    const index = unknown[next++] ?? 0;
    const turn = checkTurnFile(decodeLines(bytes), turnPath(index));
    checked.turns.set(key(index), { ...turn, oid: files.turns[index]?.oid ?? "" });
    checked.bytes += bytes.length;
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

interface ReadBranch {
  readonly files: BranchFiles;
  readonly turns: readonly (StoredTurn | undefined)[];
  readonly records: CheckedRecords;
}

/** Compactions that do not apply, and the coverage invariant. Where a turn is missing or malformed there is no view. */
async function checkReading(
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
      hint: `\`jpg show ${compaction.id}\` shows it; \`jpg revert ${compaction.id}\` takes it away`,
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
        hint: `\`jpg show ${compaction}\` shows what the model reads; \`jpg revert ${compaction}\` takes it back`,
      }),
    );
}

async function checkPayloads(
  store: ConversationStore,
  { commit, files, turns, records, checked }: ReadBranch & { readonly commit: string; readonly checked: CheckedFiles },
): Promise<readonly Finding[]> {
  const used = new Set(turns.flatMap((turn) => [...(turn?.attachments ?? [])]));
  for (const { compaction } of records.compactions)
    for (const event of compaction.replacement ?? []) for (const name of attachmentsOf(event)) used.add(name);
  // Only sources refer to lines of a session: without any that is not accounted for, no source has to be read.
  const lines = [...files.attachments.keys()].some((name) => name.endsWith(".jsonl") && !used.has(name));
  if (lines) for (const name of await sourceReferences(store, commit)) used.add(name);
  const damaged = await findDamaged(store, files, checked);
  return [...checkAttachments(new Set(files.attachments.keys()), used), ...damaged];
}

/** Names of attachments that overlong lines of the agent were moved to. */
async function sourceReferences(store: ConversationStore, commit: string): Promise<readonly string[]> {
  const sources = await store.listTree(commit, { under: ["sources"], sizes: true });
  const small = sources.filter(({ size = 0 }) => size <= 200).map(({ oid }) => oid);
  return (await collectBlobs(store, small)).flatMap((bytes) => parseReference(bytes) ?? []);
}

async function findDamaged(
  store: ConversationStore,
  { attachments }: BranchFiles,
  checked: CheckedFiles,
): Promise<readonly Finding[]> {
  const plain = [...attachments].filter(([, { special }]) => special === undefined);
  const unknown = plain.filter(([name, { oid }]) => !checked.attachments.has(`${name} ${oid}`));
  let next = 0;
  for await (const bytes of store.readBlobs(unknown.map(([, { oid }]) => oid))) {
    const [name = "", file] = unknown[next++] ?? [];
    checked.attachments.set(`${name} ${file?.oid}`, sha256(bytes) === name.slice(0, 64));
    checked.bytes += bytes.length;
  }
  const damaged = plain.filter(([name, { oid }]) => checked.attachments.get(`${name} ${oid}`) === false);
  return damaged.map(([, { path }]) =>
    createFinding("attachment_damaged", {
      path,
      message: "its content is not what its name says (SHA-256)",
      hint: `\`jpg git log -p -- ${path}\` shows who changed it; revert that commit`,
    }),
  );
}
