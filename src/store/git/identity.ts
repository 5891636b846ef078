// The identity of commits: the one that git would use in the project that the store belongs to, else in the store. Stock git in
// a project's store sees only the store's settings, so whenever jpg commits, it copies those of the project that differ there.
// A store gets a fallback identity when git has none, because a stock `git revert` would fail without one; it is removed once the
// user has an identity. What the user wrote into the store itself takes precedence and is never changed.
import { repositoryError } from "../../core/errors.ts";
import type { Environment } from "../environment.ts";
import { type CommitAuthor, FALLBACK_IDENTITY, type Identity } from "../store.ts";
import { type GitResult, isOwnSetting, parseScopedSettings, runGit, type ScopedSetting } from "./git-process.ts";
import { appendConfig, formatConfig, type Repository, runCommand, runPorcelain, tryCommand } from "./porcelain.ts";
import { findProjectPlace, findRepositoryDir } from "./repository.ts";

/** The sources of the identity in a store, by rising precedence. */
interface IdentitySources {
  readonly repository: Repository;
  /** The store's own settings that jpg did not write. */
  readonly own: readonly ScopedSetting[];
  /** The other settings that git sees in the store. */
  readonly inherited: readonly ScopedSetting[];
  /** What git sees in the project; null = the store belongs to none. */
  readonly project: readonly ScopedSetting[] | null;
  /** Runs git in the project, else in the store. */
  readonly ask: (args: readonly string[], extraEnv?: Environment) => Promise<GitResult>;
  /** The settings that jpg copied into the store. */
  readonly written: ReadonlyMap<string, string>;
  readonly hasFallback: boolean;
  /** Whether an identity other than the fallback is set. */
  readonly isNamed: boolean;
  readonly maySign: boolean;
}

/** Marks the identity in a store's settings as the fallback. */
const FALLBACK_MARK = "jpg.fallbackidentity";
/** The settings that are copied from the project. Each has a mark with the copied value, so that a change by the user is seen. */
const IDENTITY_KEYS: readonly string[] = ["user", "author", "committer"].flatMap((who) => [
  `${who}.name`,
  `${who}.email`,
]);
const markOf = (key: string): string => `jpg.project${key.replace(".", "")}`;

const ASKED: readonly string[] = [
  "config",
  "--show-scope",
  "-z",
  "--get-regexp",
  `^((user|author|committer)\\.(name|email)|commit\\.gpgsign|jpg\\.[a-z]+)$`,
];

/**
 * Makes sure that stock git commits in a store's own worktree with the project's identity, and that it can commit at all. `cwd`
 * = where jpg was started, which may be a worktree of the project.
 */
export async function ensureIdentity(root: string, env: Environment, cwd?: string): Promise<void> {
  await syncIdentity(await readSources(root, env, cwd), { isNew: true });
}

/**
 * Reads the author and committer of new commits, as git would name them, and whether git may sign them; asks git once in the
 * store and once in its project. Also updates the copied settings.
 */
export async function readIdentity(root: string, env: Environment, cwd?: string): Promise<CommitAuthor> {
  const sources = await readSources(root, env, cwd);
  await syncIdentity(sources, { isNew: false });
  const [author, committer] = await Promise.all([personOf(sources, "author"), personOf(sources, "committer")]);
  return { ...author, committer, maySign: sources.maySign };
}

async function readSources(root: string, env: Environment, cwd: string | undefined): Promise<IdentitySources> {
  const found = await findRepositoryDir(root);
  if (found === null)
    throw repositoryError("store_missing", `There is no jpg store at ${root}.`, { hints: ["`jpg init` makes one."] });
  const repository: Repository = { gitDir: found.commonDir, cwd: root, env };
  const project = await findProjectPlace({ gitDir: found.commonDir, root }, cwd);
  const ask: IdentitySources["ask"] = (args, extraEnv = {}) => {
    if (project === null) return tryCommand(repository, { args, extraEnv });
    const isGitDir = project.root === project.commonDir;
    return runGit([...(isGitDir ? [`--git-dir=${project.root}`] : []), ...args], { cwd: project.root, env, extraEnv });
  };
  const [store, inProject] = await Promise.all([
    tryCommand(repository, { args: ASKED }).then(settingsIn),
    project === null ? null : ask(ASKED).then(settingsIn),
  ]);
  const own = store.filter(isOwnSetting);
  const marked = IDENTITY_KEYS.flatMap((key) => {
    const value = lastOf(own, markOf(key));
    return value === undefined ? [] : [[key, value] as const];
  });
  const hasFallback = lastOf(own, FALLBACK_MARK) === "true";
  const byJpg = new Map([...marked, ...(hasFallback ? FALLBACK_SETTINGS : [])]);
  const users = own.filter(({ key, value }) => IDENTITY_KEYS.includes(key) && byJpg.get(key) !== value);
  const inherited = store.filter((setting) => !isOwnSetting(setting));
  const said = [...(inProject ?? inherited), ...users];
  return {
    repository,
    own: users,
    inherited,
    project: inProject,
    ask,
    written: new Map(marked),
    hasFallback,
    isNamed: ["user.name", "user.email"].every((key) => lastOf(said, key) !== undefined),
    maySign: !SIGNS_NONE.test(lastOf(store, "commit.gpgsign") ?? "false"),
  };
}

function settingsIn({ stdout }: GitResult): readonly ScopedSetting[] {
  return parseScopedSettings(stdout.toString());
}

