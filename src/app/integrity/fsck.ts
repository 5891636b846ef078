// Checks a store: git's objects and refs, every file of every branch, and the views in its worktrees. It changes nothing.
import { createFinding, type Finding } from "../../core/conversation/branch-files.ts";
import { conversationOf, forkOf } from "../../core/conversation/name.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import { recordedCommit } from "../conversation/refresh-view.ts";
import { collectBlobs, parseHeader } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { createCheckedFiles } from "./checked-files.ts";
import { checkBranch, checkRewritten } from "./fsck-branch.ts";

/** A finding, and the branch it is on; null = it is of the store. */
export interface FsckFinding extends Finding {
  readonly branch: string | null;
}

/** What was checked and found. */
export interface FsckReport {
  /** Whether nothing is wrong but what warnings tell of. */
  readonly ok: boolean;
  readonly branches: number;
  readonly turns: number;
  /** Errors first, then by branch. */
  readonly findings: readonly FsckFinding[];
}

/** Checks the store, or the branches given. */
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
  for (const family of familiesOf(tips)) {
    const checked = createCheckedFiles();
    const headers = new Map<string, string>();
    for (const tip of family) {
      const verdict = await checkBranch(store, tip, checked);
      turns += verdict.turns;
      on(tip.name, verdict.findings);
      on(tip.name, await compareHeaders(store, tip, headers));
    }
  }
  const { problems, rewritten } = await verifying;
  on(null, problems.map(damagedObject));
  on(null, await checkRewritten(store, rewritten));
  for (const [branch, found] of await checkViews(store, tips)) on(branch, [found]);
  return {
    ok: findings.every(({ severity }) => severity !== "error"),
    branches: tips.length,
    turns,
    findings: order(findings),
  };
}

/** A ref that names no commit ends no check: the other branches are looked at. */
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

/** conversation.json is written once: all forks of a conversation have the same. */
async function compareHeaders(
  store: ConversationStore,
  { name, commit }: BranchTip,
  headers: Map<string, string>,
): Promise<readonly Finding[]> {
  const path = "conversation.json";
  const oid = await store.readEntries(commit, [path]).then(
    (entries) => entries.get(path),
    () => undefined, // an object that cannot be read was reported of this branch
  );
  if (oid === undefined) return [];
  const [[other, first] = [name, oid]] = headers;
  headers.set(name, oid);
  if (first === oid) return other === name ? await compareId(store, name, oid) : [];
  return [
    createFinding("header_differs", {
      path,
      message: `it is not that of ${other}: forks of one conversation share it`,
      hint: `\`jpg git log -p -- ${path}\` shows who changed it; revert that commit`,
    }),
  ];
}

/** The id is the conversation's name; stock git may have renamed its branches, which then can meet those of another. */
async function compareId(store: ConversationStore, name: string, oid: string): Promise<readonly Finding[]> {
  const path = "conversation.json";
  let id: string;
  try {
    const [bytes] = await collectBlobs(store, [oid]);
    ({ id } = parseHeader(new TextDecoder().decode(bytes), name));
  } catch {
    return []; // was reported of this branch
  }
  if (id === conversationOf(name)) return [];
  return [
    createFinding("id_differs", {
      path,
      message: `it is of ${id}, and its branches are called ${conversationOf(name)}`,
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

/** Worktrees whose view was made from another commit than the one they stand at. */
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

function order(findings: readonly FsckFinding[]): readonly FsckFinding[] {
  const rank = ({ severity }: FsckFinding): number => (severity === "error" ? 0 : 1);
  return findings.toSorted((a, b) => rank(a) - rank(b));
}
