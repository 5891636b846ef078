// What people do in stores that share conversations: drawn as a list of acts, performed in any order. Each act is one that can do
// something where things stand: where the kind that was drawn can not, another kind that can.
import fc from "fast-check";
import { storeDelta } from "../../src/app/conversation/marks.ts";
import { findBrokenLinks } from "../../src/app/conversation/spliced-turns.ts";
import type { BranchTree } from "../../src/app/conversation/tree.ts";
import { forkConversation } from "../../src/app/manage/fork.ts";
import { setTitle } from "../../src/app/manage/marks.ts";
import { mergeFork } from "../../src/app/manage/merge.ts";
import { revertCompactions, undoCompaction } from "../../src/app/manage/revert.ts";
import { JpgError } from "../../src/core/errors.ts";
import type { Clone } from "./clones.ts";
import { buildSession, type SessionStep } from "./session-builder.ts";
import { branchesOf, pullInPlace, type World } from "./shared-world.ts";
import { importBytes } from "./workspace.ts";

/** What was ever made. */
export interface Made {
  /** Ids that turns begin with. */
  readonly turns: Set<string>;
  /** Ids of compactions. */
  readonly compactions: Set<string>;
  /** Steps of the agent's session, which grows in every store alike. */
  session: readonly SessionStep[];
}

/** Where somebody is about to do something. */
interface Scene extends World {
  readonly clone: Clone;
  readonly trees: readonly BranchTree[];
  /** The store's own commits, and those last fetched, by branch. */
  readonly own: ReadonlyMap<string, string>;
  readonly tracked: ReadonlyMap<string, string>;
  readonly made: Made;
  /** Chooses a title, a policy. */
  readonly pick: number;
}

type ActRunner = () => unknown;

/** Branches of a conversation at most: more are only slower. */
const MOST_BRANCHES = 4;
/** Of what could be done, so much is tried: some turns out to change nothing. */
const MOST_TRIES = 3;

/** What can be done of each kind. */
const DEEDS = {
  turn: ({ clone, trees, made }) =>
    trees.map(
      ({ branch }) =>
        async () =>
          made.turns.add(await clone.turn(branch, `t${made.turns.size}`)),
    ),
  push: (scene) => (hasUnsent(scene) ? [() => scene.clone.push()] : []),
  "late push": (scene) => {
    const { all, clone, remote } = scene;
    const isFaster = (other: Clone): boolean => other !== clone && hasUnsent({ own: branchesOf(other).own, remote });
    const meanwhile = (other: Clone) => async (): Promise<void> => {
      await other.push();
      remote();
    };
    return hasUnsent(scene)
      ? all.filter(isFaster).map((other) => () => clone.push({ meanwhile: meanwhile(other) }))
      : [];
  },
  compact: ({ clone, trees, made, pick }) =>
    trees.flatMap(({ branch, turnOids }) =>
      [...turnOids.keys()].map((last) => async () => {
        const id = await clone.compact(branch, last, pick % 3 === 0 ? { reasoning: "strip" } : { turns: "omit" });
        if (id !== "") made.compactions.add(id);
      }),
    ),
  pull: async (scene) => ((await incoming(scene)).length > 0 ? [() => pullInPlace(scene.clone)] : []),
  merge: ({ clone, trees, made }) =>
    pairs(trees)
      .filter(([into, fork]) => !fork.turnOids.every((oid) => into.turnOids.includes(oid)))
      .map((pair) => () => mergeAndRecord(clone, pair, made)),
  "git push": ({ clone, own, tracked, remote }) =>
    [...own.keys()]
      .filter((name) => own.get(name) !== remote().get(name) && tracked.get(name) === remote().get(name))
      .map((name) => () => gitPush(clone, name)),
  fork: ({ clone, trees, pick }) =>
    trees.length >= MOST_BRANCHES
      ? []
      : trees.map((tree) => () => {
          const first = 1 + (pick % tree.turnOids.length);
          return forkConversation(clone.workspace, tree, { activate: pick % 2 === 0, first });
        }),
  "git pull": async (scene) =>
    (await incoming(scene)).map((name) => () => {
      scene.clone.git("fetch", "--quiet", "team");
      return gitMerge(scene.clone, name, `refs/remotes/team/${name}`);
    }),
  // One's other machine gets the branch past the remote; then both pull, before either sends what came of it.
  "both pull": async (scene) =>
    (await incoming(scene)).flatMap((name) => {
      const { all, clone, own } = scene;
      const tip = own.get(name);
      const others = tip === undefined ? [] : all.filter((other) => other !== clone);
      return others.map((other) => async () => {
        other.git("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", clone.gitDir, name);
        await gitMerge(other, name, tip ?? "");
        const tipsOf = (): readonly unknown[] => [clone, other].map((one) => branchesOf(one).own.get(name));
        const isSame = new Set(tipsOf()).size === 1;
        for (const one of [clone, other]) await pullInPlace(one);
        if (isSame && new Set(tipsOf()).size > 1) throw new Error(`the same two tips of ${name} became two commits`);
      });
    }),
  revert: async ({ clone, trees }) => (await Promise.all(trees.map((tree) => reverts(clone, tree)))).flat(),
  grow: ({ clone, made, pick }) => [
    () => {
      made.session = [...made.session, ...(pick % 2 === 0 ? (["say"] as const) : (["prompt", "say"] as const))];
      return importBytes(clone.workspace, buildSession(made.session).text());
    },
  ],
  "git merge": ({ clone, trees }) =>
    pairs(trees)
      .filter(([one, other]) => isPrefix(one.turnOids, other.turnOids) || isPrefix(other.turnOids, one.turnOids))
      .map(
        ([one, other]) =>
          () =>
            gitMerge(clone, one.branch, other.branch),
      ),
  "plain merge": ({ plain }) =>
    plain.mergeable().map(
      ([name, other]) =>
        () =>
          plain.merge(name, other),
    ),
  undo: ({ clone, trees }) =>
    trees
      .filter(({ compactions }) => compactions.length > 0)
      .map(
        (tree) => () =>
          ignoringRefusal("squashed_commit", () =>
            ignoringRefusal("nothing_to_undo", () => undoCompaction(clone.workspace, tree)),
          ),
      ),
  "plain push": ({ plain }) => (plain.isAhead() ? [() => plain.push()] : []),
  title: ({ clone, trees, pick }) => trees.map((tree) => () => setTitle(clone.workspace, tree, `Title ${pick}`)),
  setting: ({ clone, trees, pick }) =>
    trees.map((tree) => () => storeDelta(clone.workspace, tree, { conversation: { compaction: { keep_last: pick } } })),
  "git revert": ({ clone }) =>
    clone
      .git("for-each-ref", "--format=%(refname:lstrip=2) %(contents:subject)", "refs/heads")
      .split("\n")
      .filter((line) => line.split(" ")[1] === "compact")
      .map((line) => async () => {
        const [branch = ""] = line.split(" ");
        await clone.workspace.store.useBranch(branch);
        clone.git("revert", "--no-edit", branch);
      }),
  "plain revert": ({ plain }) => plain.revertible().map((name) => () => plain.revert(name)),
  "plain pull": ({ plain }) => (plain.isBehind() ? [() => plain.pull()] : []),
  // Nothing is lost by it where the remote has all of the branch.
  "tell anew": ({ clone, trees, made, pick, remote }) =>
    trees
      .filter(({ branch, commit }) => remote().get(branch) === commit)
      .map((tree) => async () => {
        rewriteHistory(clone, tree);
        made.turns.add(await clone.turn(tree.branch, `t${made.turns.size}`));
        if (pick % 2 === 0) await compactAndUndo(clone, tree.branch, made);
      }),
} satisfies Record<string, (scene: Scene) => readonly ActRunner[] | Promise<readonly ActRunner[]>>;

