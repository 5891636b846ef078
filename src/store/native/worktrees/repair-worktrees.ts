// Joins linked worktrees to a store that was moved or copied with them: git notes both places by absolute path. Git's own
// `worktree repair` believes what it finds noted, and in a copy that leads to the worktrees of the first store; here a
// worktree counts only where it stands beside this store as it stood beside the old place.
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { readFileIfThere, readOwnText } from "../../files/read-file.ts";
import { replaceFile } from "../../files/replace-file.ts";

/** Where a store is and was. */
export interface MovedStore {
  readonly gitDir: string;
  readonly oldGitDir: string;
  /** The folder in which worktrees are made by default, now. */
  readonly worktreesDir: string;
}

/** Joins the worktrees that came along, and where nothing is at the old place any more, those that stayed; gives their number. */
export async function repairWorktrees(store: MovedStore): Promise<number> {
  const folder = join(store.gitDir, "worktrees");
  const names = await readdir(folder).catch(() => []);
  let repaired = 0;
  for (const name of names) if (await repairWorktree(store, name)) repaired += 1;
  return repaired;
}

async function repairWorktree(store: MovedStore, name: string): Promise<boolean> {
  const own = join(store.gitDir, "worktrees", name);
  const noted = (await readFileIfThere(join(own, "gitdir")))?.trim() ?? "";
  if (noted === "") return false;
  const old = resolve(own, noted);
  const link = placesOf(store, old).find((path) => isLinkTo(path, join(store.oldGitDir, "worktrees", name)));
  if (link === undefined) return false;
  await replaceFile(join(own, "gitdir"), `${link}\n`);
  await replaceFile(link, `gitdir: ${own}\n`);
  return true;
}

/** Where the `.git` file of a worktree may be now, the likeliest first. Those of another store that is still there are its own. */
function placesOf({ gitDir, oldGitDir, worktreesDir }: MovedStore, old: string): readonly string[] {
  const folder = "/jpg-worktrees/";
  const at = old.lastIndexOf(folder);
  const besides = at < 0 ? [] : [join(worktreesDir, old.slice(at + folder.length))];
  return existsSync(oldGitDir) ? besides : [...besides, resolve(gitDir, relative(oldGitDir, old)), old];
}

/** Whether a path is such a file and no link, and names the git dir of that worktree. */
function isLinkTo(path: string, gitDir: string): boolean {
  try {
    const named = /^gitdir: (.+?)\s*$/s.exec(readOwnText(path))?.[1];
    return named !== undefined && resolve(dirname(path), named) === gitDir;
  } catch {
    return false; // nothing there, or nothing of git's
  }
}
