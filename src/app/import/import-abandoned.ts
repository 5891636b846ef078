// `import --all-branches`: a fork for each branch of the session that the agent left, unless a branch holds it already.
import { branchName, conversationOf } from "../../core/conversation/name.ts";
import type { AbandonedBranch, ImportedSession } from "../../formats/imported-session.ts";
import { type BranchTree, loadBranchTree } from "../branch/branch-tree.ts";
import { startOfTurns } from "../branch/fork-start.ts";
import type { OpenSession } from "../sessions/open-session.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { makeCommits } from "./import-commits.ts";
import { commonTurns } from "./import-plan.ts";
import { everCompactions } from "./import-target.ts";
import { createTurnChain, type TurnChain } from "./turn-chain.ts";
import { abandonedSequence } from "./turn-sequence.ts";

export interface LeftBranches {
  readonly open: OpenSession;
  readonly session: ImportedSession;
  /** The turns of the path that the agent is on. */
  readonly chain: TurnChain;
  /** The branch that holds them. */
  readonly branch: string;
}

/** Makes the forks. Gives the names of those that were made. */
export async function forkAbandoned(workspace: Workspace, left: LeftBranches): Promise<string[]> {
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
  { open, session, chain, branch }: LeftBranches,
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
    alignment: changes,
    known: await everCompactions(store, parent),
    sideFiles: [],
    counts: { compactions: 0 },
  });
  const [result] = await store.write([{ branch: name, expected: null, parent, commits }]);
  return result?.moved === true ? name : null;
}
