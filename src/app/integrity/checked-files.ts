// Checks attachments, the view and commit messages of a branch, and remembers checked files so that forks of a conversation do not
// read them again.
import { attachmentsOf } from "../../core/conversation/attachment.ts";
import { type BranchFiles, createFinding, type Finding } from "../../core/conversation/branch-files.ts";
import { type CheckedRecords, checkAttachments, type StoredTurn } from "../../core/conversation/conversation-check.ts";
import { checkCoverage } from "../../core/conversation/coverage.ts";
import { project } from "../../core/conversation/projection.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import { sha256 } from "../conversation/runtime.ts";
import { collectBlobs } from "../conversation/tree.ts";
import { loadCompactions } from "../conversation/view.ts";
import { readCompactionLog } from "../look/log.ts";
import { parseReference } from "../sessions/sources.ts";

/**
 * Results for files that other forks of the conversation share. Turns by position and object id, attachments by name and object id.
 */
export interface CheckedFiles {
  readonly turns: Map<string, StoredTurn>;
  readonly attachments: Map<string, boolean>;
}

/** The content of a branch: files by kind, turns by position, records. */
interface ReadBranch {
  readonly files: BranchFiles;
  readonly turns: readonly (StoredTurn | undefined)[];
  readonly records: CheckedRecords;
}

/** Creates the results shared by the forks of one conversation. */
export function createCheckedFiles(): CheckedFiles {
  return { turns: new Map(), attachments: new Map() };
}

/** The attachments of a branch, and what names them. */
interface BranchAttachments extends Pick<ReadBranch, "files" | "records"> {
  readonly commit: string;
  readonly turns: readonly (Pick<StoredTurn, "attachments"> | undefined)[];
  readonly checked: Pick<CheckedFiles, "attachments">;
}

/** Compares the attachments of a branch with those named by its events, replacements, settings and sources. */
export async function checkStoredAttachments(
  store: ConversationStore,
  { commit, files, turns, records, checked }: BranchAttachments,
): Promise<readonly Finding[]> {
  const used = new Set([...turns.flatMap((turn) => [...(turn?.attachments ?? [])]), ...records.attachments]);
  for (const { compaction } of records.compactions)
    for (const event of compaction.replacement ?? []) for (const name of attachmentsOf(event)) used.add(name);
  // Only sources refer to moved lines of a session, so they are read only if such an attachment is unaccounted for.
  const lines = [...files.attachments.keys()].some((name) => name.endsWith(".jsonl") && !used.has(name));
  if (lines) for (const name of await sourceReferences(store, commit)) used.add(name);
  const damaged = await findDamaged(store, files, checked);
  return [...checkAttachments(new Set(files.attachments.keys()), used), ...damaged];
}

/** Lists the attachments to which overlong lines of a session were moved. */
async function sourceReferences(store: ConversationStore, commit: string): Promise<readonly string[]> {
  const sources = await store.listTree(commit, { under: ["sources"], sizes: true });
  const small = sources.filter(({ size = 0 }) => size <= 200).map(({ oid }) => oid);
  return (await collectBlobs(store, small)).flatMap((bytes) => parseReference(bytes) ?? []);
}

async function findDamaged(
  store: ConversationStore,
  { attachments }: BranchFiles,
  checked: BranchAttachments["checked"],
): Promise<readonly Finding[]> {
  const plain = [...attachments].filter(([, { special }]) => special === undefined);
  const unknown = plain.filter(([name, { oid }]) => !checked.attachments.has(`${name} ${oid}`));
  let next = 0;
  for await (const bytes of store.readBlobs(unknown.map(([, { oid }]) => oid))) {
    const [name = "", file] = unknown[next++] ?? [];
    checked.attachments.set(`${name} ${file?.oid}`, sha256(bytes) === name.slice(0, 64));
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

/**
 * Finds compactions that do not apply, and checks the coverage invariant. If a turn is missing or malformed there is no view to
 * check.
 */
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
      message: `it is not applied: ${reason}`,
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

/** Finds commits whose message does not match what they do, since anybody can write a message. */
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
