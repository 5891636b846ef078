// With whom a store is shared, by its config file.
import { join, parse } from "node:path";
import type { Environment } from "../../environment.ts";
import { readFileIfThere } from "../../files/read-file.ts";
import { readSetting } from "../../refs/config-file.ts";
import { runGit } from "../git/git-process.ts";

/** `core.sharedRepository` of the store in a git dir; undefined where it does not stand, or no store is there yet. */
export async function sharingOf(gitDir: string): Promise<string | undefined> {
  return readSetting((await readFileIfThere(join(gitDir, "config"))) ?? "", "core.sharedrepository");
}

/** What the user's own settings, and the machine's, say of every repository; undefined where they say nothing. */
export async function sharingOfUser(env: Environment): Promise<string | undefined> {
  const place = { cwd: parse(process.cwd()).root, env };
  const { code, stdout } = await runGit(["config", "--get", "core.sharedRepository"], place);
  return code === 0 ? stdout.toString().trim() || "true" : undefined;
}
