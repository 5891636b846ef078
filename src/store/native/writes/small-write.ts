// Writes the commits of a small write by itself, object by object, as `git fast-import` and the `git unpack-objects` behind it
// would: same ids, no process. Whatever is not small or not plain is left to git, and so is saying what went wrong.
import { JpgError } from "../../../core/errors.ts";
import type { BranchWrite, CommitSpec, FileChange } from "../../conversation-store.ts";
import type { Repository } from "../git/git-command.ts";
import type { BlobReader } from "../objects/blob-reader.ts";
import { createObject, type NewObject, writeLooseObjects } from "../objects/loose-objects.ts";
import { parseTree } from "../objects/tree-object.ts";
import { formatCommit } from "./commit-object.ts";
import type { ImportedBranch } from "./fast-import.ts";
import { type ObjectSink, openTreeEditor, type TreeEditor } from "./tree-editor.ts";

/** Reads what commits are built on. */
export type ObjectReader = Pick<BlobReader, "read">;

/** Many objects make better packs than files; both in all commits of a write. */
const MOST_CHANGES = 32;
const MOST_BYTES = 1024 * 1024;

const OBJECT_ID = /^[0-9a-f]{40}$/;

interface SmallBranch extends BranchWrite {
  readonly parent: string;
  readonly commits: readonly CommitSpec[];
}

/**
 * Writes the commits of all writes; moves no branch. Null when git has to: nothing that git would stumble over was put in place.
 * `onSign` is called for each commit that asks to be signed, before it is written.
 */
export async function writeSmall(
  { gitDir }: Repository,
  { reader, onSign }: { readonly reader: ObjectReader; readonly onSign: () => void },
  writes: Iterable<BranchWrite> | AsyncIterable<BranchWrite>,
): Promise<readonly ImportedBranch[] | null> {
  const small = smallBranches(writes);
  if (small === null) return null;
  for (const { commits } of small) for (const { sign } of commits) if (sign === true) onSign();
  const objects = new Map<string, NewObject>();
  try {
    const written: ImportedBranch[] = [];
    for (const branch of small) written.push(await makeCommits(reader, objects, branch));
    await writeLooseObjects(gitDir, objects.values());
    return written;
  } catch (error) {
    if (error instanceof JpgError || (error as NodeJS.ErrnoException).code !== undefined) return null;
    throw error;
  }
}

/** The branches, when all that is to be written of them is there at once, little, and built on commits of the store. */
function smallBranches(writes: Iterable<BranchWrite> | AsyncIterable<BranchWrite>): readonly SmallBranch[] | null {
  const small: SmallBranch[] = [];
  let [count, bytes] = [0, 0];
  for (const { branch, expected, parent, commits } of listOf(writes) ?? []) {
    const specs = listOf(commits);
    // A store of another kind of ids would have its own here.
    if (specs === null || specs.length === 0 || parent === null || !OBJECT_ID.test(parent)) return null;
    for (const { changes, merges = [] } of specs) {
      const list = listOf(changes);
      if (list === null || merges.length > 1 || !merges.every((commit) => OBJECT_ID.test(commit))) return null;
      count += list.length + 1;
      bytes += list.reduce((sum, change) => sum + sizeOf(change), 0);
    }
    small.push({ branch, expected, parent, commits: specs });
  }
  return small.length > 0 && count <= MOST_CHANGES && bytes <= MOST_BYTES ? small : null;
}

function listOf<T>(source: Iterable<T> | AsyncIterable<T>): readonly T[] | null {
  return Array.isArray(source) ? source : null;
}

function sizeOf(change: FileChange): number {
  return "bytes" in change ? change.bytes.length : 0;
}

async function makeCommits(
  reader: ObjectReader,
  objects: Map<string, NewObject>,
  { branch, expected, parent, commits: specs }: SmallBranch,
): Promise<ImportedBranch> {
  const sink: ObjectSink = {
    write: (type, content) => {
      const object = createObject(type, content);
      objects.set(object.oid, object);
      return Promise.resolve(object.oid);
    },
  };
  const load = async (oid: string): Promise<ReturnType<typeof parseTree>> => {
    const { type, bytes } = await needed(reader, oid);
    if (type !== "tree") throw leftToGit(oid);
    return parseTree(bytes);
  };
  const editor = openTreeEditor(sink, load, (await needed(reader, `${parent}^{tree}`)).oid);
  const commits: string[] = [];
  for (const spec of specs) {
    for (const merged of spec.merges ?? []) await needed(reader, `${merged}^{commit}`);
    for (const change of spec.changes) await makeChange(reader, { sink, editor }, change);
    const tree = await editor.write();
    commits.push(await sink.write("commit", formatCommit(spec, { tree, parent: commits.at(-1) ?? parent })));
  }
  const asked = specs.findIndex(({ sign }) => sign === true);
  const firstSigned = asked < 0 ? specs.length : asked;
  const signed = specs.slice(firstSigned).map(({ message, author, committer, sign, merges = [] }) => ({
    message,
    author,
    committer,
    sign: sign === true,
    merges,
  }));
  return { branch, expected, parent, commits, firstSigned, specs: signed };
}

async function makeChange(
  reader: ObjectReader,
  { sink, editor }: { readonly sink: ObjectSink; readonly editor: TreeEditor },
  change: FileChange,
): Promise<void> {
  if ("remove" in change) await editor.remove(change.path);
  else if ("bytes" in change) await editor.put(change.path, await sink.write("blob", change.bytes));
  else await editor.put(change.path, (await needed(reader, change.oid)).oid);
}

async function needed(
  reader: ObjectReader,
  name: string,
): Promise<NonNullable<Awaited<ReturnType<ObjectReader["read"]>>>> {
  const object = await reader.read(name);
  if (object === null) throw leftToGit(name);
  return object;
}

/** Git says better what is the matter with an object. */
function leftToGit(name: string): JpgError {
  return new JpgError("repository", "object_missing", `${name} is not what it should be.`);
}
