// A session that an agent began as a copy of another one: as far as it says the same as that one's conversation, it is a fork of
// it. Copies have new ids and times, so their content is compared.
import type { Compaction } from "../../core/conversation/compaction.ts";
import type { Event } from "../../core/conversation/event.ts";
import { branchName, conversationOf } from "../../core/conversation/name.ts";
import type { AbandonedBranch, ImportedSession } from "../../formats/imported-session.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import { startOfTurns } from "../conversation/fork-start.ts";
import { type BranchTree, loadBranchTree } from "../conversation/tree.ts";
import { inlineEvents } from "../conversation/turns.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { findSession } from "../names/find-session.ts";
import { countLines, type OpenSession } from "../sessions/open-session.ts";
import { readForkedAgent } from "./forked-agent.ts";
import {
  abandonedSequence,
  createTurnChain,
  makeCommits,
  type TurnChain,
  type TurnSequence,
  wholeSequence,
} from "./import-commits.ts";
import { commonTurns, readKnownRecords } from "./import-place.ts";
import { countStoredEvents } from "./import-report.ts";
import {
  compactionBefore,
  contentOf,
  everyImportedCompaction,
  type ForkedSession,
  type ForkFamily,
  findOwn,
  findShared,
  isSaid,
  originalId,
  type SharedTurns,
  shiftTurns,
  storedTurn,
} from "./shared-turns.ts";

/**
 * The conversation of the session that this one was forked off; undefined where it is no fork, or the store does not have the
 * other.
 */
export async function conversationForkedOff(
  store: ConversationStore,
  tips: readonly BranchTip[],
  { descent, origin, format, sessionId }: Pick<OpenSession, "descent" | "origin" | "format" | "sessionId">,
): Promise<string | undefined> {
  if (descent === null || origin !== null || (descent.kind === "agent" && descent.at === undefined)) return undefined;
  // First its own branch: the original may have been deleted since.
  for (const session of [sessionId, ...descent.sessions]) {
    const tip = await findSession(store, tips, { format: format.name, session });
    if (tip !== null) return conversationOf(tip.name);
  }
  return undefined;
}

/** Reads a session as a fork of another conversation; null if they share no turn. */
export async function readForkedSession(
  { store }: { readonly store: ConversationStore },
  open: OpenSession,
  { session, family }: { readonly session: ImportedSession; readonly family: ForkFamily },
): Promise<ForkedSession | null> {
  if (family.conversation === undefined) return null;
  const at = open.descent?.kind === "agent" ? open.descent.at : undefined;
  if (at !== undefined) return readForkedAgent(store, open, { session, family, at });
  const found =
    family.own.length > 0 ? await findOwn(store, session, family.own) : await findShared(store, session, family);
  if (found === null || found.shared === 0) return null;
  const { tree, shared, copied } = found;
  const shift = shared - copied;
  const counts = await countStoredEvents(store, tree.turnOids.slice(0, shared));
  const known = counts.map((events, turn) => ({ oid: tree.turnOids[turn] ?? "", events }));
  const kept = await storedTurn(store, tree, shared - 1);
  const stored = await inlineEvents(store, tree.commit, kept);
  const named = await nameCompactions(store, found, session);
  const begins = await compactionBefore(store, tree, session);
  const whole = wholeSequence(named, countLines(open), known);
  const sequence: TurnSequence = {
    turnCount: session.turnCount + shift,
    known,
    asStored: new Map(kept.map((event) => [event.id, event])),
    readTurn: (index) => (index < shared ? (index === shared - 1 ? stored : []) : session.readTurn(index - shift)),
    lines: (index) => {
      const lines = index < shared ? null : whole.lines(index - shift);
      // The copied lines are stored with the first turn that is new.
      return lines !== null && index === shared ? { ...lines, first: 0 } : lines;
    },
    compactionsAfter: (index) => {
      if (index < shared - 1) return [];
      return [...(index === shared - 1 ? begins : []), ...whole.compactionsAfter(index - shift)];
    },
    undoneAfter: (index) => (index < shared - 1 ? [] : (whole.undoneAfter?.(index - shift) ?? [])),
    titlesIn: (index) => (index < shared ? [] : whole.titlesIn(index - shift)),
    toolsIn: (index) => (index < shared ? [] : whole.toolsIn(index - shift)),
    settingsIn: (index) => (index < shared ? [] : whole.settingsIn(index - shift)),
  };
  const isNew = family.own.length === 0;
  const placed = { ...named, abandoned: named.abandoned.map((branch) => shiftBranch(branch, shift)) };
  return { tree, isNew, addsNothing: isNew && copied === session.turnCount, shared, session: placed, sequence };
}

/**
 * Gives copied compactions the ids that they have on the branch, even if they were reverted there, and has the others name the
 * branch's events.
 */
