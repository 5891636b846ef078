// Tells a repository of conversations by its content: a tree has a conversation.json of jpg's form.
import { type Repository, tryCommand } from "./git/git-command.ts";
import { createObjectFiles } from "./objects/object-files.ts";
import { parseTree } from "./objects/tree-object.ts";
import { hasRemoteBranches, isReftable, readHead, readRef } from "./refs/ref-reader.ts";

/** The file that the tree of every conversation has. */
const FILE = "conversation.json";

/** Whether the commit that HEAD names is one of a conversation; where it names none, the first branch of a remote. */
export async function isConversationTree(
  repository: Repository,
  { git = true }: { readonly git?: boolean } = {},
): Promise<boolean> {
  if (!git) return isConversationFile(await readWithoutGit(repository));
  if (!(await hasUnbornHead(repository))) return holdsConversation(repository, "HEAD");
  if (!isReftable(repository) && !(await hasRemoteBranches(repository.gitDir))) return false;
  const args = ["for-each-ref", "--count=1", "--format=%(refname)", "refs/remotes/"];
  const first = (await tryCommand(repository, { args })).stdout.toString().trim();
  return first !== "" && holdsConversation(repository, first);
}

/** Whether HEAD names a branch without a commit, as in a clone of a repository whose HEAD names none. */
export async function hasUnbornHead(repository: Repository): Promise<boolean> {
  const head = await readHead(repository, repository.gitDir);
  return head !== null && "ref" in head && (await readRef(repository, head.ref)) === null;
}

async function holdsConversation(repository: Repository, revision: string): Promise<boolean> {
  const { code, stdout } = await tryCommand(repository, {
    args: ["cat-file", "blob", `${revision}:${FILE}`],
  });
  return code === 0 && isConversationFile(stdout.toString());
}

/** What HEAD's tree has under the name, from the files of the git dir alone; null when it has nothing. */
async function readWithoutGit(repository: Repository): Promise<string | null> {
  const head = await readHead(repository, repository.gitDir);
  const commit = head === null || "commit" in head ? head?.commit : await readRef(repository, head.ref);
  const files = createObjectFiles(repository.gitDir);
  try {
    const read = (oid: string | undefined): Buffer | null =>
      (oid === undefined ? null : files.read(oid))?.bytes ?? null;
    const tree = /^tree ([0-9a-f]{40})\n/.exec(read(commit ?? undefined)?.toString("latin1") ?? "")?.[1];
    const entry = parseTree(read(tree) ?? Buffer.alloc(0)).find(({ name }) => name === FILE);
    return read(entry?.oid)?.toString() ?? null;
  } finally {
    files.close();
  }
}

function isConversationFile(text: string | null): boolean {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value !== null && "format" in value && "id" in value;
  } catch {
    // Some other program's file of that name.
    return false;
  }
}
