// Where an import writes: a new conversation, a fork, or the branch that the session continues; and from which turn on.
import { branchName, conversationId, conversationOf, isTurnNumber, shortId } from "../../core/conversation/name.ts";
import { defined } from "../../core/json.ts";
import type { ImportedSession } from "../../formats/imported-session.ts";
import type { SessionDescent } from "../../formats/session-source.ts";
import type { ConversationStore, FileChange } from "../../store/store.ts";
import { type ConversationHeader, FORMAT_VERSION, loadBranchTree, type ParentSession } from "../branch/branch-tree.ts";
import { compactionIdOfPath } from "../branch/compaction-path.ts";
import { type BranchAtTurn, startOfTurns } from "../branch/fork-start.ts";
import { loadCompactions } from "../branch/load-view.ts";
import { titleForId } from "../names/id-title.ts";
import { importSuffix } from "../names/session-family.ts";
import type { OpenSession } from "../sessions/open-session.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { ContinuedSession } from "./continued-session.ts";
import type { ImportDecision } from "./import-plan.ts";
import { placeOfGrownTurn } from "./import-target.ts";
import { alignPieces } from "./source-alignment.ts";
import type { TurnChain } from "./turn-chain.ts";
import type { TurnSequence } from "./turn-sequence.ts";

export interface ImportPlace {
  readonly branch: string;
  /** Where the branch must stand; null = it must not exist. */
  readonly expected: string | null;
  /** The commit to build on; null = a root commit. */
  readonly parent: string | null;
  /** First turn that is written, 0-based. */
  readonly firstTurn: number;
  /** The first turn exists at `parent`: its commit says that it goes on. */
  readonly continued: boolean;
  /** What the first commit changes besides. */
  readonly changes: readonly FileChange[];
  /** Written by a root commit; null when the conversation exists. */
  readonly header: ConversationHeader | null;
}

interface Placing {
  readonly open: OpenSession;
  readonly session: ImportedSession;
  readonly sequence: TurnSequence;
  readonly chain: TurnChain;
  readonly decision: ImportDecision;
  readonly suffix: string;
  readonly continued: ContinuedSession | null;
  /** Whether the branch decided for holds pieces of this session. */
  readonly holdsPieces: boolean;
  /** Whether the branch's turns stay as an earlier version of jpg read them: none of its commits is replaced. */
  readonly keepsTurns: boolean;
  /**
   * Branch names that the store had when the session was looked for in it. A name that somebody takes after that may be
   * this very session's: the write is refused then, and planned again on what stands there.
   */
  readonly taken: ReadonlySet<string>;
}

/** Finds the place of an import that was decided. */
export async function placeImport(workspace: Workspace, placing: Placing): Promise<ImportPlace> {
  const { decision } = placing;
  switch (decision.kind) {
    case "create":
      return newConversation(placing);
    case "fork":
      return withOneTurn(await placeFork(workspace, placing, decision), placing);
    case "same":
    case "extend":
      return withOneTurn(await placeOnBranch(workspace, placing, decision), placing);
  }
}

/** Lines and compactions without a new turn still need a commit: the newest turn's goes on. */
function withOneTurn(place: ImportPlace, { chain }: Placing): ImportPlace {
  return place.firstTurn < chain.turnCount ? place : { ...place, firstTurn: chain.turnCount - 1, continued: true };
}

const PLAIN = { expected: null, continued: false, header: null, changes: [] } as const;

async function placeFork(
  { store }: Workspace,
  placing: Placing,
  { candidate, commonTurns }: Extract<ImportDecision, { kind: "fork" }>,
): Promise<ImportPlace> {
  const branch = forkName(placing, { conversation: conversationOf(candidate.branch), commonTurns });
  const start = placing.continued?.start;
  if (start !== undefined && commonTurns <= start.turnCount) {
    // The agent was shown what stood at the export, with the compactions in force there.
    const firstTurn = placing.sequence.known.length;
    const continued = firstTurn < start.turnCount;
    return { ...PLAIN, branch, parent: start.commit, firstTurn, continued, changes: start.changes };
  }
  const begin = await startOfTurns(store, candidate, commonTurns);
  const changes = await withoutFormerReading(store, begin, placing);
  return { ...PLAIN, branch, parent: begin.commit, firstTurn: commonTurns, changes };
}

