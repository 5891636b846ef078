// Parses git's configuration files (git-config(1)), as far as jpg reads them without git.
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { appendAll } from "../core/lists.ts";
import type { Environment } from "./environment.ts";
import { readFileIfExists } from "./files.ts";
import { FALLBACK_IDENTITY, type Identity } from "./store.ts";

/** One setting; its name in lower case except for a subsection, e.g. `branch.a/Main.merge`. */
export interface Setting {
  readonly name: string;
  readonly value: string;
}

const HEADER = /^[ \t]*\[[ \t]*([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\]|\\.)*)")?[ \t]*\]/;
const KEY = /^[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(=)?/;

/** All settings of a file, in order. A name without a value is `true`. */
export function parseConfig(text: string): readonly Setting[] {
  const settings: Setting[] = [];
  let section = "";
  let left = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  while (left !== "") {
    const [header = "", name = "", subsection] = HEADER.exec(left) ?? [];
    if (header !== "") section = name.toLowerCase() + (subsection === undefined ? "" : `.${unquote(subsection)}`);
    left = left.slice(header.length);
    const [start = "", key, equals] = KEY.exec(left) ?? [];
    const { value, length } = parseValue(left.slice(start.length));
    if (key !== undefined)
      settings.push({ name: `${section}.${key.toLowerCase()}`, value: equals === undefined ? "true" : value });
    left = left.slice(start.length + length);
  }
  return settings;
}

/** The last value of a setting, by its name in lower case; undefined when it is not set. */
export function readSetting(text: string, name: string): string | undefined {
  return findSetting(parseConfig(text), name);
}

/** The last value among settings, by its name in lower case. */
export function findSetting(settings: readonly Setting[], name: string): string | undefined {
  return settings.findLast((setting) => setting.name === name)?.value;
}

/** Whether a value is true, as git reads a boolean; false when not set. */
export function isTrue(value: string | undefined): boolean {
  if (value === undefined) return false;
  return /^(true|yes|on)$/i.test(value) || (isNumber(value) && !isFalse(value));
}

/** Whether a value is false, as git reads a boolean; false when not set. */
export function isFalse(value: string | undefined): boolean {
  if (value === undefined) return false;
  return /^(false|no|off|)$/i.test(value) || (isNumber(value) && /^[-+]?(0x)?0+[kmg]?$/i.test(value));
}

function isNumber(value: string): boolean {
  return /^[-+]?(0x[0-9a-f]+|[0-9]+)[kmg]?$/i.test(value);
}

/** Reads the rest of a line and its continuation lines: removes quotes, and a comment outside quotes. */
function parseValue(text: string): { readonly value: string; readonly length: number } {
  let value = "";
  let kept = 0;
  let isQuoted = false;
  let length = 0;
  for (const [token] of text.matchAll(/\\[\s\S]|[\s\S]/g)) {
    if (token === "\n" || (!isQuoted && /^[#;]/.test(token))) break;
    length += token.length;
    const isBlank = !isQuoted && token.trim() === "";
    if (token === '"') isQuoted = !isQuoted;
    else if (!isBlank || value !== "") value += unquote(token);
    // Blanks at the end count only between quotes.
    if (!isBlank) kept = value.length;
  }
  const end = text.indexOf("\n", length);
  return { value: value.slice(0, kept), length: end < 0 ? text.length : end + 1 };
}

/** Resolves backslash escapes; a backslash at the end of a line continues it. */
function unquote(text: string): string {
  const named: Record<string, string> = { n: "\n", t: "\t", b: "\b", "\n": "" };
  return text.replace(/\\([\s\S])/g, (_, char: string) => named[char] ?? char);
}

/** The git dir of a worktree, and the one that all worktrees share. */
interface GitDirs {
  readonly gitDir: string;
  readonly commonDir: string;
}

/**
 * Reads the author or committer for a git dir: whom git would name in the project that the store belongs to (null = in none),
 * else in the store.
 */
export async function readIdentityFile(
  gitDir: string,
  env: Environment,
  { role, project }: { readonly role: "author" | "committer"; readonly project: GitDirs | null },
): Promise<Identity> {
  const own = userSettings(parseConfig((await readFileIfExists(join(gitDir, "config"))) ?? ""));
  const settings = await readSettings(project ?? { gitDir, commonDir: gitDir }, env);
  return findIdentity([...userSettings(settings), ...own], env, role) ?? FALLBACK_IDENTITY;
}

/** `settings` are ordered by rising precedence. */
function findIdentity(settings: readonly Setting[], env: Environment, role: "author" | "committer"): Identity | null {
  const last = (name: string): string | undefined => settings.findLast((setting) => setting.name === name)?.value;
  const find = (field: "name" | "email"): string | undefined =>
    env[`GIT_${role.toUpperCase()}_${field.toUpperCase()}`] ||
    last(`${role}.${field}`) ||
    last(`user.${field}`) ||
    (field === "email" ? env["EMAIL"] : undefined);
  const [name, email] = [find("name"), find("email")];
  return name === undefined || email === undefined ? null : { name, email };
}

/** Settings of a store without the identity that jpg wrote there: the fallback, or a copy of the project's. */
function userSettings(settings: readonly Setting[]): readonly Setting[] {
  const last = (name: string): string | undefined => settings.findLast((setting) => setting.name === name)?.value;
  const isFallback = isTrue(last("jpg.fallbackidentity"));
  return settings.filter(({ name, value }) => {
    if (last(`jpg.project${name.replace(".", "")}`) === value) return false;
    const fallback = name === "user.name" ? FALLBACK_IDENTITY.name : FALLBACK_IDENTITY.email;
    return !(isFallback && ["user.name", "user.email"].includes(name) && value === fallback);
  });
}

/** The effective value of a setting in a git dir, by its name in lower case; undefined when not set. */
export async function readUserSetting(gitDir: string, env: Environment, name: string): Promise<string | undefined> {
  return (await readSettings({ gitDir, commonDir: gitDir }, env)).findLast((setting) => setting.name === name)?.value;
}

/** Whether the user's git signs commits, which only git can do. */
export async function signsCommits(gitDir: string, env: Environment): Promise<boolean> {
  return isTrue(await readUserSetting(gitDir, env, "commit.gpgsign"));
}

/** The files of the system's and the user's settings, by rising precedence. */
function userFiles(env: Environment): readonly string[] {
  const home = homeOf(env);
  const user = env["GIT_CONFIG_GLOBAL"];
  const paths = [
    ...(env["GIT_CONFIG_NOSYSTEM"] ? [] : [env["GIT_CONFIG_SYSTEM"] ?? "/etc/gitconfig"]),
    ...(user === undefined
      ? [join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "git", "config"), join(home, ".gitconfig")]
      : [user]),
  ];
  return paths.filter((path) => path !== "");
}

function homeOf(env: Environment): string {
  return env["HOME"] ?? homedir();
}

/** All settings of a worktree, by rising precedence. */
async function readSettings({ gitDir, commonDir }: GitDirs, env: Environment): Promise<readonly Setting[]> {
  const files = [...userFiles(env), join(commonDir, "config")];
  const own = (await readFileIfExists(join(commonDir, "config"))) ?? "";
  if (isTrue(readSetting(own, "extensions.worktreeconfig"))) files.push(join(gitDir, "config.worktree"));
  const texts = await Promise.all(files.map(async (path) => ({ path, text: (await readFileIfExists(path)) ?? "" })));
  const urls = texts
    .flatMap(({ text }) => parseConfig(text))
    .flatMap(({ name, value }) => (REMOTE_URL.test(name) ? [value] : []));
  const head = /^ref: refs\/heads\/(.+?)\s*$/.exec((await readFileIfExists(join(gitDir, "HEAD"))) ?? "")?.[1] ?? null;
  const place: IncludePlace = { gitDir, home: homeOf(env), branch: head, urls };
  const settings: Setting[] = [];
  for (const { path, text } of texts) appendAll(settings, await withIncludes(path, text, { place, depth: 0 }));
  return settings;
}

const REMOTE_URL = /^remote\.(?:.*\.)?url$/s;

/** What conditions of includes ask about. */
interface IncludePlace {
  readonly gitDir: string;
  readonly home: string;
  /** Null = a detached HEAD. */
  readonly branch: string | null;
  /** Addresses of the remotes. */
  readonly urls: readonly string[];
}

/** Git's own limit on nested includes. */
const DEEPEST = 10;

/** The settings of a file, with those of included files in place of the include (git-config(1), "Includes"). */
async function withIncludes(
  file: string,
  text: string,
  { place, depth }: { readonly place: IncludePlace; readonly depth: number },
): Promise<readonly Setting[]> {
  const settings: Setting[] = [];
  for (const setting of parseConfig(text)) {
    settings.push(setting);
    const [, condition] = /^include(?:if\.(.*))?\.path$/s.exec(setting.name) ?? [];
    const isInclude = setting.name === "include.path" || condition !== undefined;
    if (!isInclude || depth === DEEPEST || (condition !== undefined && !holds(condition, file, place))) continue;
    const path = pathFrom(setting.value, dirname(file), place.home);
    appendAll(settings, await withIncludes(path, (await readFileIfExists(path)) ?? "", { place, depth: depth + 1 }));
  }
  return settings;
}

function pathFrom(written: string, folder: string, home: string): string {
  if (written.startsWith("~/")) return join(home, written.slice(2));
  return isAbsolute(written) ? written : join(folder, written);
}

function holds(condition: string, file: string, { gitDir, home, branch, urls }: IncludePlace): boolean {
  const [, kind = "", written = ""] =
    /^(gitdir(?:\/i)?|onbranch|hasconfig:remote\.\*\.url):(.*)$/s.exec(condition) ?? [];
  const pattern = written.endsWith("/") ? `${written}**` : written;
  if (kind === "onbranch") return branch !== null && matchesGlob(pattern, branch);
  if (kind.startsWith("hasconfig")) return urls.some((url) => matchesGlob(written, url));
  if (kind === "") return false;
  const isAnywhere = !/^(?:~\/|\.\/)/.test(pattern) && !isAbsolute(pattern);
  const whole = isAnywhere ? `**/${pattern}` : pathFrom(pattern, dirname(file), home);
  return matchesGlob(whole, gitDir, kind === "gitdir/i");
}

/** The wildcards of a pattern, as regular expressions: only `**` between slashes matches slashes. */
const WILDCARDS: ReadonlyMap<string, string> = new Map([
  ["/**/", "/(?:.*/)?"],
  ["**/", "(?:.*/)?"],
  ["/**", "/.*"],
  ["**", "[^/]*"],
  ["*", "[^/]*"],
  ["?", "[^/]"],
]);

function matchesGlob(pattern: string, text: string, ignoreCase = false): boolean {
  const parts = pattern.split(/(\/\*\*\/|^\*\*\/|\/\*\*$|\*\*|[*?])/);
  const source = parts.map((part) => WILDCARDS.get(part) ?? part.replace(/[\\^$.+()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${source.join("")}$`, ignoreCase ? "is" : "s").test(text);
}
