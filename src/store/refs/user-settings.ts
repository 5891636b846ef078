// What the user's git is set to, without asking it: the environment first, then the store's own configuration, the user's, the
// system's. Files that these include are not looked into.
import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../environment.ts";
import { readFileIfThere } from "../files/read-file.ts";
import { FALLBACK_IDENTITY, type Identity } from "../store-surroundings.ts";
import { isTrue, readSetting } from "./config-file.ts";

/** The author or committer of what is written in a git dir. */
export async function readIdentityFile(
  gitDir: string,
  env: Environment,
  role: "author" | "committer",
): Promise<Identity> {
  return findIdentity(await readConfigFiles(gitDir, env), env, role) ?? FALLBACK_IDENTITY;
}

/**
 * The same, where git would name just that one: null when a file includes others, which are not looked into, or nobody is named,
 * for git may know a file that jpg does not.
 */
export async function readPlainIdentity(
  gitDir: string,
  env: Environment,
  role: "author" | "committer",
): Promise<Identity | null> {
  const texts = await readConfigFiles(gitDir, env);
  return texts.some((text) => INCLUDES.test(text)) ? null : findIdentity(texts, env, role);
}

const INCLUDES = /^\s*\[\s*include/im;

function findIdentity(texts: readonly string[], env: Environment, role: "author" | "committer"): Identity | null {
  const find = (field: "name" | "email"): string | undefined =>
    env[`GIT_${role.toUpperCase()}_${field.toUpperCase()}`] ||
    findSetting(texts, `${role}.${field}`) ||
    findSetting(texts, `user.${field}`) ||
    (field === "email" ? env["EMAIL"] : undefined);
  const [name, email] = [find("name"), find("email")];
  return name === undefined || email === undefined ? null : { name, email };
}

/** A setting as it holds in a git dir, by its name in lower case; undefined where nobody has set it. */
export async function readUserSetting(gitDir: string, env: Environment, name: string): Promise<string | undefined> {
  return findSetting(await readConfigFiles(gitDir, env), name);
}

/** Whether the user's git signs commits, which only git can do. */
export async function signsCommits(gitDir: string, env: Environment): Promise<boolean> {
  return isTrue(await readUserSetting(gitDir, env, "commit.gpgsign"));
}

/** The texts of git's configuration, those that count most first. */
async function readConfigFiles(gitDir: string, env: Environment): Promise<readonly string[]> {
  const home = env["HOME"] ?? homedir();
  const user = env["GIT_CONFIG_GLOBAL"];
  const paths = [
    join(gitDir, "config"),
    ...(user === undefined
      ? [join(home, ".gitconfig"), join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "git", "config")]
      : [user]),
    ...(env["GIT_CONFIG_NOSYSTEM"] ? [] : [env["GIT_CONFIG_SYSTEM"] ?? "/etc/gitconfig"]),
  ];
  const texts = await Promise.all(paths.map((path) => (path === "" ? null : readFileIfThere(path))));
  return texts.filter((text) => text !== null);
}

function findSetting(texts: readonly string[], name: string): string | undefined {
  for (const text of texts) {
    const value = readSetting(text, name);
    if (value !== undefined) return value;
  }
  return undefined;
}
