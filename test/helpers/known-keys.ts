// The keys of all settings, walked as the schema has them.
import { formatKey, type SettingPath } from "../../src/config/keys.ts";
import { findNode } from "../../src/config/schema.ts";

/** `<name>` stands for a name of the user's; in the schema's order. */
export function listKnownKeys(path: SettingPath = []): string[] {
  const node = findNode(path)?.node;
  switch (node?.type) {
    case "table":
      return Object.keys(node.fields).flatMap((name) => listKnownKeys([...path, name]));
    case "named":
      return listKnownKeys([...path, "<name>"]);
    default:
      return [path.map((name) => (name === "<name>" ? name : formatKey([name]))).join(".")];
  }
}
