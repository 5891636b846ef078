// Keeps a folder that jpg makes out of the repository around it: `git add -A` there would take a worktree for an embedded
// repository and commit a link to it. The repository's own info/exclude says so, which is shared with nobody.
import { dirname, join, relative } from "node:path";
import type { Environment } from "../../environment.ts";
import { makeFolders } from "../../files/make-folders.ts";
import { appendToOwnFile, readFileIfThere } from "../../files/read-file.ts";
import { findPlainRepository } from "../refs/plain-repository.ts";

/** Names a folder (absolute, without links) in the exclude file of the repository around it. Gives that file; null where no repository is around. */
export async function excludeFromSurroundings(folder: string, env: Environment): Promise<string | null> {
  const around = await findPlainRepository(dirname(folder), env);
  if (around === null || around.top === null) return null;
  const path = join(around.commonDir, "info", "exclude");
  const line = `/${escapePattern(relative(around.top, folder))}/`;
  const text = (await readFileIfThere(path)) ?? "";
  if (text.split("\n").includes(line)) return path;
  makeFolders(dirname(path));
  // The user's file keeps its permissions; one that is made gets what git's own would.
  appendToOwnFile(path, `${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`, 0o666);
  return path;
}

/** A path as gitignore(5) reads it literally. */
function escapePattern(path: string): string {
  const escaped = path.replace(/[\\*?[\]]|[ ]+$/g, (found) => [...found].map((char) => `\\${char}`).join(""));
  // A pattern holds no line end; `?` is any character.
  return escaped.replace(/[\r\n]/g, "?");
}