async function nameCompactions(
  store: ConversationStore,
  { tree, shared, copied }: SharedTurns,
  session: ImportedSession,
): Promise<ImportedSession> {
  if (session.compactions.length === 0) return session;
  const shift = shared - copied;
  const events = shift === 0 ? await pairEvents(store, tree, { session, shared }) : originalEvents(session, copied);
  const known = await everyImportedCompaction(store, tree);
  const named = session.compactions.map((own): Compaction => {
    const compaction = shiftTurns(own, shift);
    if (compaction.to_turn >= shared) return withEvents(compaction, events);
    const same = known.findIndex((other) => saysTheSame(compaction, other));
    const [taken] = same < 0 ? [] : known.splice(same, 1);
    return withEvents({ ...compaction, ...(taken !== undefined && { id: taken.id }) }, events);
  });
  const turns = session.compactions.map(
    ({ id }, at) => [named[at]?.id ?? id, session.compactionTurns.get(id)] as const,
  );
  const compactionTurns = new Map(turns.flatMap(([id, turn]) => (turn === undefined ? [] : [[id, turn]])));
  return { ...session, compactions: named, compactionTurns };
}

/** The stored event that each copied one repeats, by their order. */
async function pairEvents(
  store: ConversationStore,
  tree: BranchTree,
  { session, shared }: { readonly session: ImportedSession; readonly shared: number },
): Promise<ReadonlyMap<string, string>> {
  const events = new Map<string, string>();
  for (let turn = 0; turn < shared; turn++) {
    const theirs = (await storedTurn(store, tree, turn)).filter(isSaid);
    let before = theirs[0]?.id;
    let at = 0;
    for (const event of session.readTurn(turn)) {
      if (isSaid(event)) before = theirs[at++]?.id ?? before;
      if (before !== undefined) events.set(event.id, before);
    }
  }
  return events;
}

/** The same by their ids. */
function originalEvents(session: ImportedSession, copied: number): ReadonlyMap<string, string> {
  const { lineage } = session;
  const turns = lineage === undefined ? [] : Array.from({ length: copied }, (_, turn) => session.readTurn(turn));
  return new Map(turns.flat().flatMap(({ id }) => (lineage === undefined ? [] : [[id, originalId(id, lineage)]])));
}

function shiftBranch(branch: AbandonedBranch, shift: number): AbandonedBranch {
  const { name, commonTurns, turnCount } = branch;
  const readTurn = (turn: number): readonly Event[] => branch.readTurn(turn - shift);
  return { name, commonTurns: commonTurns + shift, turnCount: turnCount + shift, readTurn };
}

function withEvents(compaction: Compaction, events: ReadonlyMap<string, string>): Compaction {
  const rename = (id: string): string => events.get(id) ?? id;
  const { from_event: from, to_event: to, keep } = compaction;
  return {
    ...compaction,
    ...(from !== undefined && { from_event: rename(from) }),
    ...(to !== undefined && { to_event: rename(to) }),
    ...(keep !== undefined && { keep: keep.map(rename) }),
  };
}

function saysTheSame(a: Compaction, b: Compaction): boolean {
  const words = ({ from_turn, to_turn, summary, replacement = [], turns, reason, keep = [] }: Compaction): string =>
    JSON.stringify([from_turn, to_turn, summary?.summary, replacement.map(contentOf), turns, reason, keep.length]);
  return words(a) === words(b);
}

// `import --all-branches`: a fork for each abandoned branch of the session, unless a branch has it already.

interface AbandonedPaths {
  readonly open: OpenSession;
  readonly session: ImportedSession;
  /** The turns of the path that the agent follows. */
  readonly chain: TurnChain;
  /** The branch that has them. */
  readonly branch: string;
}

/** Makes the forks and returns the names of those that it made. */
export async function forkAbandoned(workspace: Workspace, left: AbandonedPaths): Promise<string[]> {
  const names: string[] = [];
  if (left.session.abandoned.length === 0) return names;
  const family = await loadFamily(workspace, conversationOf(left.branch));
  for (const abandoned of left.session.abandoned) {
    const made = await forkOne(workspace, left, { abandoned, family });
    if (made !== null) names.push(made);
  }
  return names;
}

async function loadFamily(workspace: Workspace, conversation: string): Promise<BranchTree[]> {
  const trees: BranchTree[] = [];
  for (const { name, commit } of await workspace.store.listBranches()) {
    if (conversationOf(name) === conversation) trees.push(await loadBranchTree(workspace.store, name, commit));
  }
  return trees;
}

async function forkOne(
  workspace: Workspace,
  { open, session, chain, branch }: AbandonedPaths,
  { abandoned, family }: { readonly abandoned: AbandonedBranch; readonly family: readonly BranchTree[] },
): Promise<string | null> {
  const { store } = workspace;
  const common = abandoned.commonTurns;
  const sequence = abandonedSequence(abandoned, chain.known(common));
  const own = createTurnChain(sequence);
  const oids = own.oids(own.turnCount);
  const holds = (turns: number) => (tree: BranchTree) => commonTurns(oids, tree.turnOids) >= turns;
  if (family.some(holds(oids.length))) return null;
  const host = family.find((tree) => tree.branch === branch && holds(common)(tree)) ?? family.find(holds(common));
  if (host === undefined) return null;
  const { commit: parent, changes } = await startOfTurns(store, host, common);
  const name = branchName(conversationOf(branch), abandoned.name);
  const commits = makeCommits({
    sequence,
    chain: own,
    source: open.source,
    document: null,
    limits: open.limits,
    session: session.sessionId,
    agent: open.format.agent,
    firstTurn: common,
    continued: false,
    changes,
    known: await readKnownRecords({ store }, parent, { changes }),
    sideFiles: [],
  });
  const [result] = await store.write([{ branch: name, expected: null, parent, commits }]);
  return result?.moved === true ? name : null;
}
