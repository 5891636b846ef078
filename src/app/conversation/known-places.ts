// The projects in which jpg has imported something: the whole machine can be listed though agents have deleted their sessions since.
// A file for each, in the user's data folder; one whose project is gone counts for nothing.
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { resolveUserPaths } from "../../config/trust.ts";
import { codeOf } from "../../core/errors.ts";
import type { UserHome } from "../../core/user-folders.ts";
import { makeFolders, replaceFile } from "../../store/files.ts";
import { type Runtime, sha256 } from "./runtime.ts";

function folderOf(user: UserHome): string {
  return join(resolveUserPaths(user).dataDir, "projects");
}

/** Notes a project by its top folder, absolute. Skipped where it cannot be written: then only agents' sessions lead to it. */
export async function notePlace(runtime: Runtime, directory: string): Promise<void> {
  const folder = folderOf(runtime);
  const path = join(folder, sha256(directory).slice(0, 16));
  if (existsSync(path)) return;
  try {
    makeFolders(folder, 0o700);
    await replaceFile(path, `${directory}\n`, { mode: 0o600 });
  } catch (error) {
    if (codeOf(error) === "") throw error;
  }
}

/** Lists the noted projects that exist, absolute, in order. */
export async function knownPlaces(runtime: Runtime): Promise<readonly string[]> {
  const folder = folderOf(runtime);
  const names = await readdir(folder).catch(() => []);
  const places: string[] = [];
  for (const name of names) {
    const directory = (await readFile(join(folder, name), "utf8").catch(() => "")).trimEnd();
    if (directory !== "" && existsSync(directory)) places.push(directory);
  }
  return places.sort();
}
