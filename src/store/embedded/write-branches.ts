// Writes commits object by object: their blobs, the folders that changed, the commit. No ref names them until the branch moves,
// so that an interrupted write leaves only objects behind that nothing reaches.
import { userError } from "../../core/errors.ts";
import type { BranchWrite, CommitSpec, FileChange } from "../conversation-store.ts";
import { needsGit } from "../files/needs-git.ts";
import type { LoadTree } from "../native/objects/tree-object.ts";
import { formatCommit } from "../native/writes/commit-object.ts";
import { openTreeEditor, type TreeEditor } from "../native/writes/tree-editor.ts";
import type { ReadCommit } from "./history.ts";
import type { EmbeddedObjects } from "./objects.ts";
import type { EmbeddedRepository } from "./repository.ts";

/** What commits are written with. */
export interface CommitTools {
  readonly objects: EmbeddedObjects;
  readonly load: LoadTree;
  readonly read: ReadCommit;
  /** Whether the user's git signs commits. */
  readonly signs: () => Promise<boolean>;
  readonly env: EmbeddedRepository["env"];
}

/** Commits that were written for a branch which has not moved yet. */
export interface WrittenBranch {
  readonly branch: string;
  readonly expected: string | null;
  /** Where the branch is to stand. */
  readonly to: string;
  /** Ids of the commits, oldest first. */
  readonly commits: readonly string[];
}

/** Writes the commits of all writes; moves no branch. Throws `object_missing`, `bad_path`, `empty_write`, `needs_git`. */
export async function writeBranches(
  tools: CommitTools,
  writes: Iterable<BranchWrite> | AsyncIterable<BranchWrite>,
): Promise<readonly WrittenBranch[]> {
  const written: WrittenBranch[] = [];
  for await (const { branch, expected, parent, commits: specs } of writes) {
    const editor = openTreeEditor(tools.objects, tools.load, parent === null ? null : (await tools.read(parent)).tree);
    const commits: string[] = [];
    for await (const spec of specs) commits.push(await writeCommit(tools, editor, spec, commits.at(-1) ?? parent));
    const to = commits.at(-1) ?? parent;
    if (to === null)
      throw userError("empty_write", `There is nothing to write to ${branch}: no commits and no parent.`);
    written.push({ branch, expected, to, commits });
  }
  await tools.objects.flush();
  return written;
}

async function writeCommit(
  tools: CommitTools,
  editor: TreeEditor,
  spec: CommitSpec,
  parent: string | null,
): Promise<string> {
  if (spec.sign === true && (await tools.signs())) throw needsGit("Signing a commit (commit.gpgSign)", tools.env);
  for (const change of spec.changes) {
    if ("remove" in change) await editor.remove(change.path);
    else await editor.put(change.path, await blobOf(tools.objects, change));
  }
  const tree = await editor.write();
  return await tools.objects.write("commit", formatCommit(spec, { tree, parent }));
}

async function blobOf(
  objects: EmbeddedObjects,
  change: Exclude<FileChange, { readonly remove: true }>,
): Promise<string> {
  if ("oid" in change) return (await objects.read(change.oid)).oid;
  // The bytes may be reused as soon as the next change is asked for.
  return await objects.write("blob", Uint8Array.from(change.bytes));
}
