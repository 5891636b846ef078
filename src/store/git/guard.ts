// The variables that keep jpg's git, in a store, from starting what the store's own configuration names. A plain config file is
// read without asking git; nothing is cached on disk, where a store could forge it.
import { existsSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { checkRemoteName } from "../../core/remote-address.ts";
import type { Environment } from "../environment.ts";
import { readOwnFile, readOwnText, replaceFile } from "../files.ts";
import { sealOf } from "../git-dir.ts";
import {
  type GitPlace,
  gitError,
  isOwnSetting,
  LIST_SETTINGS,
  parseScopedSettings,
  runGitNow,
  type ScopedSetting,
} from "./git-process.ts";

/** A repository that git is about to be started in; `gitDir` as it is passed to git. */
interface Guarded extends GitPlace {
  readonly gitDir: string;
}

const PLAIN: SettingsPlan = { ignored: [], overrides: new Map(), isBlocked: false, promisors: [] };

/** Plain config files seen by this process: their stamps, by path. Other files are read by git each time, because they may include. */
const plainStamps = new Map<string, string>();

/** Creates the variables for a git in this repository, on top of the caller's environment. */
export function guardEnvironment(repository: Guarded): Environment {
  const plan = readPlan(repository);
  const { overrides, worktree } = plan;
  const pairs = [...overrides].flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return {
    ...(pairs.length === 0 ? {} : { ...Object.fromEntries(pairs), GIT_CONFIG_COUNT: String(overrides.size) }),
    // Git before 2.45 ignores GIT_NO_LAZY_FETCH; it obeys GIT_ALLOW_PROTOCOL, for every protocol.
    ...(plan.isBlocked || unconfirmedOf(repository, plan).length > 0
      ? { GIT_ALLOW_PROTOCOL: "none", GIT_NO_LAZY_FETCH: "1" }
      : {}),
    ...(worktree === undefined ? {} : { GIT_WORK_TREE: repository.cwd }),
  };
}

/** The keys of a store's own configuration that have no effect on jpg's git, each once. */
export function ignoredSettings(repository: Guarded): readonly string[] {
  const { ignored, worktree } = readPlan(repository);
  const isHere = worktree === undefined || isSamePlace(resolve(repository.gitDir, worktree), repository.cwd);
  return isHere ? ignored : [...ignored, "core.worktree"];
}

/** How a store's own configuration would make its git use remotes. */
interface RemoteAccess {
  /** Whether it configures transports: then no remote is used. */
  readonly isBlocked: boolean;
  /** Remotes that have objects which are not here; not empty in a partial clone. */
  readonly promisors: readonly Promisor[];
  /** Those of `promisors` that the user has not fetched from here: they are not asked. */
  readonly unconfirmed: readonly Promisor[];
}

/** Reads how git would use remotes from a repository. */
export function readRemoteAccess(repository: Guarded): RemoteAccess {
  const plan = readPlan(repository);
  return { isBlocked: plan.isBlocked, promisors: plan.promisors, unconfirmed: unconfirmedOf(repository, plan) };
}

function unconfirmedOf({ gitDir }: Guarded, { promisors }: SettingsPlan): readonly Promisor[] {
  return unconfirmedIn(commonDirOf(gitDir), promisors);
}

function readPlan({ gitDir, ...place }: Guarded): SettingsPlan {
  if (isPlainFile(join(commonDirOf(gitDir), "config"))) return PLAIN;
  const { code, stdout, stderr } = runGitNow([`--git-dir=${gitDir}`, ...LIST_SETTINGS], place);
  if (code !== 0) throw gitError({ args: ["config", "--list"], code, stderr, where: place.cwd });
  return planSettings(parseScopedSettings(stdout.toString()));
}

/** Whether a repository's config file is plain (see `isPlainConfig`), or missing. */
export function isPlainFile(path: string): boolean {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return true;
  const stamp = [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(" ");
  if (plainStamps.get(path) === stamp) return true;
  if (!isPlainConfig(readOwnText(path, { followLink: true }))) return false;
  plainStamps.set(path, stamp);
  return true;
}

/** The git dir with the config file, also from a linked worktree's. */
function commonDirOf(gitDir: string): string {
  const link = join(gitDir, "commondir");
  return existsSync(link) ? resolve(gitDir, readOwnText(link, { followLink: true }).trim()) : gitDir;
}

function isSamePlace(one: string, other: string): boolean {
  try {
    return realpathSync.native(one) === realpathSync.native(other);
  } catch {
    return false; // one of them does not exist
  }
}

// Recognises a config file with only what jpg and a stock clone write, so that git need not be asked. Never takes a line for
// harmless that git reads as something else: unknown lines are not plain.

/** Keys that are allowed in a plain section, by section, with its subsection where that matters. */
const PLAIN_KEYS: ReadonlyMap<string, RegExp> = new Map([
  [
    "core",
    /^(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|hookspath|sparsecheckout|sparsecheckoutcone|splitindex|sharedrepository)$/,
  ],
  ["index", /^sparse$/],
  ["gc", /^auto$/],
  ["maintenance", /^(auto|strategy)$/],
  ["merge", /^renames$/],
  ["jpg", /^[a-z]+$/],
  ["user", /^(name|email|signingkey)$/],
  ["author", /^(name|email)$/],
  ["committer", /^(name|email)$/],
  ["commit", /^gpgsign$/],
  ["branch", /^(remote|merge|rebase|mergeoptions|description)$/],
  ["remote", /^(url|pushurl|fetch|push|tagopt)$/],
  // jpg's own; and jpg starts no git that converts texts.
  ['diff "jpg"', /^textconv$/],
]);

const HEADER = /^[ \t]*\[([a-z]+)(?:[ \t]+"((?:[^"\\]|\\.)*)")?\][ \t]*\r?$/i;
const VALUE = /^[ \t]*([a-z][a-z0-9-]*)[ \t]*(?:=(.*))?\r?$/i;
const NOTHING = /^[ \t]*(?:[#;].*)?\r?$/;

/** The sections that jpg writes for each branch: removed at once, because there are as many as conversations. */
const BRANCH_SECTIONS =
  /^\[branch "(?:[^"\\\n]|\\.)*"\]\n\t(?:mergeOptions = -Xfind-renames=100%|remote = [\w-]+\n\tmerge = "(?:[^"\\\n]|\\.)*")\n/gm;

/** Whether a config file certainly names no program, no other file and no other place. */
export function isPlainConfig(text: string): boolean {
  let names: RegExp | undefined;
  for (const line of text.replace(BRANCH_SECTIONS, "").split("\n")) {
    // Values with continuation lines are left to git.
    if (/\\\r?$/.test(line)) return false;
    if (NOTHING.test(line)) continue;
    const [header, section = "", subsection] = HEADER.exec(line) ?? [];
    if (header !== undefined) {
      const name = section.toLowerCase();
      names = PLAIN_KEYS.get(subsection === undefined ? name : `${name} "${subsection}"`) ?? PLAIN_KEYS.get(name);
    } else if (names?.test(VALUE.exec(line)?.[1]?.toLowerCase() ?? "") !== true) return false;
  }
  return true;
}

/** A setting of a section that has a subsection, such as `remote "team"`. */
export interface SubsectionSetting {
  /** As it was written. */
  readonly subsection: string;
  /** In lower case. */
  readonly key: string;
  /** Empty for a key without a value. */
  readonly value: string;
}

/** The settings of `[section "…"]` in a plain config file, in order; null for a file that git has to read. */
export function parseSubsections(text: string, section: string): readonly SubsectionSetting[] | null {
  if (!isPlainConfig(text)) return null;
  const settings: SubsectionSetting[] = [];
  let subsection: string | undefined;
  for (const line of text.split("\n")) {
    const [header, name = "", quoted] = HEADER.exec(line) ?? [];
    if (header !== undefined) {
      subsection = name.toLowerCase() === section && quoted !== "" ? quoted?.replace(/\\(.)/g, "$1") : undefined;
      continue;
    }
    const [, key, written = ""] = VALUE.exec(line) ?? [];
    if (subsection === undefined || key === undefined) continue;
    const value = readValue(written.trim());
    if (value === null) return null;
    settings.push({ subsection, key: key.toLowerCase(), value });
  }
  return settings;
}

/** A value that is quoted as a whole or not at all; null for other forms. */
function readValue(written: string): string | null {
  const [, quoted] = /^"((?:[^"\\]|\\["\\])*)"$/.exec(written) ?? [];
  if (quoted !== undefined) return quoted.replace(/\\(.)/g, "$1");
  return /["\\#;\t\v\f\r]/.test(written) ? null : written;
}

// The settings by which a repository's own configuration would make git start programs, use them as transports, or work in
// another folder. In a store they never count, whoever owns it; the user's own values of them do.

/** What replaces a store's own settings. */
interface SettingsPlan {
  /** Keys that do not count, each once, in the order found. */
  readonly ignored: readonly string[];
  /** The values to set on top, by key. */
  readonly overrides: ReadonlyMap<string, string>;
  /** Whether transports must be blocked: some of these settings are lists that nothing can shorten. */
  readonly isBlocked: boolean;
  /** Remotes that git would ask, by itself, for missing objects. */
  readonly promisors: readonly Promisor[];
  /** The configured worktree, relative to the git dir; absent = where the store is. */
  readonly worktree?: string;
}

/** The replacement for a program when the user names none: git's own default, or a no-op. First match counts. */
const PROGRAMS: readonly (readonly [key: RegExp, otherwise: string])[] = [
  [/^filter\..*\.(clean|smudge|process)$/, ""],
  [/^filter\..*\.required$/, "false"],
  [/^gpg\.(openpgp\.)?program$/, "gpg"],
  [/^gpg\.x509\.program$/, "gpgsm"],
  [/^gpg\.ssh\.program$/, "ssh-keygen"],
  [/^gpg\.ssh\.defaultkeycommand$/, ""],
  [/^diff\..*\.textconv$/, "cat"],
  [/^diff\.(external|.*\.command)$/, ""],
  // Without a merge program there is a conflict.
  [/^merge\..*\.driver$/, "false"],
  [/^core\.fsmonitor$/, "false"],
  [/^hook\..*\.command$/, ":"],
  [/^(core|sequence)\.editor$/, ":"],
  [/^(core\.pager|pager\..*)$/, "cat"],
  [/^(alias\..*|interactive\.difffilter|trailer\..*\.(command|cmd)|tar\..*\.command)$/, ""],
  [/^((merge|diff)tool|guitool|man|browser)\..*\.(cmd|path)$/, ""],
  [/^(core\.alternaterefscommand|uploadpack\.packobjectshook|gc\.recentobjectshook)$/, ""],
  [/^submodule\..*\.update$/, "none"],
];

/** Programs and addresses between a store and its remotes. jpg's own git needs no remote, except in a partial clone. */
const TRANSPORT =
  /^(core\.(sshcommand|gitproxy|askpass)|credential\.(.*\.)?helper|remote\..*\.(vcs|uploadpack|receivepack|proxy)|url\..*\.(push)?insteadof|protocol\..*|http\.(.*\.)?(proxy|cookiefile)|(fetch|transfer)\.bundleuri)$/;

/** The one textconv that is jpg's own. */
const JPG_TEXTCONV = "diff.jpg.textconv";

/** Plans the replacements for a store's own settings, from all settings that git sees there. */
export function planSettings(settings: readonly ScopedSetting[]): SettingsPlan {
  const users = new Map(
    settings.filter((setting) => !isOwnSetting(setting)).map(({ key, value }) => [sameKey(key), value]),
  );
  const own = [...new Set(settings.filter(isOwnSetting).map(({ key }) => key))].filter((key) => key !== JPG_TEXTCONV);
  const overrides = new Map<string, string>();
  for (const key of own) {
    const otherwise = PROGRAMS.find(([pattern]) => pattern.test(key))?.[1];
    if (otherwise !== undefined) overrides.set(key, users.get(sameKey(key)) ?? otherwise);
  }
  const worktree = settings.findLast((setting) => isOwnSetting(setting) && setting.key === "core.worktree")?.value;
  const blocked = own.filter((key) => TRANSPORT.test(key));
  return {
    ignored: own.filter((key) => overrides.has(key) || blocked.includes(key)),
    overrides,
    isBlocked: blocked.length > 0,
    promisors: promisorsIn(settings),
    worktree,
  };
}

/** Maps two names of one setting to one. */
function sameKey(key: string): string {
  return key === "gpg.openpgp.program" ? "gpg.program" : key;
}

// The remotes that git would ask, by itself, for what a partial clone lacks. Whoever made a store wrote their addresses, so
// none is asked before the user has fetched from it in this very folder: a mark sealed to the folder records that, and is
// invalid in a copy of it.

/** A remote that has objects which are not here; `url` is the first that git would use, null when none is set. */
export interface Promisor {
  readonly name: string;
  readonly url: string | null;
}

/** The mark, in the git dir: a seal, then the remotes. */
const MARK = "jpg-promisors";
const SEAL = 64;

/** Lists the remotes that a repository's own settings make promisors, in the order in which they are first named. */
function promisorsIn(settings: readonly ScopedSetting[]): readonly Promisor[] {
  const names = new Set(settings.filter(isOwnSetting).flatMap(namesPromisor));
  return [...names].map((name) => ({
    name,
    url: settings.find(({ key }) => key === `remote.${name}.url`)?.value ?? null,
  }));
}

/** Either key makes a remote a promisor. */
function namesPromisor({ key, value }: ScopedSetting): readonly string[] {
  if (key === "extensions.partialclone") return [value];
  const [, name, what] = /^remote\.(.*)\.(promisor|partialclonefilter)$/s.exec(key) ?? [];
  const isOff = what === "promisor" && /^(false|no|off|0)$/i.test(value);
  return name === undefined || isOff ? [] : [name];
}

/** Which of these remotes the user has not fetched from in this git dir. */
function unconfirmedIn(gitDir: string, promisors: readonly Promisor[]): readonly Promisor[] {
  const asked = promisors.length === 0 ? [] : readMark(gitDir);
  return promisors.filter(({ name, url }) => !asked.some((one) => one.name === name && one.url === url));
}

/** Records that the user fetches from a remote: it may be asked for objects from now on. */
export async function confirmRemote(gitDir: string, { name, url }: Promisor): Promise<void> {
  checkRemoteName(name);
  if (unconfirmedIn(gitDir, [{ name, url }]).length === 0) return;
  const others = readMark(gitDir).filter((one) => one.name !== name);
  const body = Buffer.from(JSON.stringify({ place: realpathSync.native(gitDir), asked: [...others, { name, url }] }));
  await replaceFile(join(gitDir, MARK), Buffer.concat([Buffer.from(sealOf(gitDir, body)), body]), { mode: 0o600 });
}

/** Sealed content was written by jpg: it is trusted, if the folder still has its name of that time. */
function readMark(gitDir: string): readonly Promisor[] {
  let kept: Buffer;
  try {
    kept = readOwnFile(join(gitDir, MARK));
  } catch {
    return []; // nobody has fetched here, or it is no mark
  }
  const body = kept.subarray(SEAL);
  if (kept.toString("latin1", 0, SEAL) !== sealOf(gitDir, body)) return [];
  const mark = JSON.parse(String(body)) as { readonly place: string; readonly asked: readonly Promisor[] };
  return mark.place === realpathSync.native(gitDir) ? mark.asked : [];
}
