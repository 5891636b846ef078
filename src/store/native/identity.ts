// Who commits are by. A store gets a fallback identity when git has none, because a stock `git revert` would die without;
// it goes away as soon as the user has one of their own.
import { join } from "node:path";
import { repositoryError } from "../../core/errors.ts";
import { FALLBACK_IDENTITY, type Identity } from "../store-surroundings.ts";
import { type Repository, runCommand, tryCommand } from "./git/git-command.ts";
import type { Environment } from "./git/git-environment.ts";
import { runPorcelain } from "./porcelain/run-porcelain.ts";
import { readFileIfThere } from "./refs/ref-reader.ts";
import { findRepositoryDir } from "./refs/repository-dir.ts";

/** Config key that marks the identity in a store's config as the fallback. */
const MARK = "jpg.fallbackIdentity";

/** Makes sure that git can commit in a store: adds the fallback identity, or removes it when the user has one now. */
export async function ensureIdentity(root: string, env: Environment): Promise<void> {
  const repository = await repositoryAt(root, env);
  if (await hasFallback(repository)) {
    if (await userHasIdentity(repository)) await removeFallback(repository);
    return;
  }
  if (namedByEnvironment(env, "COMMITTER") !== null) return;
  const { code } = await tryCommand(repository, { args: ["var", "GIT_COMMITTER_IDENT"] });
  if (code === 0) return;
  await setLocal(repository, "user.name", FALLBACK_IDENTITY.name);
  await setLocal(repository, "user.email", FALLBACK_IDENTITY.email);
  await setLocal(repository, MARK, "true");
}

/** The author of new commits in a store, as git would name them; removes a fallback identity that is no longer needed. */
export async function readIdentity(root: string, env: Environment): Promise<Identity> {
  const repository = await repositoryAt(root, env);
  if (!(await hasFallback(repository))) return authorOf(repository);
  // Git is asked both at once: nearly always the user has none still.
  const [isNeedless, author] = await Promise.all([userHasIdentity(repository), authorOf(repository)]);
  if (!isNeedless) return author;
  await removeFallback(repository);
  return authorOf(repository);
}

async function authorOf(repository: Repository): Promise<Identity> {
  const named = namedByEnvironment(repository.env, "AUTHOR");
  if (named !== null) return named;
  const { code, stdout } = await tryCommand(repository, { args: ["var", "GIT_AUTHOR_IDENT"] });
  const match = /^(.*) <(.*)> \d+ [+-]\d{4}\s*$/.exec(stdout.toString());
  if (code !== 0 || match === null) return FALLBACK_IDENTITY;
  return { name: match[1] ?? "", email: match[2] ?? "" };
}

/** Who the environment says it is, as git would put it; null where git has to be asked. */
function namedByEnvironment(env: Environment, role: "AUTHOR" | "COMMITTER"): Identity | null {
  const [name, email] = [env[`GIT_${role}_NAME`] ?? "", env[`GIT_${role}_EMAIL`] ?? ""];
  return PLAIN_NAME.test(name) && PLAIN_NAME.test(email) ? { name, email } : null;
}

/** What git takes as it stands: it cuts blanks and some marks off the ends, and takes out others. */
const PLAIN_NAME = /^[\p{L}\p{N}](?:[\p{L}\p{N} @+_-]|[.,'](?=[\p{L}\p{N} ]))*(?<! )$/u;

async function repositoryAt(root: string, env: Environment): Promise<Repository> {
  const found = await findRepositoryDir(root);
  if (found === null)
    throw repositoryError("store_missing", `there is no jpg store at ${root}`, { hints: ["jpg init"] });
  return { gitDir: found.commonDir, cwd: root, env };
}

async function hasFallback({ gitDir }: Repository): Promise<boolean> {
  return /^\s*fallbackIdentity\s*=\s*true/im.test((await readFileIfThere(join(gitDir, "config"))) ?? "");
}

/** Whether name and email are set anywhere but in the store itself (settings included by condition count as the user's). */
async function userHasIdentity(repository: Repository): Promise<boolean> {
  const args = ["config", "--show-scope", "--name-only", "--get-regexp", "^user\\.(name|email)$"];
  const { stdout } = await tryCommand(repository, { args });
  const lines = stdout.toString().split("\n");
  return ["user.name", "user.email"].every((key) =>
    lines.some((line) => line.endsWith(key) && !line.startsWith("local")),
  );
}

async function removeFallback(repository: Repository): Promise<void> {
  for (const key of ["user.name", "user.email", MARK]) {
    await tryCommand(repository, { args: ["config", "--local", "--unset-all", key] }, runPorcelain);
  }
}

async function setLocal(repository: Repository, key: string, value: string): Promise<void> {
  await runCommand(repository, { args: ["config", "--local", key, value] }, runPorcelain);
}
