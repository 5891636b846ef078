// Tells a repository of conversations by its content: a tree has a conversation.json of jpg's form.
import { type Repository, tryCommand } from "./git/git-command.ts";
import { readHead, readRef } from "./refs/ref-reader.ts";

/** Whether the commit that HEAD names is one of a conversation; where it names none, the first branch of a remote. */
export async function isConversationTree(repository: Repository): Promise<boolean> {
  if (!(await hasUnbornHead(repository))) return holdsConversation(repository, "HEAD");
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
    args: ["cat-file", "blob", `${revision}:conversation.json`],
  });
  if (code !== 0) return false;
  try {
    const value: unknown = JSON.parse(stdout.toString());
    return typeof value === "object" && value !== null && "format" in value && "id" in value;
  } catch {
    // Some other program's file of that name.
    return false;
  }
}
