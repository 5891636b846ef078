// Files that a commit changed where they stood: records never change, a turn only grows, and of an agent's own file only the
// newest piece does.

import { createFinding, type Finding } from "../../core/conversation/branch-files.ts";
import { sourceFileOf, turnIndexOfPath, turnIndexOfSource } from "../../core/conversation/turn-file.ts";
import { JpgError } from "../../core/errors.ts";
import type { ConversationStore, RewrittenFile } from "../../store/store.ts";
import { collectBlobs } from "../branch/branch-tree.ts";

/** What a file may do where it stands. */
const RULES = {
  turn: "a turn only grows",
  piece: "of an agent's file the newest piece only grows, and no older one changes",
  record: "it is written once",
} as const;

/** Lists those that changed otherwise than they may. */
export async function checkRewritten(
  store: ConversationStore,
  rewritten: readonly RewrittenFile[],
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const file of rewritten) {
    const rule = ruleOf(file.path);
    if (rule === null || (rule !== "record" && (await isGrowth(store, file)))) continue;
    const { commit, path } = file;
    findings.push(
      createFinding("changed_in_place", {
        path,
        message: `commit ${commit.slice(0, 9)} changed it where it stood: ${RULES[rule]}`,
        hint: `\`jpg git show ${commit.slice(0, 9)} -- ${path}\` shows what; revert that commit if it was not meant`,
      }),
    );
  }
  return findings;
}

/** Null = the agent may write it anew: a session that is one document, and files beside a session. */
function ruleOf(path: string): keyof typeof RULES | null {
  if (turnIndexOfPath(path) !== null) return "turn";
  if (!path.startsWith("sources/")) return "record";
  return turnIndexOfSource(path) === null ? null : "piece";
}

async function isGrowth(store: ConversationStore, { commit, path, from, to }: RewrittenFile): Promise<boolean> {
  try {
    if (path.startsWith("sources/") && !(await isNewestPiece(store, `${commit}^`, path))) return false;
    const [before, after] = await collectBlobs(store, [from, to]);
    return (
      before !== undefined && after !== undefined && Buffer.compare(before, after.subarray(0, before.length)) === 0
    );
  } catch (error) {
    if (error instanceof JpgError) return true; // an object that is missing is named by git
    throw error;
  }
}

/** Whether a piece is the last of its session at a commit: they are in the order of their paths. */
async function isNewestPiece(store: ConversationStore, commit: string, path: string): Promise<boolean> {
  const files = await store.listTree(commit, { under: [sourceFileOf(path)] });
  return !files.some((file) => turnIndexOfSource(file.path) !== null && file.path > path);
}
