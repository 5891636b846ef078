// Several people's stores with one remote between them: what each does there, through the functions that the commands call.
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { compact } from "../../src/app/compact/compact.ts";
import { recordTurn } from "../../src/app/conversation/record-turn.ts";
import { type BranchTree, loadBranchTree } from "../../src/app/conversation/tree.ts";
import { openWorkspace, type Workspace } from "../../src/app/conversation/workspace.ts";
import { type PullReport, pullConversations } from "../../src/app/share/pull.ts";
import { type PushReport, planPush, sendPush } from "../../src/app/share/push.ts";
import { addRemote, findRemote } from "../../src/app/share/remotes.ts";
import type { Event } from "../../src/core/conversation/event.ts";
import type { Policies } from "../../src/core/conversation/policy.ts";
import { parseBound } from "../../src/core/conversation/range-bound.ts";
import { createStore } from "../../src/store/git/create.ts";
import type { Remote } from "../../src/store/sharing.ts";
import { createTempFolder, git, type TempFolder, type TestEnvironment, testEnvironment } from "./temp-repository.ts";
import { createTestRuntime, type TestRuntime, tipOf } from "./workspace.ts";

/** A person's store. */
export interface Clone {
  readonly workspace: Workspace & { readonly runtime: TestRuntime };
  readonly gitDir: string;
  git(...args: string[]): string;
  tree(branch: string): Promise<BranchTree>;
  /** Adds a turn to a branch; gives the id that it begins with. */
  turn(branch: string, said: string): Promise<string>;
  /** Compacts turns from the first to this one; gives the compaction's id. */
  compact(branch: string, to: number, policies?: Policies): Promise<string>;
  /** `meanwhile` happens when it is known what is sent, and nothing was sent yet. */
  push(request?: { readonly id?: string; readonly meanwhile?: () => Promise<unknown> }): Promise<PushReport>;
  pull(): Promise<PullReport>;
  /** Commits by branch. */
  branches(): Promise<Readonly<Record<string, string>>>;
}

/** Stores of several people, and what is between them. */
export interface Clones {
  readonly all: readonly Clone[];
  readonly remote: string;
  remove(): Promise<void>;
}

const PEOPLE = ["Ada", "Ben", "Ada"] as const;

/** Makes stores that have one bare repository as their remote `team`; the first and the third are one person's. */
export async function createClones(
  count: number,
  as: "branches" | "hidden" = "hidden",
  folder: TempFolder = createTempFolder(),
): Promise<Clones> {
  const remote = join(folder.path, "remote.git");
  git(folder.path, testEnvironment(folder.path), ["init", "--quiet", "--bare", "--template=", remote]);
  // Git would look after each push whether it is time to tidy: it never is.
  git(folder.path, testEnvironment(folder.path), ["-C", remote, "config", "receive.autogc", "false"]);
  const all: Clone[] = [];
  for (let at = 0; at < count; at++) {
    const clone = await openClone(folder.path, at);
    await addRemote(clone.workspace, { name: "team", url: remote, as });
    all.push(clone);
  }
  const remove = async (): Promise<void> => {
    for (const { workspace } of all) await workspace.close();
    folder.remove();
  };
  return { all, remote, remove };
}

/** Opens the store of one of them, and makes it where there is none; `age` = how often it was opened before, for other random ids. */
export async function openClone(folder: string, at: number, age = 0): Promise<Clone> {
  const root = join(folder, `store-${at}`);
  const name = PEOPLE[at % PEOPLE.length] ?? "Ada";
  const env: TestEnvironment = testEnvironment(join(folder, "home"), {
    GIT_AUTHOR_NAME: name,
    GIT_COMMITTER_NAME: name,
  });
  mkdirSync(join(folder, "home"), { recursive: true });
  if (!existsSync(root))
    await createStore(root, { env, nodePath: "/nonexistent/node", jpgPath: "/nonexistent/jpg.js" });
  // Each has randomness and a clock of its own.
  let seed = 1000 * (at + 1) + 100_000 * age;
  const runtime: TestRuntime = {
    ...createTestRuntime(folder, env, `2026-05-0${1 + age}T1${at}:00:00Z`),
    random: (length) =>
      Uint8Array.from({ length }, () => {
        seed = (seed * 1103515245 + 12345) % 2147483648;
        return seed >> 16;
      }),
  };
  const opened = await openWorkspace(runtime, { store: root });
  return withActions({ ...opened, runtime }, root, env);
}

function withActions(workspace: Clone["workspace"], root: string, env: TestEnvironment): Clone {
  const { store, runtime } = workspace;
  const tree = async (branch: string): Promise<BranchTree> =>
    loadBranchTree(store, branch, await tipOf(workspace, branch));
  let found: Promise<Remote> | undefined;
  const team = (): Promise<Remote> => (found ??= findRemote(workspace, "team"));
  return {
    workspace,
    gitDir: join(root, ".git"),
    git: (...args) => git(root, env, args),
    tree,
    async turn(branch, said) {
      const { commit, turnOids } = await tree(branch);
      const timestamp = runtime.now().toISOString();
      const events: readonly Event[] = [
        { type: "turn_start", id: `start-${said}`, timestamp },
        { type: "chat_request", id: `request-${said}`, timestamp, content: `request ${said}` },
        { type: "chat_response", id: `answer-${said}`, timestamp, message: `answer ${said}` },
      ];
      const place = {
        branch,
        turn: turnOids.length,
        start: `start-${said}`,
        parent: commit,
        prev: turnOids.at(-1) ?? null,
      };
      await recordTurn(workspace, { ...place, events });
      return `start-${said}`;
    },
    async compact(branch, to, policies = { turns: "omit" }) {
      const { compaction } = await compact(workspace, await tree(branch), {
        range: { to: parseBound(String(to), runtime) },
        policies,
        dryRun: false,
        activate: false,
      });
      return compaction?.id ?? "";
    },
    async push({ id, meanwhile } = {}) {
      const request = id === undefined ? { all: true } : { all: false, id };
      const plan = await planPush(workspace, await team(), { request, options: {} });
      await meanwhile?.();
      return sendPush(workspace, plan, {});
    },
    pull: async () => pullConversations(workspace, await team(), {}),
    branches: async () => Object.fromEntries((await store.listBranches()).map(({ name, commit }) => [name, commit])),
  };
}

/** Everybody pulls and pushes until nothing changes any more; throws when it goes on for ever. */
export async function syncAll(clones: readonly Clone[]): Promise<void> {
  for (let round = 0; round < 12; round++) {
    let changes = 0;
    for (const clone of clones) {
      const { branches } = await clone.pull();
      const kept = branches.filter(({ status }) => status === "kept");
      if (kept.length > 0) throw new Error(`a pull left something: ${JSON.stringify(kept)}`);
      const pushed = (await clone.push()).branches.filter(({ status }) => status !== "unchanged");
      changes += branches.length + pushed.length;
    }
    if (changes === 0) return;
  }
  throw new Error("the stores did not come to rest in 12 rounds");
}
