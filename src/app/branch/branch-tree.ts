// A branch at one commit: its small files parsed by name, its turns known by object id and not yet read.
import * as z from "zod/mini";
import type { Compaction } from "../../core/conversation/compaction.ts";
import { fieldsOf } from "../../core/conversation/event.ts";
import { shownTitle } from "../../core/conversation/marks.ts";
import { isConversationName } from "../../core/conversation/name.ts";
import { repositoryError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import type { BranchTip, ConversationStore, TreeFile } from "../../store/store.ts";
import { decodeText } from "./decoded-text.ts";
import { findMissingTurns, type MissingTurn } from "./missing-turns.ts";
import { listTurnOids } from "./turn-list.ts";

/** conversation.json: written once, by the root commit. */
export interface ConversationHeader {
  readonly format: number;
  readonly id: string;
  readonly title: string;
  readonly created_at: string;
  readonly source: ConversationSource | null;
}

/** What a conversation was imported from. */
export interface ConversationSource {
  readonly format: string;
  readonly session: string;
  readonly importer: number;
  /** The session that this one comes from; absent = it began by itself. */
  readonly parent?: ParentSession;
}

/** A session that another one comes from, by its own ids: its conversation may be imported later, or never. */
export interface ParentSession {
  /** `agent`: the other began it to have something done. `fork`: it goes on from a copy of the other's beginning. */
  readonly kind: "agent" | "fork";
  readonly session: string;
  /** The other's call that began it. */
  readonly call?: string;
  /** What the other's results call it; absent = by its session's id. */
  readonly name?: string;
}

/** What is read as a header where it did not come from a branch. */
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
  /** Turns among them that the commit itself has no more; absent = none. */
  readonly missing?: readonly MissingTurn[];
  readonly compactions: readonly TreeFile[];
  readonly configs: readonly TreeFile[];
  readonly metas: readonly TreeFile[];
  /** Compactions that count as if they were committed: a dry run plans a second step on what the first would leave. */
  readonly assumed?: readonly Compaction[];
  /** Only the turns up to this one, 0-based, of those that the commit holds, and what counts for them; absent = all. */
  readonly atTurn?: number;
  /** What named the commit, e.g. `HEAD~1`, where it is not the branch as it stands: such a tree is read, never built on. */
  readonly revision?: string;
}

/** The newest format version that this jpg reads and writes. */
export const FORMAT_VERSION = 1;

/** What stands in `.gitattributes`, written once by the root commit. */
export const BRANCH_ATTRIBUTES = "* -text\ncompactions/** diff=jpg\n";

/** Everything but the turns: few and small. */
const SMALL_FILES = ["conversation.json", "compactions", "config", "meta"] as const;

/** Loads what a branch holds at a commit. Throws `not_a_conversation`, `newer_format`, `turn_missing`. */
export async function loadBranchTree(store: ConversationStore, branch: string, commit: string): Promise<BranchTree> {
  const [listed, turnOids] = await Promise.all([
    store.listTree(commit, { under: SMALL_FILES }),
    listTurnOids(store, commit),
  ]);
  const files = listed.filter(isPlainFile);
  const under = (folder: string): TreeFile[] => files.filter((file) => file.path.startsWith(`${folder}/`));
  await store.partial?.bring(files.map(({ oid }) => oid));
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
    ...(await wholeTurns(store, { branch, commit }, turnOids)),
    compactions: under("compactions"),
    configs: under("config"),
    metas: under("meta"),
  };
}

/** In a partial clone, gets in one request what loading each of these branches reads. */
export async function bringBranches(store: ConversationStore, tips: readonly BranchTip[]): Promise<void> {
  if (store.partial === null) return;
  const files: string[] = [];
  for (const { commit } of tips)
    appendAll(
      files,
      (await store.listTree(commit, { under: SMALL_FILES })).filter(isPlainFile).map(({ oid }) => oid),
    );
  await store.partial.bring(files);
}

/** Loads a branch where it stands now; null when there is none. */
export async function loadTip(store: ConversationStore, branch: string): Promise<BranchTree | null> {
  const tip = await store.readBranch(branch);
  return tip === null ? null : loadBranchTree(store, branch, tip);
}

/** Parses conversation.json; refuses a newer format, naming both versions. */
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

/** The header, which is written once, as it was before something that is no file took its place. Throws `damaged_header`. */
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

/** What is wrong with a conversation.json that git stores as something else. */
export const SPECIAL_HEADER = "it is a link or another repository, not a file";

/** The error of a conversation.json that says nothing. */
export function damagedHeader(branch: string, reason: string, cause?: unknown): Error {
  return repositoryError("damaged_header", `conversation.json of ${branch} cannot be read: ${reason}.`, {
    hints: ["`jpg git log -- conversation.json` shows who changed it; it is written once and never edited."],
    cause,
  });
}

/** What is put in place of a file, a link or another repository, is none of jpg's: `jpg fsck` names it. */
function isPlainFile({ special }: TreeFile): boolean {
  return special === undefined;
}

/** The session that a conversation's comes from; null when it began by itself. What a header says is anybody's. */
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
 * Turns without holes. What stands behind the last one, but is no file and never was, is no turn. Throws `turn_missing` where one
 * is nowhere to be found.
 */
async function wholeTurns(
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
