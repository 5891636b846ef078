// The contents of many objects, from a git of their own. It unpacks them beside this process, and the pipe between the two is
// the bound on how far it is ahead.
import { repositoryError } from "../../../core/errors.ts";
import { commandError, formatArguments, placeOf, type Repository } from "../git/git-command.ts";
import { openGit } from "../git/git-process.ts";
import { createBatchParser, type StoredObject } from "./batch-parser.ts";

/** Number of objects from which starting git costs less than unpacking them here. */
export const MANY_OBJECTS = 256;

/** Objects that came together, null for one that is not there. */
export type ObjectList = readonly (StoredObject | null)[];

/**
 * Streams objects by id, in the order asked, as they come. Bytes share memory with their neighbours: who
 * keeps them keeps those too. Throws `git_missing`, and `store_damaged` or `git_failed` when git ends before the last.
 */
export async function* streamObjects(repository: Repository, oids: readonly string[]): AsyncGenerator<ObjectList> {
  const args = ["cat-file", "--batch", "--buffer"];
  const { child, ended } = openGit(formatArguments(repository, { args }), placeOf(repository));
  // Who stops early does not wait for the end.
  ended.catch(() => undefined);
  let left = oids.length;
  try {
    child.stdin.end(`${oids.join("\n")}\n`);
    const arrived: (StoredObject | null)[] = [];
    const parse = createBatchParser((object) => arrived.push(object));
    for await (const chunk of child.stdout) {
      parse(chunk as Buffer);
      left -= arrived.length;
      yield arrived.splice(0);
    }
    const result = await ended;
    if (result.code !== 0) throw await commandError(repository, { args }, result);
    if (left > 0) {
      throw repositoryError("git_failed", `git cat-file ended ${left} objects early in ${repository.cwd}.`);
    }
  } finally {
    child.kill();
  }
}
