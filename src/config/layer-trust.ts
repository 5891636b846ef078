// Who may set what. A conversation comes from anywhere, a project's file from whoever wrote the project. Neither may name a
// program, an address, a key or the system prompt, nor switch on what spends or sends, unless the user trusted the
// project's file (decision 019 has the table).
import type { Config } from "./config.ts";
import type { Assignment, LayerName } from "./layer.ts";
import { namedProviderOf, namedProviders } from "./named-providers.ts";
import { formatKey, type SettingPath } from "./setting-key.ts";
import { findNode } from "./setting-tree.ts";

/** Of what a conversation may set what is not gated: the model's name, how turns are compacted, and hints. */
const OPEN_TO_CONVERSATIONS: readonly SettingPath[] = [
  ["conversation", "model"],
  ["conversation", "compaction"],
  ["conversation", "tools"],
];

/** The key that names a profile; a stranger may name one that asks no model. */
export const DEFAULT_PROFILE = "conversation.compaction.default_profile";

/** Whether a layer's word is the user's: nothing in it is refused. */
export function isUsersWord(layer: LayerName, isTrusted: boolean): boolean {
  return layer === "built-in" || layer === "user" || layer === "flag" || (layer === "project" && isTrusted);
}

/**
 * Gives why a layer without trust may not set a key so; null when it may. `own`: the settings of the layers that are the
 * user's word, put together.
 */
export function refusalOfSetting(
  layer: LayerName,
  { path, value }: Pick<Assignment, "path" | "value">,
  own: Config,
): string | null {
  if (layer === "conversation" && !isAllowedToConversations(path)) return "a conversation may not set it";
  if (isGated(path)) return "needs trust, which this project's file does not have";
  if (typeof value !== "string") return null;
  switch (formatKey(path)) {
    case "conversation.model":
      return refusalOfModel(value, own);
    case DEFAULT_PROFILE:
      return asksForSummary(value, own) ? `the profile ${value} has a model write a summary` : null;
    default:
      return null;
  }
}

/** Gives why a layer may not set what only the user's own word counts for, trusted or not; null when it may. */
export function refusalOfOthers(layer: LayerName, path: SettingPath): string | null {
  if (layer !== "project" && layer !== "conversation") return null;
  const node = findNode(path)?.node;
  return node?.type === "setting" && node.facts.usersOnly === true ? "only your own settings may set it" : null;
}

/** Whether a conversation's own layer may set a key, to one value or another. */
export function isAllowedToConversations(path: SettingPath): boolean {
  const isOpen = OPEN_TO_CONVERSATIONS.some((table) => table.every((name, index) => name === path[index]));
  return isOpen && !isGated(path);
}

/** Whether a profile has a model write a summary. */
export function asksForSummary(profile: string, { conversation }: Config): boolean {
  return conversation.compaction.profiles[profile]?.summary !== undefined;
}

function refusalOfModel(model: string, own: Config): string | null {
  if (model === "") return null;
  const provider = namedProviderOf(model, own);
  if (provider === null) return "it names no provider of models that your own settings know";
  return namedProviders(own).has(provider) ? null : `your own settings do not name ${provider}`;
}

/** A table of a provider or a server names it, also an empty one. */
function isGated(path: SettingPath): boolean {
  if (path[0] === "providers" || path[0] === "mcp") return true;
  const node = findNode(path)?.node;
  return node?.type === "setting" && node.facts.gated === true;
}
