// The binary form of a git tree object, SHA-1: `<mode> <name>\0<20 bytes>` per entry, in git's order.

/** One entry of a tree. */
export interface TreeEntry {
  readonly name: string;
  readonly oid: string;
  readonly isTree: boolean;
  /** As stored: `40000` for a folder, `100644` for a plain file. */
  readonly mode: string;
  /** What it is where it is neither a folder nor a plain file. */
  readonly special?: "link" | "repository";
}

/** Loads the entries of a tree by its id. */
export type LoadTree = (oid: string) => Promise<readonly TreeEntry[]>;

/** By mode. */
const SPECIAL: Readonly<Record<string, TreeEntry["special"]>> = { "120000": "link", "160000": "repository" };

/** Parses a tree object. Names are UTF-8. */
export function parseTree(bytes: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = [];
  let at = 0;
  while (at < bytes.length) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, space);
    if (space < 0 || end < 0) break;
    const mode = bytes.toString("latin1", at, space);
    const entry = {
      name: bytes.toString("utf8", space + 1, end),
      oid: bytes.toString("hex", end + 1, end + 21),
      isTree: bytes[at] === 0x34,
      mode,
    };
    const special = SPECIAL[mode];
    entries.push(special === undefined ? entry : { ...entry, special });
    at = end + 21;
  }
  return entries;
}

/** Formats a tree object from entries in any order. */
export function formatTree(entries: Iterable<Pick<TreeEntry, "name" | "oid" | "mode" | "isTree">>): Buffer {
  const keyed = [...entries].map((entry) => ({
    entry,
    key: Buffer.from(entry.isTree ? `${entry.name}/` : entry.name),
  }));
  keyed.sort((a, b) => Buffer.compare(a.key, b.key));
  return Buffer.concat(
    keyed.flatMap(({ entry }) => [Buffer.from(`${entry.mode} ${entry.name}\0`), Buffer.from(entry.oid, "hex")]),
  );
}

/** Splits a path at its slashes; a trailing slash and empty parts do not count. */
export function pathParts(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}
