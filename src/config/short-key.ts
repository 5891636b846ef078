// What a person may type for a setting's key: the whole key, or what is left of it without `conversation.compaction.` or
// `conversation.`. Tried in this order, so a whole key always means itself.
import { JpgError, nearestName } from "../core/errors.ts";
import { formatKey, type SettingPath } from "./setting-key.ts";
import { type FoundNode, findNode, namesUnder } from "./setting-tree.ts";

const SHORT_FOR: readonly SettingPath[] = [[], ["conversation", "compaction"], ["conversation"]];

/** Resolves a typed key to the node it names. Throws `unknown_key` with the nearest key. */
export function resolveShortKey(path: SettingPath): FoundNode {
  for (const prefix of SHORT_FOR) {
    const found = findNode([...prefix, ...path]);
    if (found !== null) return found;
  }
  const nearest = nearestKey(path);
  const key = formatKey(path);
  throw new JpgError(
    "config",
    "unknown_key",
    `No setting is called ${key}: expected a key such as keep_last or auto.enabled.`,
    {
      hints: [nearest === null ? "`jpg config` lists the settings in force." : `Did you mean ${nearest}?`],
      data: { key, ...(nearest === null ? {} : { nearest }) },
    },
  );
}

function nearestKey(path: SettingPath): string | null {
  for (const prefix of SHORT_FOR) {
    const full = [...prefix, ...path];
    const at = full.findIndex((_, index) => findNode(full.slice(0, index + 1)) === null);
    const near = nearestName(full[at] ?? "", namesUnder(full.slice(0, at)));
    if (near !== undefined) return formatKey([...full.slice(0, at), near, ...full.slice(at + 1)]);
  }
  return null;
}