/** What makes the first turns' tree the one to begin with: the agent's compactions that are not read any more go. */
async function withoutFormerReading(
  store: ConversationStore,
  start: BranchAtTurn,
  { session, continued }: Placing,
): Promise<readonly FileChange[]> {
  // A session that jpg exported does not hold the compactions that stood before.
  if (start.compactions.length === 0 || continued !== null) return start.changes;
  const { all } = await loadCompactions(store, await loadBranchTree(store, "", start.commit));
  const read = new Set(session.compactions.map(({ id }) => id));
  const gone = new Set(all.filter(({ id, source }) => source === "import" && !read.has(id)).map(({ id }) => id));
  const files = start.compactions.filter(({ path }) => gone.has(compactionIdOfPath(path) ?? ""));
  return [...start.changes, ...files.map(({ path }): FileChange => ({ path, remove: true }))];
}

async function placeOnBranch(
  { store }: Workspace,
  placing: Placing,
  decision: Extract<ImportDecision, { kind: "same" | "extend" }>,
): Promise<ImportPlace> {
  const { branch, commit, turnOids } = decision.candidate;
  const { open, session, sequence, holdsPieces, keepsTurns } = placing;
  const onTip = { ...PLAIN, branch, expected: commit, parent: commit, firstTurn: turnOids.length };
  const last = turnOids.length - 1;
  const grew = decision.kind === "extend" && decision.grew;
  if (last < 0 || (!grew && !holdsPieces)) return onTip;
  const exported = placing.continued?.exported;
  const tip = { branch, commit, turn: last, agentEmail: open.format.agent.email };
  const grown = keepsTurns
    ? { parent: commit, continued: true }
    : await placeOfGrownTurn(store, { ...tip, ...defined({ exported }) });
  const goOn = { ...onTip, ...grown, firstTurn: last };
  if (grew || decision.kind === "same") return goOn;
  // New turns: the newest stored one is written again only where that leaves no trace, when its stretch of the file grew.
  if (grown.parent === commit) return onTip;
  const { source, document, limits } = open;
  const stretches = { sequence, source, document, session: session.sessionId, limits };
  const stale = await alignPieces(store, commit, { ...stretches, firstTurn: turnOids.length });
  return stale.length > 0 ? goOn : onTip;
}

/** A new conversation; its suffix is longer where another session has the same name already, and where it would be all digits. */
async function newConversation({ session, open, suffix, taken }: Placing): Promise<ImportPlace> {
  const title = await titleForId(session.title);
  let own = suffix;
  const idOf = (): string => conversationId(title, own);
  for (let length = suffix.length + 1; isTurnNumber(own) || taken.has(branchName(idOf(), "main")); length++)
    own = importSuffix(open.format.name, session.sessionId, length);
  const id = idOf();
  const header: ConversationHeader = {
    format: FORMAT_VERSION,
    id,
    title: session.title,
    created_at: session.createdAt,
    source: {
      format: open.format.name,
      session: session.sessionId,
      importer: session.importer,
      ...(open.descent !== null && { parent: parentOf(open.descent) }),
    },
  };
  return { ...PLAIN, branch: branchName(id, "main"), parent: null, firstTurn: 0, header };
}

function parentOf({ kind, sessions: [session = ""], call, name }: SessionDescent): ParentSession {
  return { kind, session, ...defined({ call, name }) };
}

/** A fork's name derives from the first turn that differs: the same rewind has the same name everywhere. */
function forkName(
  { chain, taken }: Placing,
  at: { readonly conversation: string; readonly commonTurns: number },
): string {
  const digest = chain.oids(at.commonTurns + 1).at(-1) ?? "";
  for (let length = 4; ; length++) {
    const name = branchName(at.conversation, `fork-${shortId(digest, length)}`);
    if (!taken.has(name)) return name;
  }
}
