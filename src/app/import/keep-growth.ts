// Notes what the next import of a session's file will need to read only what was added.

import type { ImportedSession } from "../../formats/imported-session.ts";
import type { ConversationStore, WriteResult } from "../../store/store.ts";
import type { OpenSession } from "../sessions/open-session.ts";
import { digestOfTurns, type Growth, growthKey, writeGrowth } from "./growth-cache.ts";
import type { HeldSource } from "./import-decision.ts";
import type { ImportDecision } from "./import-plan.ts";
import type { TurnChain } from "./turn-chain.ts";
import type { TurnSequence } from "./turn-sequence.ts";

/** An import that was decided, as far as it says what its file and the store have in common afterwards. */
export interface DecidedImport {
  readonly open: OpenSession;
  readonly session: ImportedSession;
  readonly sequence: TurnSequence;
  readonly chain: TurnChain;
  readonly decision: ImportDecision;
  /** What it continues, where jpg exported the file. */
  readonly continued: object | null;
  /** Whether the branch's turns stay as an earlier version of jpg read them. */
  readonly keepsTurns: boolean;
  /** What the branches held of the file before. */
  readonly held: readonly Pick<HeldSource, "branch" | "comparison">[];
}

/** What will be kept of a session; it holds nothing of the file itself. */
export interface GrowthDraft {
  readonly key: string;
  readonly session: string;
  /** All but the object ids of the branches' folders; null where the file has to be read whole once it has grown. */
  readonly growth: Omit<Growth, "sources" | "others"> | null;
  /** Commits of the other branches that hold pieces of the session. */
  readonly others: readonly string[];
}

/** Drafts what is known of a file once its commits are written; null of files that are always read whole. */
export function draftGrowth(plan: DecidedImport): GrowthDraft | null {
  const { open, decision, held } = plan;
  if (
    open.source.byteLength < open.markedFrom ||
    open.document !== null ||
    open.allBranches ||
    open.again ||
    open.origin !== null ||
    open.descent?.kind === "fork"
  )
    return null;
  const branch = decision.kind === "same" || decision.kind === "extend" ? decision.candidate.branch : null;
  const others = held.filter(({ branch: { tree } }) => tree.branch !== branch);
  const isLongest = others.every(({ comparison }) => comparison === "longer" || comparison === "different");
  return {
    key: growthKey(open),
    session: open.sessionId,
    growth: isLongest ? describeFile(plan) : null,
    others: others.map((other) => other.branch.tree.commit),
  };
}

function describeFile(plan: DecidedImport): GrowthDraft["growth"] {
  const { open, session, sequence, chain, keepsTurns, continued } = plan;
  // What an earlier jpg read, or an export holds, has other turns than the file.
  if (keepsTurns || continued !== null || sequence.turnCount !== session.turnCount) return null;
  const mark = session.mark?.() ?? null;
  if (mark === null) return null;
  return {
    importer: session.importer,
    byteLength: open.source.byteLength,
    sha1: open.source.sha1(open.source.byteLength),
    turnCount: chain.turnCount,
    turns: digestOfTurns(chain.oids(chain.turnCount)),
    events: chain.known(mark.turn).map(({ events }) => events),
    mark,
  };
}

/** Keeps a draft, or forgets what was known, now that the branch is written. */
export async function keepGrowth(store: ConversationStore, draft: GrowthDraft, { commit }: WriteResult): Promise<void> {
  const { key, session, growth } = draft;
  const sources = growth === null ? null : await sourcesAt(store, commit, session);
  const others = await Promise.all(draft.others.map((other) => sourcesAt(store, other, session)));
  const isKnown = growth !== null && sources !== null;
  await writeGrowth(store, key, isKnown ? { ...growth, sources, others: others.filter((oid) => oid !== null) } : null);
}

/** The object id of a session's folder at a commit; null when there is none. */
export async function sourcesAt(store: ConversationStore, commit: string, session: string): Promise<string | null> {
  const folder = `sources/${session}`;
  return (await store.readEntries(commit, [folder])).get(folder) ?? null;
}
