// Who commits are by: whom git would name in the project that the store belongs to, else in the store. Stock git in a project's store
// knows the store's settings only, so what the project says otherwise is written there, and follows the project whenever jpg commits.
// A store gets a fallback identity when git has none, because a stock `git revert` would die without; it goes away as soon as the user
// has one of their own. What the user wrote into the store itself counts before all of that, and is never touched.
import { repositoryError } from "../../core/errors.ts";
import type { Environment } from "../environment.ts";
import { type CommitAuthor, FALLBACK_IDENTITY, type Identity } from "../store.ts";
import { type GitResult, isOwnSetting, parseScopedSettings, runGit, type ScopedSetting } from "./git-process.ts";
import { appendConfig, formatConfig, type Repository, runCommand, runPorcelain, tryCommand } from "./porcelain.ts";
import { findProjectPlace, findRepositoryDir } from "./repository.ts";

/** What says who commits in a store, those that count less first. */
interface IdentitySources {
  readonly repository: Repository;
  /** The store's own settings that jpg did not write. */
  readonly own: readonly ScopedSetting[];
  /** What else git sees in the store. */
  readonly inherited: readonly ScopedSetting[];
  /** What git sees in the project; null = the store belongs to none. */
  readonly project: readonly ScopedSetting[] | null;
  /** Asks git something in the project, else in the store. */
  readonly ask: (args: readonly string[], extraEnv?: Environment) => Promise<GitResult>;
  /** What jpg wrote into the store. */
  readonly written: ReadonlyMap<string, string>;
  readonly hasFallback: boolean;
  /** Whether somebody is named but for the fallback. */
  readonly isNamed: boolean;
  readonly maySign: boolean;
}

/** Marks the identity in a store's settings as the fallback. */
const FALLBACK_MARK = "jpg.fallbackidentity";
/** What is taken over from the project; each with a mark that holds what was written. */
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
 * Makes sure that stock git commits in a store, by its own worktree, as in its project, and that it can commit at all. `cwd` = where
 * jpg was started, which may be a worktree of the project.
 */
export async function ensureIdentity(root: string, env: Environment, cwd?: string): Promise<void> {
  await syncIdentity(await readSources(root, env, cwd), { isNew: true });
}

/**
 * Who new commits in a store are by, as git would name them, and whether it may sign them: git is asked for all of it at once, in the
 * store and in its project. What stock git is to use in the store is brought along.
 */
export async function readIdentity(root: string, env: Environment, cwd?: string): Promise<CommitAuthor> {
  const told = await readSources(root, env, cwd);
  await syncIdentity(told, { isNew: false });
  const [author, committer] = await Promise.all([personOf(told, "author"), personOf(told, "committer")]);
  return { ...author, committer, maySign: told.maySign };
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

/** What git reads as no; whatever else stands there, it is asked again for each commit that is to be signed. */
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
  // What the store itself says, git does not know in the project.
  const { code, stdout } = await ask(["var", `GIT_${role}_IDENT`.toUpperCase()], {
    [variable("name")]: name,
    [variable("email")]: email,
  });
  const match = /^(.*) <(.*)> \d+ [+-]\d{4}\s*$/.exec(stdout.toString());
  return code === 0 && match !== null ? { name: match[1] ?? "", email: match[2] ?? "" } : FALLBACK_IDENTITY;
}

/** An identity that git takes as it stands: it cuts blanks and some marks off the ends, and takes out others. */
function plainIdentity(name: string, email: string): Identity | null {
  return [name, email].every((text) => PLAIN_ASCII.test(text) || PLAIN.test(text)) ? { name, email } : null;
}

/** The same for ASCII: the other takes a millisecond to begin with. */
const PLAIN_ASCII = /^[A-Za-z0-9](?:[A-Za-z0-9 @+_-]|[.,'](?=[A-Za-z0-9 ]))*(?<! )$/;
const PLAIN = /^[\p{L}\p{N}](?:[\p{L}\p{N} @+_-]|[.,'](?=[\p{L}\p{N} ]))*(?<! )$/u;

/** Brings what stock git uses in the store to what the project says; `isNew` = whether git may have nobody to name there. */
async function syncIdentity(told: IdentitySources, { isNew }: { readonly isNew: boolean }): Promise<void> {
  const { repository, hasFallback, isNamed, written } = told;
  const wanted = missingSettings(told);
  if (hasFallback && isNamed) await unset(repository, new Map([...FALLBACK_SETTINGS, [FALLBACK_MARK, "true"]]));
  const isSame = wanted.size === written.size && [...wanted].every(([key, value]) => written.get(key) === value);
  if (!isSame) {
    await unset(repository, withMarks(written));
    if (wanted.size > 0) await appendConfig(repository.gitDir, () => formatConfig(withMarks(wanted)));
  }
  if (!hasFallback && (isNew || (!isSame && wanted.size === 0))) await addFallback(repository);
}

/** The settings that the project has otherwise than stock git would find them in the store. */
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

/** Adds the fallback, where git has nobody to name. */
async function addFallback(repository: Repository): Promise<void> {
  const { env } = repository;
  if (plainIdentity(env["GIT_COMMITTER_NAME"] ?? "", env["GIT_COMMITTER_EMAIL"] ?? "") !== null) return;
  const { code } = await tryCommand(repository, { args: ["var", "GIT_COMMITTER_IDENT"] });
  if (code === 0) return;
  for (const [key, value] of [...FALLBACK_SETTINGS, [FALLBACK_MARK, "true"] as const])
    await runCommand(repository, { args: ["config", "--local", key, value] }, runPorcelain);
}

/** Takes settings out of the store's own, where they have these very values. */
async function unset(repository: Repository, settings: ReadonlyMap<string, string>): Promise<void> {
  for (const [key, value] of settings)
    await tryCommand(
      repository,
      { args: ["config", "--local", "--fixed-value", "--unset-all", key, value] },
      runPorcelain,
    );
}

// The editor that the user's own git settings name. A store's own settings start no program.

/** Reads `core.editor` of the user's settings; null where there is none. */
export async function readEditor(repository: Repository): Promise<string | null> {
  const { code, stdout } = await tryCommand(repository, { args: ["config", "--global", "--get", "core.editor"] });
  const editor = stdout.toString().trim();
  return code !== 0 || editor === "" ? null : editor;
}
