// What the store has of the session files that agents keep: whether one is new, has grown, or is nothing that an import would bring in.

import { conversationOf } from "../../core/conversation/name.ts";
import { JpgError } from "../../core/errors.ts";
import type { BranchTip } from "../../store/store.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { importSuffix } from "../names/find-session.ts";
import { type OpenSession, openSession } from "../sessions/open-session.ts";
import type { SessionFile } from "../sessions/session-files.ts";
import { takeFingerprint } from "../sessions/side-files.ts";
import { readContinuedSession } from "./continued-session.ts";
import { findSessionBranches } from "./import-place.ts";
import { readSourceCache } from "./import-report.ts";

/**
 * `new` = the store has nothing of it; `grown` = it has more than the store; `kept` = the store has all of it; `written` = jpg wrote
 * the file to resume a conversation, and nobody continued it; `empty` = nothing was asked in it yet.
 */
export interface SessionState {
  readonly state: "new" | "grown" | "kept" | "written" | "empty";
  /** A branch that has it; null = none. */
  readonly branch: string | null;
}

const NEW: SessionState = { state: "new", branch: null };
const EMPTY: SessionState = { state: "empty", branch: null };

/** Bytes: a session in which nothing was asked is no longer, since agents make such files at their start. */
const MOST_EMPTY_BYTES = 256 * 1024;

/** Returns a function that compares files with the store as it is now. Files that have not changed since their import are not read. */
export async function createSessionStates(workspace: Workspace): Promise<(file: SessionFile) => Promise<SessionState>> {
  const { store, runtime } = workspace;
  const remembered = readSourceCache(store);
  const tips = await store.listBranches();
  const conversations = new Map(tips.map(({ name }) => [conversationOf(name), name]));
  const removed = new Set(((await store.trash?.list()) ?? []).map(({ branch }) => conversationOf(branch)));
  return async (file) => {
    const known = remembered.get(file.path);
    const fingerprint = known === undefined ? null : await takeFingerprint(file, runtime.now);
    const branch = known === undefined ? undefined : conversations.get(conversationOf(known.branch));
    if (branch !== undefined && fingerprint?.digest === known?.fingerprint) return { state: "kept", branch };
    try {
      return await compare(workspace, { tips, removed }, await openSession(runtime, file, { allBranches: false }));
    } catch (error) {
      return stateByError(error);
    }
  };
}

/** Throws what is no error of a file. */
function stateByError(error: unknown): SessionState {
  if (!(error instanceof JpgError)) throw error;
  // Of any other, the import says what is wrong with it.
  return error.code === "empty_session" ? EMPTY : NEW;
}

interface StoreContent {
  readonly tips: readonly BranchTip[];
  /** Conversations in the trash. */
  readonly removed: ReadonlySet<string>;
}

async function compare(
  workspace: Workspace,
  { tips, removed }: StoreContent,
  open: OpenSession,
): Promise<SessionState> {
  const { format, origin, sessionId: session, source } = open;
  if (origin !== null) {
    const continued = await readContinuedSession(workspace, open, format.read(source));
    if (continued !== null)
      return { state: continued.addsNothing ? "written" : "grown", branch: continued.tree.branch };
    if (removed.has(origin.conversation)) return { state: "written", branch: null };
  }
  const names = { session, suffix: importSuffix(format.name, session), continues: origin?.conversation };
  const [first, ...others] = await findSessionBranches(workspace.store, tips, names);
  if (first === undefined) return isEmpty(open) ? EMPTY : NEW;
  for (const { tree, pieces } of [first, ...others]) {
    const bytes = pieces.reduce((sum, { size = 0 }) => sum + size, 0);
    if (bytes >= source.byteLength) return { state: "kept", branch: tree.branch };
  }
  return { state: "grown", branch: first.tree.branch };
}

function isEmpty({ format, source }: OpenSession): boolean {
  return source.byteLength <= MOST_EMPTY_BYTES && format.read(source).turnCount === 0;
}
