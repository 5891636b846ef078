// What people do in stores that share conversations: drawn as a list of acts, performed in any order.
import fc from "fast-check";
import { findBrokenLinks } from "../../src/app/branch/turn-links.ts";
import { cherryPick } from "../../src/app/manage/cherry-pick.ts";
import { forkConversation } from "../../src/app/manage/fork.ts";
import { mergeFork } from "../../src/app/manage/merge.ts";
import { revertCompactions, undoCompaction } from "../../src/app/manage/revert.ts";
import { setTitle } from "../../src/app/manage/title.ts";
import { JpgError } from "../../src/core/errors.ts";
import type { Clone } from "./clones.ts";
import type { PlainClone } from "./plain-clone.ts";
import { buildSession, type SessionStep } from "./session-builder.ts";
import { importBytes } from "./workspace.ts";

/** What moves something stands here more than once. */
const KINDS = [
  "turn",
  "turn",
  "turn",
  "grow",
  "compact",
  "compact",
  "revert",
  "undo",
  "title",
  "fork",
  "merge",
  "merge",
  "cherry-pick",
  "cherry-pick",
  "push",
  "push",
  "pull",
  "pull",
  "git revert",
  "git pull",
  "git merge",
  "git push",
  "plain pull",
  "plain revert",
  "plain merge",
  "plain push",
] as const;

/** One thing that somebody does. */
export interface Act {
  readonly who: number;
  readonly kind: (typeof KINDS)[number];
  /** Chooses a branch, a turn, a compaction. */
  readonly pick: number;
}

/** Acts of three people with jpg, and of one without. */
export const act: fc.Arbitrary<Act> = fc.record({
  who: fc.nat({ max: 2 }),
  kind: fc.constantFrom(...KINDS),
  pick: fc.nat({ max: 99 }),
});

/** What was ever made. */
export interface Made {
  /** Ids that turns begin with. */
  readonly turns: Set<string>;
  /** Ids of compactions. */
  readonly compactions: Set<string>;
  /** Steps of the agent's session, which grows in every store alike. */
  session: readonly SessionStep[];
}

/** Branches of a conversation at most: more are only slower. */
const MOST_BRANCHES = 4;

/** Performs an act; what jpg refuses changes nothing. */
export async function perform(
  { clone, plain }: { readonly clone: Clone; readonly plain: PlainClone },
  { kind, pick }: Act,
  made: Made,
): Promise<void> {
  const names = Object.keys(await clone.branches()).sort();
  const branch = names[pick % names.length] ?? "";
  const other = names[(pick >> 2) % names.length] ?? "";
  const { workspace } = clone;
  switch (kind) {
    case "turn":
      made.turns.add(await clone.turn(branch, `t${made.turns.size}`));
      return;
    case "grow":
      made.session = [...made.session, ...(pick % 2 === 0 ? (["say"] as const) : (["prompt", "say"] as const))];
      await importBytes(workspace, buildSession(made.session).text());
      return;
    case "compact": {
      const last = pick % (await clone.tree(branch)).turnOids.length;
      const id = await clone.compact(branch, last, pick % 3 === 0 ? { reasoning: "strip" } : { turns: "omit" });
      if (id !== "") made.compactions.add(id);
      return;
    }
    case "revert":
      return revertSome(clone, branch, pick);
    case "undo":
      return unlessRefused("nothing_to_undo", async () => undoCompaction(workspace, await clone.tree(branch)));
    case "title":
      await setTitle(workspace, await clone.tree(branch), `Title ${pick}`);
      return;
    case "fork": {
      const tree = await clone.tree(branch);
      if (names.length >= MOST_BRANCHES) return;
      await forkConversation(workspace, tree, { activate: pick % 2 === 0, first: 1 + (pick % tree.turnOids.length) });
      return;
    }
    case "merge":
      return mergeSome(clone, { branch, other }, made);
    case "cherry-pick": {
      const { compactions } = await clone.tree(other);
      const id = /Z-(.+)\.jsonl$/.exec(compactions[pick % Math.max(1, compactions.length)]?.path ?? "")?.[1];
      if (id === undefined) return;
      return unlessRefused("covers_differ", async () => cherryPick(workspace, id, await clone.tree(branch)));
    }
    case "push":
      await clone.push();
      return;
    case "pull":
      await clone.pull();
      return;
    case "git revert":
      return gitRevert(clone, branch);
    case "git pull":
      clone.git("fetch", "--quiet", "team");
      return gitMerge(clone, branch, `refs/remotes/team/${branch}`);
    case "git merge":
      return gitMerge(clone, branch, other);
    case "git push":
      return gitPush(clone, branch);
    case "plain pull":
      return plain.pull();
    case "plain revert":
      return plain.revert(pick);
    case "plain merge":
      return plain.merge(pick);
    case "plain push":
      plain.push();
      return;
    default:
      kind satisfies never;
  }
}

async function unlessRefused(code: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof JpgError) || error.code !== code) throw error;
  }
}

async function revertSome(clone: Clone, branch: string, pick: number): Promise<void> {
  const tree = await clone.tree(branch);
  const log = await clone.workspace.store.readLog({ from: tree.commit, paths: ["compactions"] });
  const live = new Set(tree.compactions.map(({ path }) => path));
  const some = log.filter(
    ({ parents, added, removed }) =>
      parents.length === 1 && (added.some((path) => live.has(path)) || removed.some((path) => !live.has(path))),
  );
  const chosen = some[pick % Math.max(1, some.length)];
  if (chosen === undefined) return;
  // A fork's commit may bring or take away several, with turns.
  await unlessRefused("squashed_commit", () =>
    unlessRefused("not_a_compaction", () => revertCompactions(clone.workspace, [chosen.commit], branch)),
  );
}

async function mergeSome(
  clone: Clone,
  { branch, other }: { readonly branch: string; readonly other: string },
  made: Made,
): Promise<void> {
  if (branch === other) return;
  const [into, fork] = [await clone.tree(branch), await clone.tree(other)];
  const text = `told ${made.turns.size}`;
  const report = await mergeFork(clone.workspace, { into, fork, text, dryRun: false, summary: {} });
  if (report.commit === null) return;
  const file = clone.git("show", `${report.commit}:turns/0000/${String(report.turn).padStart(6, "0")}.jsonl`);
  made.turns.add((JSON.parse(file.split("\n")[0] ?? "") as { id: string }).id);
}

/** Reverts the newest commit when it is a compaction; else only looks at what the others have. */
async function gitRevert(clone: Clone, branch: string): Promise<void> {
  const isCompaction = clone.git("log", "-1", "--format=%s", branch).startsWith("compact ");
  if (!isCompaction) return void clone.git("fetch", "--quiet", "team");
  await clone.workspace.store.useBranch(branch);
  clone.git("revert", "--no-edit", branch);
}

/** Merges with stock git. What ends in a conflict, in turns that do not follow each other or are gone, is taken back as jpg says. */
async function gitMerge(clone: Clone, branch: string, from: string): Promise<void> {
  const { store } = clone.workspace;
  if ((await store.resolveCommit(from)) === null) return;
  await store.useBranch(branch);
  const before = await clone.tree(branch);
  const takeBack = (): void => void clone.git("reset", "--quiet", "--hard", before.commit);
  try {
    clone.git("merge", "--quiet", "--no-edit", from);
  } catch {
    return takeBack();
  }
  const after = await clone.tree(branch);
  const isShorter = after.turnOids.length < before.turnOids.length;
  if (isShorter || (await findBrokenLinks(store, after)).length > 0) takeBack();
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
