// The settings in force, for `jpg config`.
import { listSettings, renderSettings, type SettingRow } from "../../config/show-config.ts";
import { JpgError } from "../../core/errors.ts";
import { loadConversationConfig } from "../branch/conversation-config.ts";
import { resolveTree } from "../names/resolve-id.ts";
import type { Workspace } from "../workspace/workspace.ts";

export interface SettingsReport {
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

async function load(workspace: Workspace): ReturnType<Workspace["config"]> {
  try {
    return await loadConversationConfig(workspace, await resolveTree(workspace));
  } catch (error) {
    if (error instanceof JpgError && error.code === "no_conversation") return workspace.config();
    throw error;
  }
}
