// Gives back the imported bytes of a session: the file as it was read, without those of another file that it continues.

import { conversationOf, forkOf } from "../../core/conversation/name.ts";
import { turnIndexOfSource } from "../../core/conversation/turn-file.ts";
import { userError } from "../../core/errors.ts";
import { SESSION_BEGINNING } from "../../formats/agent-format.ts";
import type { BaseRule } from "../../formats/session-source.ts";
import type { ConversationStore } from "../../store/store.ts";
import { type BranchTree, loadBranchTree } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { listPieces, listStoredSideFiles, readSource } from "../sessions/open-session.ts";
import { agents } from "../sessions/session-registry.ts";
import { createBufferSource } from "../sessions/sources.ts";

/** Which bytes of a branch's sessions. */
interface OriginalRequest {
  /** The word that named the branch: if it is the id of a session, that one is meant. */
  readonly word?: string;
  /** The session, if it is not the branch's own. */
  readonly session?: string;
  /** A side file of the session; absent = its own file. */
  readonly file?: string;
}

/**
 * Reads the imported bytes of a branch's session, or of one of its side files. Throws `no_source`, `unknown_session`,
 * `unknown_side_file`.
 */
export async function exportOriginal(
  workspace: Workspace,
  tree: BranchTree,
  { word, session, file }: OriginalRequest = {},
): Promise<AsyncIterable<Uint8Array>> {
  const { store } = workspace;
  const sessions = await listSourceSessions(workspace, tree);
  if (sessions.length === 0) {
    throw userError("no_source", `${tree.branch} was not imported from a file: it has no original.`, {
      hints: ["Export the full history: `jpg export --to jsonl --full-history`."],
    });
  }
  const own = await ownSession(workspace, tree, sessions);
  const wanted = session ?? (word !== undefined && sessions.includes(word) ? word : own);
  if (!sessions.includes(wanted)) {
    throw userError("unknown_session", `${tree.branch} holds no session ${wanted}; it holds: ${sessions.join(", ")}.`, {
      hints: ["`--session ID` names one."],
    });
  }
  const holder = wanted === own || tree.atTurn !== undefined ? tree : await branchOf(workspace, tree, wanted);
  return file === undefined ? readOwnBytes(store, holder, wanted) : readSideFile(workspace, holder, wanted, file);
}

/** The branch of a session; a fork of it holds only its beginning. The given branch where no other one is the session's. */
async function branchOf(workspace: Workspace, tree: BranchTree, session: string): Promise<BranchTree> {
  const { store } = workspace;
  for (const { name, commit } of await store.listBranches()) {
    if (name === tree.branch || conversationOf(name) !== conversationOf(tree.branch)) continue;
    const other = await loadBranchTree(store, name, commit);
    if ((await ownSession(workspace, other, await listSourceSessions(workspace, other))) === session) return other;
  }
  return tree;
}

/** The session, of those that a branch holds, that it was imported from: a fork's own, else that of the conversation. */
export async function ownSession({ store }: Workspace, tree: BranchTree, sessions: readonly string[]): Promise<string> {
  const usual = tree.header.source?.session ?? sessions[0] ?? "";
  if (sessions.length < 2 || forkOf(tree.branch) === "main") return usual;
  let newest = { session: usual, turn: -1 };
  for (const session of sessions) {
    const [piece] = await listPieces(store, tree.commit, session);
    const turn = turnIndexOfSource(piece?.path ?? "") ?? 0;
    if (piece === undefined || session === usual || turn <= newest.turn) continue;
    const source = createBufferSource(await readBeginningOf(store, tree, session));
    const descent = agents()
      .find((agent) => agent.detect(source))
      ?.descent?.(source, null, "");
    if (descent?.kind === "fork") newest = { session, turn };
  }
  return newest.session;
}

async function readBeginningOf(store: ConversationStore, tree: BranchTree, session: string): Promise<Buffer> {
  const read: Uint8Array[] = [];
  let size = 0;
  for await (const piece of readSource(store, tree, session)) {
    read.push(piece);
    size += piece.length;
    if (size >= SESSION_BEGINNING) break;
  }
  return Buffer.concat(read);
}

/** Reads a session's bytes; of one that continues another file, only its own. */
async function readOwnBytes(
  store: ConversationStore,
  tree: BranchTree,
  session: string,
): Promise<AsyncIterable<Uint8Array>> {
  const beginning = createBufferSource(await readBeginningOf(store, tree, session));
  const rule = agents().find((agent) => agent.files.base !== undefined && agent.detect(beginning))?.files.base;
  const pieces = readSource(store, tree, session);
  return rule === undefined ? pieces : ownBytesOf(rule, pieces);
}

async function* ownBytesOf(rule: BaseRule, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const read: Uint8Array[] = [];
  for await (const piece of pieces) read.push(piece);
  const source = createBufferSource(Buffer.concat(read));
  for (const { start, end } of rule.ownRanges(source)) yield source.slice(start, end);
}

async function readSideFile(
  { store }: Workspace,
  tree: BranchTree,
  session: string,
  file: string,
): Promise<AsyncIterable<Uint8Array>> {
  const stored = await listStoredSideFiles(store, tree.commit, session);
  const oid = stored.get(file);
  if (oid !== undefined) return store.readBlobs([oid]);
  const names = [...stored.keys()];
  throw userError(
    "unknown_side_file",
    `${tree.branch} has no side file ${file} of session ${session}; it has: ${names.join(", ") || "none"}.`,
    { hints: ["Leave --file out for the session's own file."] },
  );
}

/** The ids of the sessions that a branch was imported from. */
export async function listSourceSessions(workspace: Workspace, tree: BranchTree): Promise<string[]> {
  const files = await workspace.store.listTree(tree.commit, { under: ["sources"] });
  return [...new Set(files.map((file) => file.path.split("/")[1] ?? ""))];
}
