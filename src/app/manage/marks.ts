// Tidies a list of conversations: archives them, gives them labels. Each change is one commit with one record.
import { selectDeltas } from "../../config/config.ts";
import { formatKey, parseKey, type SettingPath } from "../../config/keys.ts";
import { resolveShortKey } from "../../config/schema.ts";
import { listSettings, renderSettings, type SettingRow } from "../../config/show-config.ts";
import { isFields } from "../../core/conversation/event.ts";
import { marksInForce, parseLabel, parseTitle, sortLabels } from "../../core/conversation/marks.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { recordMessage } from "../../store/messages.ts";
import { appendMeta } from "../conversation/append.ts";
import { loadConversationConfig, readDeltas, storeDelta } from "../conversation/marks.ts";
import { refreshViews } from "../conversation/refresh-view.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { readMetas, titleIn } from "../conversation/turns.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { resolveTree, resolveWhole } from "../names/resolve-id.ts";

/** What was marked. */
interface Marked {
  readonly conversation: string;
  readonly branch: string;
  /** Null when nothing had to be written. */
  readonly commit: string | null;
}

interface ArchiveReport extends Marked {
  readonly archived: boolean;
}

interface LabelReport extends Marked {
  /** All that it has now, ordered by name. */
  readonly labels: readonly string[];
}

/** Archives a branch, or takes that back. */
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

/** The labels of a branch, ordered by name. */
export async function readLabels(workspace: Workspace, tree: BranchTree): Promise<LabelReport> {
  const { labels } = marksInForce(await readMetas(workspace, tree));
  return { ...namesOf(tree), commit: null, labels };
}

/** Gives a branch labels. Throws `bad_label`. */
export async function addLabels(
  workspace: Workspace,
  tree: BranchTree,
  names: readonly string[],
): Promise<LabelReport> {
  const added = names.map(parseLabel);
  return writeLabels(workspace, tree, (labels) => sortLabels([...labels, ...added]));
}

/** Takes labels away. Throws `unknown_label` with those there are. */
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

/** Gives a conversation's branch a new title. Throws `empty_title`, `long_title`. */
export async function setTitle(
  workspace: Workspace,
  tree: BranchTree,
  title: string,
): Promise<{ readonly commit: string | null; readonly title: string }> {
  const line = parseTitle(title);
  const commit = await appendMeta(workspace, tree, (metas, { header }) =>
    titleIn(metas, header) === line ? null : { fields: { title: line }, message: recordMessage("title", line) },
  );
  return { commit, title: line };
}

// The settings in force, and those that a conversation keeps taken back, for `jpg config`.

interface SettingsReport {
  readonly rows: readonly SettingRow[];
  readonly text: string;
}

/** Reads the settings, with the active conversation's layer when there is one. Throws `unknown_key`. */
export async function readSettings(
  workspace: Workspace,
  key: string | undefined,
  options: { readonly showOrigin: boolean },
): Promise<SettingsReport> {
  const loaded = await load(workspace);
  const rows = listSettings(loaded, key);
  return { rows, text: renderSettings(rows, options) };
}

/** A setting that a conversation kept and keeps no more. */
interface UnsetReport {
  /** In full, dotted; of a table, all that it held. */
  readonly key: string;
  readonly branch: string;
  readonly commit: string;
  /** What holds from now on; empty where nothing sets it. */
  readonly rows: readonly SettingRow[];
  readonly text: string;
}

/** Has the active conversation no longer keep a setting. Throws `unknown_key`, `not_set`. */
export async function unsetSetting(workspace: Workspace, key: string): Promise<UnsetReport> {
  const { path } = resolveShortKey(parseKey(key) ?? [key]);
  const tree = await resolveWhole(workspace);
  const deltas = selectDeltas(await readDeltas(workspace, tree));
  const dotted = formatKey(path);
  if (!deltas.some(({ delta }) => holds(delta, path)))
    throw notSet(dotted, listSettings(await load(workspace), dotted));
  const delta = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), null) as Record<string, unknown>;
  const stored = await storeDelta(workspace, tree, delta);
  if (stored === null) throw new Error("a delta is always stored");
  await refreshViews(workspace, tree.branch, stored.parent);
  const rows = listSettings(await load(workspace), dotted);
  const text = renderSettings(rows, { showOrigin: true });
  return { key: dotted, branch: tree.branch, commit: stored.commit, rows, text };
}

function holds(table: unknown, [name, ...rest]: SettingPath): boolean {
  if (name === undefined) return table !== undefined;
  return isFields(table) && Object.hasOwn(table, name) && holds(table[name], rest);
}

/** Where a setting comes from, for people. */
const PLACES: Readonly<Record<SettingRow["origin"]["layer"], string>> = {
  "built-in": "the built-in settings",
  user: "your own settings",
  project: "the project's file",
  conversation: "the conversation",
  flag: "--cfg",
};

function notSet(key: string, rows: readonly SettingRow[]): Error {
  const [row] = rows;
  const place = row === undefined ? "" : `; it comes from ${PLACES[row.origin.layer]}`;
  return userError("not_set", `This conversation does not set ${key}${place}.`, {
    data: { key },
    hints: ["`jpg config --show-origin` names the file and line that each setting comes from."],
  });
}

async function load(workspace: Workspace): ReturnType<Workspace["config"]> {
  try {
    return await loadConversationConfig(workspace, await resolveTree(workspace));
  } catch (error) {
    if (error instanceof JpgError && error.code === "no_conversation") return workspace.config();
    throw error;
  }
}
