// Who commits are by. A store gets a fallback identity when git has none, because a stock `git revert` would die without;
// it goes away as soon as the user has one of their own.
import { join } from "node:path";
import { repositoryError } from "../../core/errors.ts";
import type { Environment } from "../environment.ts";
import { readFileIfThere } from "../files/read-file.ts";
import { type CommitAuthor, FALLBACK_IDENTITY, type Identity } from "../store-surroundings.ts";
import { type Repository, runCommand, tryCommand } from "./git/git-command.ts";
import { isOwnSetting, parseScopedSettings, type ScopedSetting } from "./git/scoped-settings.ts";
import { runPorcelain } from "./porcelain/run-porcelain.ts";
import { findRepositoryDir } from "./refs/repository-dir.ts";

/** Config key that marks the identity in a store's config as the fallback. */
const MARK = "jpg.fallbackIdentity";

/** Makes sure that git can commit in a store: adds the fallback identity, or removes it when the user has one now. */
export async function ensureIdentity(root: string, env: Environment): Promise<void> {
  const repository = await repositoryAt(root, env);
  if (await hasFallback(repository)) {
    if (namesUser(await readSettings(repository))) await removeFallback(repository);
    return;
  }
  if (plainIdentity(env["GIT_COMMITTER_NAME"] ?? "", env["GIT_COMMITTER_EMAIL"] ?? "") !== null) return;
  const { code } = await tryCommand(repository, { args: ["var", "GIT_COMMITTER_IDENT"] });
  if (code === 0) return;
  await setLocal(repository, "user.name", FALLBACK_IDENTITY.name);
  await setLocal(repository, "user.email", FALLBACK_IDENTITY.email);
  await setLocal(repository, MARK, "true");
}

/**
 * The author of new commits in a store, as git would name them, and whether it may sign them: git is asked for all of it at once.
 * Removes a fallback identity that is no longer needed.
 */
export async function readIdentity(root: string, env: Environment): Promise<CommitAuthor> {
  const repository = await repositoryAt(root, env);
  const settings = await readSettings(repository);
  const isFallback = settings.some(({ key, value }) => key === MARK.toLowerCase() && value === "true");
  if (!isFallback || !namesUser(settings)) return authorOf(repository, settings);
  await removeFallback(repository);
  return authorOf(repository, await readSettings(repository));
}

async function authorOf(repository: Repository, settings: readonly ScopedSetting[]): Promise<CommitAuthor> {
  const maySign = !SIGNS_NONE.test(lastOf(settings, "commit.gpgsign") ?? "false");
  const find = (field: "name" | "email"): string =>
    repository.env[`GIT_AUTHOR_${field.toUpperCase()}`] ??
    lastOf(settings, `author.${field}`) ??
    lastOf(settings, `user.${field}`) ??
    "";
  const author = plainIdentity(find("name"), find("email"));
  if (author !== null) return { ...author, maySign };
  const { code, stdout } = await tryCommand(repository, { args: ["var", "GIT_AUTHOR_IDENT"] });
  const match = /^(.*) <(.*)> \d+ [+-]\d{4}\s*$/.exec(stdout.toString());
  if (code !== 0 || match === null) return { ...FALLBACK_IDENTITY, maySign };
  return { name: match[1] ?? "", email: match[2] ?? "", maySign };
}

async function readSettings(repository: Repository): Promise<readonly ScopedSetting[]> {
  const { stdout } = await tryCommand(repository, { args: ASKED });
  return parseScopedSettings(stdout.toString());
}

const ASKED: readonly string[] = [
  "config",
  "--show-scope",
  "-z",
  "--get-regexp",
  `^((user|author)\\.(name|email)|commit\\.gpgsign|${MARK.toLowerCase()})$`,
];

/** What git reads as no; whatever else stands there, it is asked again for each commit that is to be signed. */
const SIGNS_NONE = /^(?:false|no|off|0)$/i;

function lastOf(settings: readonly ScopedSetting[], key: string): string | undefined {
  return settings.findLast((setting) => setting.key === key)?.value;
}

/** Whether name and email are set anywhere but in the store itself (settings included by condition count as the user's). */
function namesUser(settings: readonly ScopedSetting[]): boolean {
  return ["user.name", "user.email"].every((key) =>
    settings.some((setting) => setting.key === key && !isOwnSetting(setting)),
  );
}

/** An identity that git takes as it stands: it cuts blanks and some marks off the ends, and takes out others. */
function plainIdentity(name: string, email: string): Identity | null {
  return [name, email].every((text) => PLAIN_ASCII.test(text) || PLAIN.test(text)) ? { name, email } : null;
}

/** The same for ASCII: the other takes a millisecond to begin with. */
const PLAIN_ASCII = /^[A-Za-z0-9](?:[A-Za-z0-9 @+_-]|[.,'](?=[A-Za-z0-9 ]))*(?<! )$/;
const PLAIN = /^[\p{L}\p{N}](?:[\p{L}\p{N} @+_-]|[.,'](?=[\p{L}\p{N} ]))*(?<! )$/u;

async function repositoryAt(root: string, env: Environment): Promise<Repository> {
  const found = await findRepositoryDir(root);
  if (found === null)
    throw repositoryError("store_missing", `There is no jpg store at ${root}.`, { hints: ["`jpg init` makes one."] });
  return { gitDir: found.commonDir, cwd: root, env };
}

async function hasFallback({ gitDir }: Repository): Promise<boolean> {
  return /^\s*fallbackIdentity\s*=\s*true/im.test((await readFileIfThere(join(gitDir, "config"))) ?? "");
}

async function removeFallback(repository: Repository): Promise<void> {
  for (const key of ["user.name", "user.email", MARK]) {
    await tryCommand(repository, { args: ["config", "--local", "--unset-all", key] }, runPorcelain);
  }
}

async function setLocal(repository: Repository, key: string, value: string): Promise<void> {
  await runCommand(repository, { args: ["config", "--local", key, value] }, runPorcelain);
}
