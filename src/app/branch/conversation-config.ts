// The settings that hold for a conversation: its own layer is read from the small files under config/.

import {
  parseConfigDelta,
  type RecordedTool,
  recordedTools,
  type StoredDelta,
  selectDeltas,
  settingsOf,
} from "../../config/config.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { isFields } from "../../core/conversation/event.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { recordMessage } from "../../store/messages.ts";
import { rememberedProviders } from "../workspace/remembered-providers.ts";
import { randomId } from "../workspace/runtime.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type AppendedCommit, commitChange, recordChange, timestampAfter } from "./append-record.ts";
import { type BranchTree, collectBlobs } from "./branch-tree.ts";
import { decodeText } from "./decoded-text.ts";

/** The settings that hold for a conversation. */
export interface ConversationConfig extends LoadedConfig {
  /** The tools that its newest requests offered; null = not recorded. */
  readonly tools: readonly RecordedTool[] | null;
}

/** Loads the settings with the conversation's layer at its newest turn, and the providers that the user named for it. */
export async function loadConversationConfig(workspace: Workspace, tree: BranchTree): Promise<ConversationConfig> {
  const [deltas, named] = await Promise.all([
    readDeltas(workspace, tree),
    rememberedProviders(workspace, conversationOf(tree.branch)),
  ]);
  const selected = selectDeltas(deltas, tree.atTurn);
  const settings = selected.map((stored) => ({ ...stored, delta: settingsOf(stored.delta) }));
  return withTools(await workspace.config(settings, named), recordedTools(selected));
}

/** Adds the tools to a config that was just loaded. A copy of it would list every setting, which it does when it is asked. */
export function withTools(loaded: LoadedConfig, tools: ConversationConfig["tools"]): ConversationConfig {
  return Object.assign(loaded, { tools });
}

/** Stores this call's `--cfg` settings on the conversation; null when there are none that may be stored. */
export async function storeOverrides(workspace: Workspace, tree: BranchTree): Promise<AppendedCommit | null> {
  if (workspace.overrides.length === 0) return null;
  const [{ parseOverride, toDelta }, { asksForSummary }, { config }] = await Promise.all([
    import("../../config/load.ts"),
    import("../../config/layers.ts"),
    workspace.config(),
  ]);
  const delta = toDelta(workspace.overrides.map(parseOverride), (profile) => asksForSummary(profile, config));
  return delta === null ? null : storeDelta(workspace, tree, delta);
}

/** Stores a delta on the conversation, from its next turn on. */
export function storeDelta(
  workspace: Workspace,
  tree: BranchTree,
  delta: Readonly<Record<string, unknown>>,
): Promise<AppendedCommit | null> {
  return commitChange(workspace, tree, async (current) => {
    const deltas = await readDeltas(workspace, current);
    const timestamp = timestampAfter(
      workspace.runtime.now(),
      deltas.map((stored) => stored.timestamp),
    );
    const record = {
      type: "config_delta",
      id: randomId(workspace.runtime),
      timestamp,
      at_turn: current.turnOids.length,
      delta,
    };
    return {
      message: recordMessage("config", settingNames(delta).join(", ")),
      changes: [recordChange(workspace, "config", record)],
      sign: false,
    };
  });
}

/** The keys that a delta sets, or takes back; values stay out of commit messages. */
function settingNames(table: Readonly<Record<string, unknown>>, prefix = ""): string[] {
  return Object.entries(table).flatMap(([name, value]) =>
    isFields(value) ? settingNames(value, `${prefix}${name}.`) : [`${value === null ? "unset " : ""}${prefix}${name}`],
  );
}

/** Reads the settings that are stored on a conversation, one a file. */
export async function readDeltas(workspace: Pick<Workspace, "store">, tree: BranchTree): Promise<StoredDelta[]> {
  const blobs = await collectBlobs(
    workspace.store,
    tree.configs.map((file) => file.oid),
  );
  return blobs.map((bytes, index) => parseConfigDelta(decodeText(bytes), tree.configs[index]?.path ?? ""));
}
