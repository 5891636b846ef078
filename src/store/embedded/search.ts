// Finds files of commits that hold a text. Commits of a conversation share most of their files: each is looked into once.
import type { TextQuery, TreeFile } from "../conversation-store.ts";
import type { EmbeddedObjects } from "./objects.ts";

/** Gives the paths of each commit's files that hold one of the texts, in path order; commits without any are left out. */
export async function findText(
  objects: EmbeddedObjects,
  list: (commit: string, under: readonly string[]) => Promise<readonly TreeFile[]>,
  commits: readonly string[],
  { texts, under, ignoreCase = false }: TextQuery,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const fold = (bytes: Buffer): Buffer => (ignoreCase ? toLowerCase(bytes) : bytes);
  const wanted = texts.map((text) => fold(Buffer.from(text)));
  const known = new Map<string, boolean>();
  const holds = async (oid: string): Promise<boolean> => {
    const found = known.get(oid);
    if (found !== undefined) return found;
    const bytes = fold((await objects.read(oid)).bytes);
    const isFound = wanted.some((text) => bytes.includes(text));
    known.set(oid, isFound);
    return isFound;
  };
  const found = new Map<string, string[]>();
  if (wanted.length === 0) return found;
  for (const commit of commits) {
    const paths: string[] = [];
    for (const { path, oid, special } of await list(commit, under)) {
      if (special !== "repository" && (await holds(oid))) paths.push(path);
    }
    if (paths.length > 0) found.set(commit, paths);
  }
  return found;
}

/** Of ASCII letters only, as git folds fixed strings outside a locale. */
function toLowerCase(bytes: Buffer): Buffer {
  const folded = Buffer.from(bytes);
  for (const [at, byte] of folded.entries()) if (byte >= 0x41 && byte <= 0x5a) folded[at] = byte + 0x20;
  return folded;
}