type Kind = keyof typeof DEEDS;
const KINDS = Object.keys(DEEDS) as readonly Kind[];
/** A prime: no number of kinds divides it, so that all are met. */
const STRIDE = 31;

/** One thing that somebody does. */
export interface Act {
  readonly who: number;
  readonly kind: Kind;
  /** Chooses a branch, a turn, a compaction. */
  readonly pick: number;
}

/** Acts of three people with jpg, and of one without; what moves something is drawn more often. */
export const act: fc.Arbitrary<Act> = fc.record({
  who: fc.nat({ max: 2 }),
  kind: fc.constantFrom(...KINDS, "turn", "compact", "merge", "push", "push", "late push", "pull", "pull"),
  pick: fc.nat({ max: 99 }),
});

/** Performs an act, or one of another kind that changes something; gives the kind. */
export async function perform(world: World, { who, kind, pick }: Act, made: Made): Promise<Kind> {
  const clone = world.all[who] as Clone;
  const before = world.state();
  // The others in an order of the act's own: in one that is always the same, whoever stands behind a rare kind comes too often.
  const others = KINDS.map((_, at) => KINDS[(at * STRIDE + pick) % KINDS.length] as Kind);
  const scene = await look(world, clone, { made, pick });
  for (const tried of [kind, ...others]) {
    const deeds = await DEEDS[tried](scene);
    for (let turn = 0; turn < Math.min(MOST_TRIES, deeds.length); turn++) {
      await deeds[(pick + turn) % deeds.length]?.();
      if (world.state() !== before) return tried;
    }
  }
  throw new Error(`nothing that person ${who} could do changed anything`);
}

async function look(world: World, clone: Clone, rest: Pick<Scene, "made" | "pick">): Promise<Scene> {
  const { own: unordered, tracked } = branchesOf(clone);
  const own = new Map([...unordered].sort());
  const trees = await Promise.all([...own.keys()].map((name) => clone.tree(name)));
  return { ...world, ...rest, clone, own, trees, tracked };
}

/** Whether a branch stands elsewhere than on the remote. */
function hasUnsent({ own, remote }: Pick<Scene, "own" | "remote">): boolean {
  return [...own].some(([name, commit]) => remote().get(name) !== commit);
}