/** Values that git reads as no. Any other value is read again for each commit that asks for a signature. */
const SIGNS_NONE = /^(?:false|no|off|0)$/i;

function lastOf(settings: readonly ScopedSetting[], key: string): string | undefined {
  return settings.findLast((setting) => setting.key === key)?.value;
}

async function personOf(
  { repository: { env }, own, inherited, project, ask, hasFallback, isNamed }: IdentitySources,
  role: "author" | "committer",
): Promise<Identity> {
  const fallback = FALLBACK_SETTINGS.map(([key, value]) => ({ scope: "local", key, value }));
  const settings = [...(project ?? inherited), ...own, ...(hasFallback && !isNamed ? fallback : [])];
  const variable = (field: "name" | "email"): string => `GIT_${role}_${field}`.toUpperCase();
  const find = (field: "name" | "email"): string | undefined =>
    env[variable(field)] ?? lastOf(settings, `${role}.${field}`) ?? lastOf(settings, `user.${field}`);
  const [name, email] = [find("name"), find("email")];
  const person = plainIdentity(name ?? "", email ?? "");
  if (person !== null) return person;
  // In the project, git does not see the store's own settings.
  const { code, stdout } = await ask(["var", `GIT_${role}_IDENT`.toUpperCase()], {
    [variable("name")]: name,
    [variable("email")]: email,
  });
  const match = /^(.*) <(.*)> \d+ [+-]\d{4}\s*$/.exec(stdout.toString());
  return code === 0 && match !== null ? { name: match[1] ?? "", email: match[2] ?? "" } : FALLBACK_IDENTITY;
}

/** An identity that git uses unchanged: git strips blanks and some marks from the ends, and removes others. */
function plainIdentity(name: string, email: string): Identity | null {
  return [name, email].every((text) => PLAIN_ASCII.test(text) || PLAIN.test(text)) ? { name, email } : null;
}

/** PLAIN for ASCII: PLAIN itself takes a millisecond to compile. */
const PLAIN_ASCII = /^[A-Za-z0-9](?:[A-Za-z0-9 @+_-]|[.,'](?=[A-Za-z0-9 ]))*(?<! )$/;
const PLAIN = /^[\p{L}\p{N}](?:[\p{L}\p{N} @+_-]|[.,'](?=[\p{L}\p{N} ]))*(?<! )$/u;

/** Updates the store's copied settings from the project; `isNew` = git may have no identity there yet. */
async function syncIdentity(sources: IdentitySources, { isNew }: { readonly isNew: boolean }): Promise<void> {
  const { repository, hasFallback, isNamed, written } = sources;
  const wanted = missingSettings(sources);
  if (hasFallback && isNamed) await unset(repository, new Map([...FALLBACK_SETTINGS, [FALLBACK_MARK, "true"]]));
  const isSame = wanted.size === written.size && [...wanted].every(([key, value]) => written.get(key) === value);
  if (!isSame) {
    await unset(repository, withMarks(written));
    if (wanted.size > 0) await appendConfig(repository.gitDir, () => formatConfig(withMarks(wanted)));
  }
  if (!hasFallback && (isNew || (!isSame && wanted.size === 0))) await addFallback(repository);
}

/** Returns the project's settings that stock git would not see in the store. */
function missingSettings({ own, inherited, project }: IdentitySources): ReadonlyMap<string, string> {
  const wanted = new Map<string, string>();
  for (const key of IDENTITY_KEYS) {
    const value = lastOf(project ?? [], key);
    const isOther = value !== undefined && value !== lastOf(inherited, key);
    if (isOther && lastOf(own, key) === undefined) wanted.set(key, value);
  }
  return wanted;
}

function withMarks(settings: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...settings, ...[...settings].map(([key, value]) => [markOf(key), value] as const)]);
}

const FALLBACK_SETTINGS: readonly (readonly [key: string, value: string])[] = [
  ["user.name", FALLBACK_IDENTITY.name],
  ["user.email", FALLBACK_IDENTITY.email],
];

/** Adds the fallback if git has no identity. */
async function addFallback(repository: Repository): Promise<void> {
  const { env } = repository;
  if (plainIdentity(env["GIT_COMMITTER_NAME"] ?? "", env["GIT_COMMITTER_EMAIL"] ?? "") !== null) return;
  const { code } = await tryCommand(repository, { args: ["var", "GIT_COMMITTER_IDENT"] });
  if (code === 0) return;
  for (const [key, value] of [...FALLBACK_SETTINGS, [FALLBACK_MARK, "true"] as const])
    await runCommand(repository, { args: ["config", "--local", key, value] }, runPorcelain);
}

/** Removes settings from the store's configuration if they have exactly these values. */
async function unset(repository: Repository, settings: ReadonlyMap<string, string>): Promise<void> {
  for (const [key, value] of settings)
    await tryCommand(
      repository,
      { args: ["config", "--local", "--fixed-value", "--unset-all", key, value] },
      runPorcelain,
    );
}

// The editor of the user's own git settings. jpg starts no program that a store names.

/** Reads `core.editor` of the user's settings; null when it is not set. */
export async function readEditor(repository: Repository): Promise<string | null> {
  const { code, stdout } = await tryCommand(repository, { args: ["config", "--global", "--get", "core.editor"] });
  const editor = stdout.toString().trim();
  return code !== 0 || editor === "" ? null : editor;
}
