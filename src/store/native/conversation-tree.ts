// Tells a repository of conversations by its content: a tree has a conversation.json of jpg's form, or is that of a README branch.
import { needsGit } from "../files/needs-git.ts";
import { STORE_MARKER } from "../readme-branch.ts";
import { type Repository, tryCommand } from "./git/git-command.ts";
import { readReach } from "./git/store-guard.ts";
import { createObjectFiles } from "./objects/object-files.ts";
import { parseTree } from "./objects/tree-object.ts";
import { hasNoRefs, readHead, readRef } from "./refs/ref-reader.ts";

/** Files of which a tree has one: that of a conversation the first, that of a README branch the second. */
const FILES = ["conversation.json", STORE_MARKER] as const;

/** Branches that are looked at where HEAD names none: the first may be somebody else's. */
const MOST_BRANCHES = 8;

/**
 * Whether the commit that HEAD names is of a repository of conversations; where it names none, one of the first branches. Throws
 * `needs_git` where git may not be asked and HEAD's files are not among those of the git dir: in a clone that shares or lacks objects.
 */
export async function isConversationTree(
  repository: Repository,
  { git = true }: { readonly git?: boolean } = {},
): Promise<boolean> {
  if (!git) return readWithoutGit(repository).then((found) => found.some(isMarking));
  if (!(await hasUnbornHead(repository))) return isMarked(repository, "HEAD");
  if (hasNoRefs(repository.gitDir)) return false;
  const args = ["for-each-ref", `--count=${MOST_BRANCHES}`, "--format=%(refname)", "refs/heads/", "refs/remotes/"];
  const refs = (await tryCommand(repository, { args })).stdout.toString().split("\n");
  for (const ref of refs) if (ref !== "" && (await isMarked(repository, ref))) return true;
  return false;
}

/** The files of a folder that say in its HEAD's tree that it is a repository of conversations, if it is one. */
export const MARKING_FILES: readonly string[] = FILES;

/** Whether HEAD names a branch without a commit, as in a clone of a repository whose HEAD names none. */
export async function hasUnbornHead(repository: Repository): Promise<boolean> {
  const head = await readHead(repository, repository.gitDir);
  return head !== null && "ref" in head && (await readRef(repository, head.ref)) === null;
}

async function isMarked(repository: Repository, revision: string): Promise<boolean> {
  let unread = 0;
  for (const name of FILES) {
    const { code, stdout } = await tryCommand(repository, { args: ["cat-file", "blob", `${revision}:${name}`] });
    if (code === 0 && isMarking({ name, text: stdout.toString() })) return true;
    if (code !== 0) unread++;
  }
  return unread === FILES.length && readReach(repository).unasked.length > 0 && isNamedSo(repository, revision);
}

/** By names alone: in a partial clone what the files say may not be here, and nobody is asked for it. */
async function isNamedSo(repository: Repository, revision: string): Promise<boolean> {
  const { stdout } = await tryCommand(repository, { args: ["ls-tree", "--name-only", "-z", revision] });
  const names = new Set(stdout.toString().split("\0"));
  return names.has(STORE_MARKER) || ["conversation.json", ".gitattributes"].every((name) => names.has(name));
}

/** A file of HEAD's tree that may say whose repository it is. */
interface MarkingFile {
  readonly name: string;
  readonly text: string;
}

/** Those of HEAD's tree, from the files of the git dir alone. */
async function readWithoutGit(repository: Repository): Promise<readonly MarkingFile[]> {
  const head = await readHead(repository, repository.gitDir);
  const commit = head === null || "commit" in head ? head?.commit : await readRef(repository, head.ref);
  // jpg's stores name objects by SHA-1, and so do clones of them.
  if (commit?.length !== 40) return [];
  const files = createObjectFiles(repository.gitDir);
  try {
    const read = (oid: string): Buffer => {
      const found = files.read(oid);
      if (found === null) throw needsGit(`Telling whether ${repository.cwd} holds conversations`, repository.env);
      return found.bytes;
    };
    const tree = /^tree ([0-9a-f]{40})\n/.exec(read(commit).toString("latin1"))?.[1];
    return (tree === undefined ? [] : parseTree(read(tree))).flatMap(({ name, oid }) =>
      MARKING_FILES.includes(name) ? [{ name, text: read(oid).toString() }] : [],
    );
  } finally {
    files.close();
  }
}

function isMarking({ name, text }: MarkingFile): boolean {
  try {
    const value: unknown = JSON.parse(text);
    const isForm = typeof value === "object" && value !== null && "format" in value;
    return isForm && (name === STORE_MARKER || "id" in value);
  } catch {
    // Some other program's file of that name.
    return false;
  }
}
