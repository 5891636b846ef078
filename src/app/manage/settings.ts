// Reads the settings in force and unsets those of a conversation, for `jpg config`.
import { selectDeltas } from "../../config/config.ts";
import { formatKey, parseKey, type SettingPath } from "../../config/keys.ts";
import { resolveShortKey } from "../../config/schema.ts";
import { listSettings, renderSettings, type SettingRow } from "../../config/show-config.ts";
import { isFields } from "../../core/conversation/event.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { loadConversationConfig, readDeltas, storeDelta } from "../conversation/marks.ts";
import { refreshViews } from "../conversation/refresh-view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { resolveTree, resolveWhole } from "../names/resolve-id.ts";

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

/** A setting that was unset on a conversation. */
interface UnsetReport {
  /** Full dotted key; of a table, all its settings were unset. */
  readonly key: string;
  readonly branch: string;
  readonly commit: string;
  /** What is in force now; empty if nothing sets it. */
  readonly rows: readonly SettingRow[];
  readonly text: string;
}

/** Unsets a setting of the active conversation. Throws `unknown_key`, `not_set`. */
export async function unsetSetting(workspace: Workspace, key: string): Promise<UnsetReport> {
  const { path } = resolveShortKey(parseKey(key) ?? [key]);
  const tree = await resolveWhole(workspace);
  const deltas = selectDeltas(await readDeltas(workspace, tree));
  const dotted = formatKey(path);
  if (!deltas.some(({ delta }) => hasSetting(delta, path)))
    throw notSet(dotted, listSettings(await load(workspace), dotted));
  const delta = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), null) as Record<string, unknown>;
  const stored = await storeDelta(workspace, tree, delta);
  if (stored === null) throw new Error("a delta is always stored");
  await refreshViews(workspace, tree.branch, stored.parent);
  const rows = listSettings(await load(workspace), dotted);
  const text = renderSettings(rows, { showOrigin: true });
  return { key: dotted, branch: tree.branch, commit: stored.commit, rows, text };
}

function hasSetting(table: unknown, [name, ...rest]: SettingPath): boolean {
  if (name === undefined) return table !== undefined;
  return isFields(table) && Object.hasOwn(table, name) && hasSetting(table[name], rest);
}

/** Layers in words. */
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