/** Branches of which the remote has what the store has not. */
async function incoming({ clone, own, tracked, remote }: Scene): Promise<readonly string[]> {
  const differing = [...remote()].filter(([name, commit]) => own.get(name) !== commit);
  const fetched = differing.flatMap(([name, other]) => {
    const one = own.get(name);
    return one === undefined || tracked.get(name) !== other ? [] : [{ name, one, other }];
  });
  const bases = await clone.workspace.store.sharing?.mergeBases(fetched);
  const here = new Set(fetched.filter(({ other }, at) => bases?.[at]?.includes(other)).map(({ name }) => name));
  return differing.map(([name]) => name).filter((name) => !here.has(name));
}

function pairs(trees: readonly BranchTree[]): readonly (readonly [BranchTree, BranchTree])[] {
  return trees.flatMap((one) => trees.filter((other) => other !== one).map((other) => [one, other] as const));
}

function isPrefix(one: readonly string[], other: readonly string[]): boolean {
  return one.every((oid, at) => other[at] === oid);
}

async function ignoringRefusal(code: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof JpgError) || error.code !== code) throw error;
  }
}

async function reverts(
  { workspace }: Clone,
  { branch, commit, compactions }: BranchTree,
): Promise<readonly ActRunner[]> {
  const log = await workspace.store.readLog({ from: commit, paths: ["compactions"] });
  const live = new Set(compactions.map(({ path }) => path));
  const some = log.filter(
    ({ parents, added, removed }) =>
      parents.length === 1 && (added.some((path) => live.has(path)) || removed.some((path) => !live.has(path))),
  );
  // A fork's commit may bring or take away several, with turns.
  return some.map(
    (entry) => () =>
      ignoringRefusal("squashed_commit", () =>
        ignoringRefusal("not_a_compaction", () => revertCompactions(workspace, [entry.commit], branch)),
      ),
  );
}

/** Gives a branch a history of its own with the same files, as a squash has it, or an import by another version of jpg. */
function rewriteHistory({ git }: Clone, { branch, commit }: BranchTree): void {
  const root = git("commit-tree", "-m", "turns, told anew", `${commit}^{tree}`).trim();
  git("update-ref", `refs/heads/${branch}`, root, commit);
}

/** What was taken back can be brought again: it stays in the history, whoever tells that anew. */
async function compactAndUndo(clone: Clone, branch: string, made: Made): Promise<void> {
  const id = await clone.compact(branch, 0);
  if (id === "") return;
  made.compactions.add(id);
  await undoCompaction(clone.workspace, await clone.tree(branch));
}

async function mergeAndRecord(
  clone: Clone,
  [into, fork]: readonly [BranchTree, BranchTree],
  made: Made,
): Promise<void> {
  const text = `merge ${made.turns.size}`;
  const report = await mergeFork(clone.workspace, { into, fork, text, dryRun: false, summary: {} });
  if (report.commit === null) return;
  const again = { into: await clone.tree(into.branch), fork, text: "merge again", dryRun: false, summary: {} };
  if ((await mergeFork(clone.workspace, again)).commit !== null) throw new Error(`${fork.branch} was merged twice`);
  const turn = `${report.commit}:turns/0000/${String(report.turn).padStart(6, "0")}.jsonl`;
  // The parents in a line, then the lines of the turn.
  const [parents, first = ""] = clone.git("show", "--no-patch", "--format=%P", report.commit, turn).split("\n");
  if (parents !== `${into.commit} ${fork.commit}`) throw new Error(`a merge of ${fork.branch} has other parents`);
  made.turns.add((JSON.parse(first) as { id: string }).id);
}

/** Merges with stock git. What ends in a conflict, in turns that do not follow each other or are gone, is taken back as jpg says. */
async function gitMerge(clone: Clone, branch: string, from: string): Promise<void> {
  const { store } = clone.workspace;
  if ((await store.readBranch(branch)) === null || (await store.resolveCommit(from)) === null) return;
  await store.useBranch(branch);
  const before = await clone.tree(branch);
  const takeBack = (): void => void clone.git("reset", "--quiet", "--hard", before.commit);
  try {
    clone.git("merge", "--quiet", "--no-edit", from);
  } catch {
    return takeBack();
  }
  const after = await treeIfThere(clone, branch);
  const isShorter = after === null || after.turnOids.length < before.turnOids.length;
  if (isShorter || (await findBrokenLinks(store, after)).length > 0) takeBack();
}

/** Null where a turn is gone that others follow: a fork of the first turns has a commit that removes the later ones. */
async function treeIfThere(clone: Clone, branch: string): Promise<BranchTree | null> {
  try {
    const tree = await clone.tree(branch);
    return tree.missing === undefined ? tree : null;
  } catch (error) {
    if (error instanceof JpgError && error.code === "turn_missing") return null;
    throw error;
  }
}

async function gitPush(clone: Clone, branch: string): Promise<void> {
  const { as } = (await clone.workspace.store.sharing?.remotes())?.[0] ?? {};
  const there = as === "branches" ? "refs/heads" : "refs/jpg/conversations";
  try {
    clone.git("push", "--quiet", "team", `${branch}:${there}/${branch}`);
  } catch {
    // It is behind: the person pulls first.
  }
}
