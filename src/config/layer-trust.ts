// Who may set what. A conversation comes from anywhere, a project's file from whoever wrote the project: neither may name
// a program or an address that jpg would use, a key, or the system prompt, unless the user trusted the project's file.
import type { Assignment, LayerName } from "./layer.ts";
import type { SettingPath } from "./setting-key.ts";
import { findNode } from "./setting-tree.ts";

/** Of what a conversation may set what is not gated: the model's name, compaction with its models, and hints. */
const OPEN_TO_CONVERSATIONS: readonly SettingPath[] = [
  ["conversation", "model"],
  ["conversation", "compaction"],
  ["conversation", "tools"],
];

/** Whether a conversation's own layer may set a key. */
export function isAllowedToConversations(path: SettingPath): boolean {
  const isOpen = OPEN_TO_CONVERSATIONS.some((table) => table.every((name, index) => name === path[index]));
  return isOpen && !isGated(path);
}

/** Gives why a layer may not set a key; null when it may. */
export function refusal(layer: LayerName, isTrusted: boolean, { path }: Pick<Assignment, "path">): string | null {
  switch (layer) {
    case "built-in":
    case "user":
    case "flag":
      return null;
    case "project":
      return isTrusted || !isGated(path) ? null : "needs trust, which this project's file does not have";
    case "conversation":
      return isAllowedToConversations(path) ? null : "a conversation may not set it";
  }
}

function isGated(path: SettingPath): boolean {
  const node = findNode(path)?.node;
  return node?.type === "setting" && node.facts.gated === true;
}
