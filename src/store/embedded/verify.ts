// What is wrong in a store below the meaning of its files: objects that are missing or whose bytes are not those of their id,
// refs that name no commit, and files that history changed in place.
import { createHash } from "node:crypto";
import { JpgError } from "../../core/errors.ts";
import type { RewrittenFile, StoreVerdict } from "../conversation-store.ts";
import type { LoadTree } from "../native/objects/tree-object.ts";
import type { FoundRef } from "../refs/ref-files.ts";
import { type FoundCommit, newestFirst, type ReadCommit, stepsOf } from "./history.ts";
import type { EmbeddedObjects } from "./objects.ts";
import { createPathFilter } from "./trees.ts";

/** Only these are never changed, or only grow: what a format rewrites on each save is not looked at. */
const FOLDERS = ["conversation.json", "turns", "compactions", "config", "meta", "attachments"];

/** Verifies everything that the refs reach; each object is read once. */
export async function verifyObjects(
  { objects, load, read }: { readonly objects: EmbeddedObjects; readonly load: LoadTree; readonly read: ReadCommit },
  refs: readonly FoundRef[],
): Promise<StoreVerdict> {
  const problems: string[] = [];
  const rewritten: RewrittenFile[] = [];
  const sound = new Map<string, boolean>();
  const check = async (oid: string, what: string): Promise<boolean> => {
    const known = sound.get(oid);
    if (known !== undefined) return known;
    const problem = await findProblem(objects, oid, what);
    if (problem !== null) problems.push(problem);
    sound.set(oid, problem === null);
    return problem === null;
  };
  const checkTree = async (oid: string): Promise<void> => {
    if (sound.has(oid) || !(await check(oid, "tree"))) return;
    for (const entry of await load(oid)) {
      if (entry.isTree) await checkTree(entry.oid);
      else if (entry.special !== "repository") await check(entry.oid, "blob");
    }
  };
  const tips = new Set<string>();
  for (const { ref, commit } of refs) {
    if (commit === null) problems.push(`error: ${ref}: holds no commit id`);
    else if (await check(commit, "commit")) tips.add(commit);
  }
  const isSound = async (oid: string): Promise<FoundCommit> => {
    const commit = await read(oid);
    for (const parent of commit.parents) await check(parent, "commit");
    return { ...commit, parents: commit.parents.filter((parent) => sound.get(parent) === true) };
  };
  for await (const commit of newestFirst(isSound, [...tips])) {
    await checkTree(commit.tree);
    if (sound.get(commit.tree) === true) for (const file of await rewritesIn(read, load, commit)) rewritten.push(file);
  }
  return { problems, rewritten };
}

/** Names an object as git fsck does. */
async function findProblem(objects: EmbeddedObjects, oid: string, what: string): Promise<string | null> {
  try {
    const object = await objects.find(oid);
    if (object === null) return `missing ${what} ${oid}`;
    const { type, bytes } = object;
    const digest = createHash("sha1").update(`${type} ${bytes.length}\0`).update(bytes).digest("hex");
    return digest === oid && type === what ? null : `error: ${oid}: is no ${what} of this id`;
  } catch (error) {
    if (error instanceof JpgError) return `error: ${oid}: ${error.message}`;
    throw error;
  }
}

/** Merges are not looked at, and what cannot be compared is a problem already. */
async function rewritesIn(read: ReadCommit, load: LoadTree, commit: FoundCommit): Promise<readonly RewrittenFile[]> {
  const [parent, ...others] = commit.parents;
  if (parent === undefined || others.length > 0) return [];
  try {
    const steps = await stepsOf(read, load, commit, createPathFilter(FOLDERS));
    const changed = [...steps].flatMap(([path, step]) => (step === "changed" ? [path] : []));
    const before = (await read(parent)).tree;
    return await Promise.all(
      changed.map(async (path) => ({
        commit: commit.oid,
        path,
        from: await entryAt(load, before, path),
        to: await entryAt(load, commit.tree, path),
      })),
    );
  } catch (error) {
    if (error instanceof JpgError) return [];
    throw error;
  }
}

async function entryAt(load: LoadTree, tree: string, path: string): Promise<string> {
  let oid = tree;
  for (const part of path.split("/")) oid = (await load(oid)).find(({ name }) => name === part)?.oid ?? "";
  return oid;
}
