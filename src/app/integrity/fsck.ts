// Checks a store: git's objects and refs, every file of every branch, and the views in its worktrees. Changes nothing.
import { createFinding, type Finding } from "../../core/conversation/branch-files.ts";
import { conversationOf, forkOf } from "../../core/conversation/name.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import { countProgress } from "../conversation/progress.ts";
import { recordedCommit } from "../conversation/refresh-view.ts";
import { collectBlobs, parseHeader } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { createCheckedFiles } from "./checked-files.ts";
import { checkBranch, checkRewritten } from "./fsck-branch.ts";

/** A finding with its branch; null = the store as a whole. */
export interface FsckFinding extends Finding {
  readonly branch: string | null;
}

export interface FsckReport {
  /** Whether there are no findings but warnings. */
  readonly ok: boolean;
  readonly branches: number;
  readonly turns: number;
  /** Errors first, then in the order of branches. */
  readonly findings: readonly FsckFinding[];
}

/** Checks the whole store, or only some branches. */
export async function checkStore(workspace: Workspace, wanted?: ReadonlySet<string>): Promise<FsckReport> {
  const { store } = workspace;
  const verifying = store.verify();
  verifying.catch(() => undefined);
  const findings: FsckFinding[] = [];
  const on = (branch: string | null, found: readonly Finding[]): void => {
    for (const finding of found) findings.push({ ...finding, branch });
  };
  const tips = (await listTips(store, on)).filter(({ name }) => wanted === undefined || wanted.has(name));
  let turns = 0;
  for (const family of countProgress(workspace, "checking conversations", familiesOf(tips))) {
    const checked = createCheckedFiles();
    const headers = new Map<string, string>();
    for (const tip of family) {
      const verdict = await checkBranch(store, tip, checked);
      turns += verdict.turns;
      on(tip.name, verdict.findings);
      on(tip.name, await compareHeaders(store, tip, headers));
    }
  }
  workspace.progress({ doing: "checking git's objects", done: 0, total: null });
  const { problems, rewritten } = await verifying;
  workspace.progress(null);
  on(null, problems.map(damagedObject));
  on(null, await checkRewritten(store, rewritten));
  for (const [branch, found] of await checkViews(store, tips)) on(branch, [found]);
  return {
    ok: findings.every(({ severity }) => severity !== "error"),
    branches: tips.length,
    turns,
    findings: sortFindings(findings),
  };
}

/** Reports a ref that names no commit, and still lists the other branches. */
async function listTips(
  store: ConversationStore,
  on: (branch: string | null, found: readonly Finding[]) => void,
): Promise<readonly BranchTip[]> {
  return await store.listBranches((error) => {
    on(null, [createFinding("ref_broken", { message: error.message, hint: error.hints.join(" ") })]);
  });
}

function familiesOf(tips: readonly BranchTip[]): readonly (readonly BranchTip[])[] {
  const families = new Map<string, BranchTip[]>();
  for (const tip of tips) {
    const family = families.get(conversationOf(tip.name));
    if (family === undefined) families.set(conversationOf(tip.name), [tip]);
    else family.push(tip);
  }
  return [...families.values()];
}

/** conversation.json is written once, so all forks of a conversation must have the same. */
async function compareHeaders(
  store: ConversationStore,
  { name, commit }: BranchTip,
  headers: Map<string, string>,
): Promise<readonly Finding[]> {
  const path = "conversation.json";
  const oid = await store.readEntries(commit, [path]).then(
    (entries) => entries.get(path),
    () => undefined, // reported for this branch already
  );
  if (oid === undefined) return [];
  const [[other, first] = [name, oid]] = headers;
  headers.set(name, oid);
  if (first === oid) return other === name ? await compareId(store, name, oid) : [];
  return [
    createFinding("header_differs", {
      path,
      message: `it differs from that of ${other}, but forks of one conversation share it`,
      hint: `\`jpg git log -p -- ${path}\` shows who changed it; revert that commit`,
    }),
  ];
}

/**
 * The id must be the conversation's name. Stock git may have renamed branches, which could then collide with another
 * conversation's.
 */
async function compareId(store: ConversationStore, name: string, oid: string): Promise<readonly Finding[]> {
  const path = "conversation.json";
  let id: string;
  try {
    const [bytes] = await collectBlobs(store, [oid]);
    ({ id } = parseHeader(new TextDecoder().decode(bytes), name));
  } catch {
    return []; // reported for this branch already
  }
  if (id === conversationOf(name)) return [];
  return [
    createFinding("id_differs", {
      path,
      message: `its id is ${id}, but its branches are named ${conversationOf(name)}`,
      hint: `\`jpg git branch -m ${name} ${id}/${forkOf(name)}\` gives each its own name, unless another has it`,
    }),
  ];
}

function damagedObject(message: string): Finding {
  return createFinding("object_damaged", {
    message: `git says: ${message}`,
    hint: "bring the object back: fetch from a remote or a copy of the store; an imported session can be imported again into a new store",
  });
}

/** Finds worktrees whose view was made from another commit than the branch's tip. */
async function checkViews(
  store: ConversationStore,
  tips: readonly BranchTip[],
): Promise<readonly (readonly [string, Finding])[]> {
  const found: (readonly [string, Finding])[] = [];
  for (const worktree of (await store.worktrees?.list()) ?? []) {
    const tip = tips.find(({ name }) => name === worktree.branch);
    if (tip === undefined) continue;
    const commit = recordedCommit(store, worktree);
    if (commit === tip.commit) continue;
    found.push([
      tip.name,
      createFinding("view_stale", {
        path: `${worktree.path}/VIEW.md`,
        message:
          commit === null
            ? "the view was never written"
            : `it shows ${commit.slice(0, 9)}, the branch is at ${tip.commit.slice(0, 9)}`,
        hint: `\`jpg use ${tip.name}\` writes it`,
      }),
    ]);
  }
  return found;
}

function sortFindings(findings: readonly FsckFinding[]): readonly FsckFinding[] {
  const rank = ({ severity }: FsckFinding): number => (severity === "error" ? 0 : 1);
  return findings.toSorted((a, b) => rank(a) - rank(b));
}
