// Archives conversations, and gives them labels and titles.
import { marksInForce, parseLabel, parseTitle, sortLabels } from "../../core/conversation/marks.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { userError } from "../../core/errors.ts";
import { recordMessage } from "../../store/messages.ts";
import { appendMeta } from "../conversation/append.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { givenTitle, readMetas } from "../conversation/turns.ts";
import type { Workspace } from "../conversation/workspace.ts";

interface Marked {
  readonly conversation: string;
  readonly branch: string;
  readonly commit: string | null;
}

interface ArchiveReport extends Marked {
  readonly archived: boolean;
}

interface LabelReport extends Marked {
  /** All its labels, ordered by name. */
  readonly labels: readonly string[];
}

/** Archives a branch, or unarchives it. */
export async function archiveConversation(
  workspace: Workspace,
  tree: BranchTree,
  archived: boolean,
): Promise<ArchiveReport> {
  const commit = await appendMeta(workspace, tree, (metas) =>
    marksInForce(metas).archived === archived
      ? null
      : { fields: { archived }, message: archived ? "archive\n" : "unarchive\n" },
  );
  return { ...namesOf(tree), commit, archived };
}

/** Reads the labels of a branch, ordered by name. */
export async function readLabels(workspace: Workspace, tree: BranchTree): Promise<LabelReport> {
  const { labels } = marksInForce(await readMetas(workspace, tree));
  return { ...namesOf(tree), commit: null, labels };
}

/** Adds labels to a branch. Throws `bad_label`. */
export async function addLabels(
  workspace: Workspace,
  tree: BranchTree,
  names: readonly string[],
): Promise<LabelReport> {
  const added = names.map(parseLabel);
  return writeLabels(workspace, tree, (labels) => sortLabels([...labels, ...added]));
}

/** Removes labels. Throws `unknown_label` with the existing ones. */
export async function removeLabels(
  workspace: Workspace,
  tree: BranchTree,
  names: readonly string[],
): Promise<LabelReport> {
  const removed = new Set(names.map(parseLabel));
  return writeLabels(workspace, tree, (labels) => {
    const missing = [...removed].find((name) => !labels.includes(name));
    if (missing !== undefined) throw unknownLabel(tree.branch, missing, labels);
    return labels.filter((name) => !removed.has(name));
  });
}

async function writeLabels(
  workspace: Workspace,
  tree: BranchTree,
  change: (labels: readonly string[]) => readonly string[],
): Promise<LabelReport> {
  let labels: readonly string[] = [];
  const commit = await appendMeta(workspace, tree, (metas) => {
    const before = marksInForce(metas).labels;
    labels = change(before);
    if (labels.join() === before.join()) return null;
    return { fields: { labels }, message: recordMessage("label", labels.length === 0 ? "none" : labels.join(", ")) };
  });
  return { ...namesOf(tree), commit, labels };
}

function namesOf({ branch }: BranchTree): Pick<Marked, "conversation" | "branch"> {
  return { conversation: conversationOf(branch), branch };
}

function unknownLabel(branch: string, name: string, labels: readonly string[]): Error {
  return userError("unknown_label", `${branch} has no label ${name}.`, {
    hints: [labels.length === 0 ? "It has no labels." : `Its labels: ${labels.join(", ")}`],
  });
}

/** Sets the title of a branch. Throws `empty_title`, `long_title`. */
export async function setTitle(
  workspace: Workspace,
  tree: BranchTree,
  title: string,
): Promise<{ readonly commit: string | null; readonly title: string }> {
  const line = parseTitle(title);
  const commit = await appendMeta(workspace, tree, (metas, { header }) =>
    (givenTitle(metas) || header.title) === line
      ? null
      : { fields: { title: line }, message: recordMessage("title", line) },
  );
  return { commit, title: line };
}
