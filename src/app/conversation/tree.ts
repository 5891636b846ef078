// Loads a branch at one commit: its small files by name, and its turns by object id, not read yet.
import { constants } from "node:buffer";
import * as z from "zod/mini";
import type { ParentSession } from "../../core/conversation/branch-files.ts";
import type { Compaction } from "../../core/conversation/compaction.ts";
import { parseCompactionLine, parseRecordLine } from "../../core/conversation/compaction-line.ts";
import { type Fields, fieldsOf } from "../../core/conversation/event.ts";
import { shownTitle } from "../../core/conversation/marks.ts";
import { isConversationName } from "../../core/conversation/name.ts";
import { TURNS_PER_DIRECTORY, turnDirectory, turnIndexOfPath } from "../../core/conversation/turn-file.ts";
import { JpgError, repositoryError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import type { BranchTip, ConversationStore, TreeFile } from "../../store/store.ts";
import { findMissingTurns, type MissingTurn } from "./missing-turns.ts";
import { cacheAtTip, cachedAt, readTip } from "./tip-cache.ts";
import type { Workspace } from "./workspace.ts";

/** conversation.json: written once, by the root commit. */
export interface ConversationHeader {
  readonly format: number;
  readonly id: string;
  readonly title: string;
  readonly created_at: string;
  readonly source: ConversationSource | null;
}

export interface ConversationSource {
  readonly format: string;
  readonly session: string;
  readonly importer: number;
  /** Parent session; absent = it began by itself. */
  readonly parent?: ParentSession;
}

/** Validates a header that does not come from a branch. */
export const conversationHeader: z.ZodMiniType<ConversationHeader> = z.looseObject({
  format: z.number(),
  id: z.string(),
  title: z.string(),
  created_at: z.string(),
  source: z.nullable(z.looseObject({ format: z.string(), session: z.string(), importer: z.number() })),
});

export interface BranchTree {
  readonly branch: string;
  readonly commit: string;
  readonly header: ConversationHeader;
  /** Object id of each turn file; index = turn position. */
  readonly turnOids: readonly string[];
  /** Turns among them that this commit lost; absent = none. */
  readonly missing?: readonly MissingTurn[];
  readonly compactions: readonly TreeFile[];
  readonly configs: readonly TreeFile[];
  readonly metas: readonly TreeFile[];
  /** Compactions that count as committed: a dry run plans its second step on them. */
  readonly assumed?: readonly Compaction[];
  /** Only turns up to this one count, 0-based, and the records that apply to them; absent = all. */
  readonly atTurn?: number;
  /** The word that named the commit, e.g. `HEAD~1`, if it is not the branch's tip: such a tree is only read. */
  readonly revision?: string;
}

/** Newest format version that this jpg reads and writes. */
export const FORMAT_VERSION = 1;

/** Content of `.gitattributes`, written once by the root commit. */
export const BRANCH_ATTRIBUTES = "* -text\ncompactions/** diff=jpg\n";

/** Everything but the turns. */
const SMALL_FILES = ["conversation.json", "compactions", "config", "meta"] as const;

/** Loads a branch at a commit. Throws `not_a_conversation`, `newer_format`, `turn_missing`. */
export async function loadBranchTree(store: ConversationStore, branch: string, commit: string): Promise<BranchTree> {
  const [listed, turnOids] = await Promise.all([
    store.listTree(commit, { under: SMALL_FILES }),
    listTipTurns(store, { branch, commit }),
  ]);
  const files = listed.filter(isPlainFile);
  const under = (folder: string): TreeFile[] => files.filter((file) => file.path.startsWith(`${folder}/`));
  await store.partial?.fetch(files.map(({ oid }) => oid));
  const header =
    files.find(({ path }) => path === HEADER) ??
    (listed.some(({ path }) => path === HEADER) ? await formerHeader(store, { branch, commit }) : undefined);
  if (header === undefined) {
    throw repositoryError("not_a_conversation", `${branch} at ${commit.slice(0, 9)} holds no conversation.json.`, {
      hints: ["`jpg ls` lists the conversations of this store."],
    });
  }
  const [bytes] = await collectBlobs(store, [header.oid]);
  return {
    branch,
    commit,
    header: parseHeader(decodeText(bytes), branch),
    ...(await fillMissingTurns(store, { branch, commit }, turnOids)),
    compactions: under("compactions"),
    configs: under("config"),
    metas: under("meta"),
  };
}

/** In a partial clone, fetches in one request the files that loading these branches reads. */
export async function prefetchBranches(store: ConversationStore, tips: readonly BranchTip[]): Promise<void> {
  if (store.partial === null) return;
  const files: string[] = [];
  for (const { commit } of tips)
    appendAll(
      files,
      (await store.listTree(commit, { under: SMALL_FILES })).filter(isPlainFile).map(({ oid }) => oid),
    );
  await store.partial.fetch(files);
}

/** Loads a branch at its tip; null when there is no such branch. */
export async function loadTip(store: ConversationStore, branch: string): Promise<BranchTree | null> {
  const tip = await store.readBranch(branch);
  return tip === null ? null : loadBranchTree(store, branch, tip);
}

/** Parses conversation.json. Throws `newer_format`, naming both versions, and `damaged_header`. */
export function parseHeader(text: string, branch: string): ConversationHeader {
  const damaged = (reason: string, cause?: unknown): Error => damagedHeader(branch, reason, cause);
  let value: Partial<ConversationHeader> | null;
  try {
    value = JSON.parse(text) as Partial<ConversationHeader> | null;
  } catch (error) {
    throw damaged("it is not JSON", error);
  }
  if (value === null || typeof value !== "object") throw damaged("it is not a JSON object");
  if (typeof value.format === "number" && value.format > FORMAT_VERSION) {
    throw repositoryError(
      "newer_format",
      `${branch} has format version ${value.format}; this jpg reads up to ${FORMAT_VERSION}.`,
      {
        hints: ["Update jpg: a newer version wrote this conversation."],
      },
    );
  }
  if (typeof value.format !== "number" || typeof value.id !== "string") throw damaged("format or id is missing");
  if (!isConversationName(value.id))
    throw damaged(`its id ${JSON.stringify(value.id)} is not a name of a conversation`);
  return {
    format: value.format,
    id: value.id,
    title: shownTitle(typeof value.title === "string" ? value.title : value.id),
    created_at: typeof value.created_at === "string" ? value.created_at : "",
    source: value.source ?? null,
  };
}

const HEADER = "conversation.json";

/** Finds the last version of the header before a link or submodule replaced it. Throws `damaged_header`. */
async function formerHeader(
  store: ConversationStore,
  { branch, commit }: Pick<BranchTree, "branch" | "commit">,
): Promise<TreeFile> {
  for (const { parents } of await store.readLog({ from: commit, paths: [HEADER] }))
    for (const parent of parents) {
      const file = (await store.listTree(parent, { under: [HEADER] })).find(isPlainFile);
      if (file !== undefined) return file;
    }
  throw damagedHeader(branch, SPECIAL_HEADER);
}

/** The reason for a conversation.json that is not a file. */
export const SPECIAL_HEADER = "it is a link or another repository, not a file";

/** Creates the error for an unusable conversation.json. */
export function damagedHeader(branch: string, reason: string, cause?: unknown): Error {
  return repositoryError("damaged_header", `conversation.json of ${branch} cannot be read: ${reason}.`, {
    hints: ["`jpg git log -- conversation.json` shows who changed it; it is written once and never edited."],
    cause,
  });
}

/** A link or submodule in place of a file is not jpg's; `jpg fsck` reports it. */
function isPlainFile({ special }: TreeFile): boolean {
  return special === undefined;
}

/**
 * Returns the parent session of a conversation; null when it began by itself. Validated, since anybody may have written the header.
 */
export function parentSession({ source }: ConversationHeader): ParentSession | null {
  const { kind, session, call, name } = fieldsOf(source?.parent);
  if ((kind !== "agent" && kind !== "fork") || typeof session !== "string") return null;
  return { kind, session, ...(typeof call === "string" && { call }), ...(typeof name === "string" && { name }) };
}

/** Reads blobs whole, in order. */
export async function collectBlobs(store: ConversationStore, oids: readonly string[]): Promise<Uint8Array[]> {
  const blobs: Uint8Array[] = [];
  for await (const bytes of store.readBlobs(oids)) blobs.push(bytes);
  return blobs;
}

/**
 * Fills holes with turns found elsewhere in history. After the last turn, what is no file and never was one is ignored. Throws
 * `turn_missing` if a turn is nowhere.
 */
async function fillMissingTurns(
  store: ConversationStore,
  { branch, commit }: Pick<BranchTree, "branch" | "commit">,
  oids: readonly (string | undefined)[],
): Promise<Pick<BranchTree, "turnOids" | "missing">> {
  if (!oids.includes(undefined)) return { turnOids: oids as readonly string[] };
  const missing = await findMissingTurns(store, { branch, commit }, oids);
  const found = new Map(missing.map(({ turn, oid }) => [turn, oid]));
  const filled = oids.map((oid, turn) => oid ?? found.get(turn));
  const turnOids = filled.slice(0, filled.findLastIndex((oid) => oid !== undefined) + 1);
  const hole = turnOids.indexOf(undefined);
  if (hole < 0) return { turnOids: turnOids as readonly string[], ...(missing.length > 0 && { missing }) };
  throw repositoryError("turn_missing", `Turn ${hole} of ${branch} is missing: turns are numbered without gaps.`, {
    hints: ["`jpg git log --diff-filter=DT -- turns` shows the commit that removed it; revert that commit."],
  });
}

/** Longest possible string, bytes: half a GB. jpg writes no one-line file a hundredth as long. */
export const LONGEST_TEXT: number = constants.MAX_STRING_LENGTH;

/** Decodes a file's bytes. Throws `text_too_long`. */
export function decodeText(bytes: Uint8Array | undefined, longest: number = LONGEST_TEXT): string {
  if (bytes !== undefined && bytes.length > longest) throw textTooLong(bytes.length, longest);
  return new TextDecoder().decode(bytes);
}

/** Creates the error for a file, or a line of one, that is too long to be meant. */
export function textTooLong(bytes: number, longest: number = LONGEST_TEXT): JpgError {
  return repositoryError(
    "text_too_long",
    `A stored text of ${bytes} bytes is too long to read: the limit is ${longest} bytes.`,
    {
      hints: ["jpg writes no text that long. `jpg rm ID` removes the conversation; then import or pull it again."],
    },
  );
}

// Object ids of turn files. Those of a long branch are cached, because its tree is a long chain of deltas.

/** Directories looked up at first; then each time as many as so far. */
const FIRST_DIRECTORIES = 64;

/** Like `listTurnOids`, from the cache if the branch's tip is cached. */
async function listTipTurns(
  store: ConversationStore,
  { branch, commit }: { readonly branch: string; readonly commit: string },
): Promise<readonly (string | undefined)[]> {
  const kept = cachedAt(readTip(store, branch).turns, commit);
  if (kept !== undefined) return kept.match(/.{40}/g) ?? [];
  const turns = await listTurnOids(store, commit);
  if (turns.length > TURNS_PER_DIRECTORY && !turns.includes(undefined))
    await cacheAtTip(store, { branch, commit }, "turns", turns.join(""));
  return turns;
}

/**
 * Lists the object ids of a commit's turn files by position; `undefined` where a turn is missing, or a link or submodule replaces
 * it.
 */
export async function listTurnOids(store: ConversationStore, commit: string): Promise<(string | undefined)[]> {
  const directories = await findDirectories(store, commit);
  const turns: (string | undefined)[] = [];
  const present = [...directories.keys()].filter((directory) => directories[directory] !== undefined);
  for (const [index, turn] of await listDirectories(store, commit, present)) turns[index] = turn;
  return Array.from(turns); // holes become values
}

/** Finds the object ids of the directories under turns/ by number, with holes where one is missing. */
async function findDirectories(store: ConversationStore, commit: string): Promise<(string | undefined)[]> {
  const found: (string | undefined)[] = [];
  for (let from = 0, count = FIRST_DIRECTORIES; ; from += count, count = from) {
    const paths = Array.from({ length: count }, (_, index) => turnDirectory(from + index));
    const entries = await store.readEntries(commit, paths);
    for (const [index, path] of paths.entries()) {
      const oid = entries.get(path);
      if (oid !== undefined) found[from + index] = oid;
    }
    if (found.length < from + count) return found;
  }
}

/** Lists turns by position; undefined = not a file. */
async function listDirectories(
  store: ConversationStore,
  commit: string,
  directories: readonly number[],
): Promise<readonly (readonly [index: number, oid: string | undefined])[]> {
  if (directories.length === 0) return [];
  const files = await store.listTree(commit, { under: directories.map(turnDirectory) });
  return files.flatMap(({ path, oid, special }) => {
    const index = turnIndexOfPath(path);
    return index === null ? [] : [[index, special === undefined ? oid : undefined] as const];
  });
}

// Reads the small records of a branch (compactions, titles, pins). A damaged file is skipped and named, so that it affects nothing
// else. A record that needs a newer jpg refuses the branch.

/** A file that cannot be read as a record, and why. */
export interface DamagedRecord {
  readonly path: string;
  readonly reason: string;
}

export interface StoredRecords<Kind> {
  readonly records: readonly { readonly path: string; readonly record: Kind }[];
  readonly damaged: readonly DamagedRecord[];
}

/** Reads the live compactions, in the order of their files. Throws `newer_record`. */
export function readCompactions(
  store: ConversationStore,
  tree: Pick<BranchTree, "compactions">,
): Promise<StoredRecords<Compaction>> {
  return readRecords(store, tree.compactions, parseCompactionLine);
}

/** Reads the records under meta/, in the order of their files. */
export function readMetaRecords(store: ConversationStore, tree: BranchTree): Promise<StoredRecords<Fields>> {
  return readRecords(store, tree.metas, parseRecordLine);
}

/** Warns about each damaged record of a branch; returns how many there are. */
export async function warnOfDamage({ store, warn }: Workspace, tree: BranchTree): Promise<number> {
  const read = await Promise.all([readCompactions(store, tree), readMetaRecords(store, tree)]);
  const damaged = read.flatMap((records) => records.damaged);
  for (const { path, reason } of damaged) {
    warn(
      `${path} on ${tree.branch} is damaged and not applied: ${reason}. \`jpg git log -p -- ${path}\` shows its history.`,
    );
  }
  return damaged.length;
}

async function readRecords<Kind>(
  store: ConversationStore,
  files: readonly TreeFile[],
  parse: (text: string, path: string) => Kind,
): Promise<StoredRecords<Kind>> {
  const blobs = await collectBlobs(
    store,
    files.map((file) => file.oid),
  );
  const records: { path: string; record: Kind }[] = [];
  const damaged: DamagedRecord[] = [];
  for (const [index, { path }] of files.entries()) {
    try {
      records.push({ path, record: parse(decodeText(blobs[index]), path) });
    } catch (error) {
      damaged.push({ path, reason: reasonOf(error) });
    }
  }
  return { records, damaged };
}

function reasonOf(error: unknown): string {
  if (error instanceof JpgError && DAMAGED.has(error.code)) return String(error.data["reason"]);
  throw error;
}

const DAMAGED: ReadonlySet<string> = new Set(["malformed_compaction", "malformed_record"]);
