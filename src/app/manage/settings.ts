// Reads the settings in force and unsets those of a conversation, for `jpg config`.
import { selectDeltas } from "../../config/config.ts";
import { formatKey, parseKey, type SettingPath } from "../../config/keys.ts";
import { parseOverride } from "../../config/load.ts";
import { resolveShortKey } from "../../config/schema.ts";
import { listSettings, renderSettings, type SettingRow } from "../../config/show-config.ts";
import { isFields } from "../../core/conversation/event.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { loadConversationConfig, readDeltas, storeDelta, storeOverrides } from "../conversation/marks.ts";
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

/** Lists the names of the profiles there are, built-in ones and those in the settings. */
export async function listProfiles(workspace: Workspace): Promise<readonly string[]> {
  return Object.keys((await load(workspace)).config.conversation.compaction.profiles);
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

/** A setting that was set on a conversation. */
type SetReport = Pick<UnsetReport, "key" | "branch" | "commit">;

/**
 * Keeps a setting, `KEY=VALUE`, in the active conversation; the workspace must have been opened with it as an override, which checks
 * it. Throws `not_for_conversations` for what only a file may set, and what `parseOverride` throws.
 */
export async function setSetting(workspace: Workspace, text: string): Promise<SetReport> {
  const { path } = parseOverride(text);
  const dotted = formatKey(path);
  const tree = await resolveWhole(workspace);
  const stored = await storeOverrides(workspace, tree);
  if (stored === null)
    throw userError(
      "not_for_conversations",
      `A conversation cannot set ${dotted}: it names, starts or sends something.`,
      {
        data: { key: dotted },
        hints: [
          `Write it into .jpg.toml of the project, or into your own config.toml; \`jpg config --show-origin\` says what comes from where.`,
        ],
      },
    );
  await refreshViews(workspace, tree.branch, stored.parent);
  return { key: dotted, branch: tree.branch, commit: stored.commit };
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
