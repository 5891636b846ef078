// Makes a store: an ordinary git repository with jpg's settings, hooks and excludes. Running it again adds what is missing and
// changes nothing else.
import { join, parse } from "node:path";
import { asSentence, repositoryError, userError } from "../../core/errors.ts";
import { quoteForShell } from "../../core/safe-text.ts";
import { type Environment, type GitVersion, isAtLeast } from "../environment.ts";
import { makeFolders, makeOwnFolder, PRIVATE, readFileIfExists, replaceFile } from "../files.ts";
import { withLock } from "../locks.ts";
import type { HookPrograms } from "../store.ts";
import { gitError, requireGitVersion } from "./git-process.ts";
import { ensureIdentity } from "./identity.ts";
import { isConversationTree } from "./locate.ts";
import { appendConfig, formatConfig, type Repository, runCommand, runPorcelain, tryCommand } from "./porcelain.ts";
import { isStoreConfig } from "./refs.ts";
import { findOwnRepository, findRepositoryDir } from "./repository.ts";
import { excludeViews, SPARSE_PATTERNS, showRecordsAsText, writeInfo } from "./worktrees.ts";

/** What a store is made with; its hooks call the programs. */
export interface CreateStoreOptions extends HookPrograms {
  readonly env: Environment;
  /** Where jpg was started; absent = not in a project. */
  readonly cwd?: string;
}

/**
 * Creates or completes the store at `root`; any number of processes may do so at once. Throws `not_a_store` when another kind
 * of repository is there, `store_not_writable`.
 */
export async function createStore(root: string, options: CreateStoreOptions): Promise<void> {
  const { env } = options;
  // Checked before anything is made: an unsuitable git leaves nothing behind. Its version is the same in every folder.
  const version = await requireGitVersion({ cwd: parse(root).root, env });
  await makeFolder(async () => makeFolders(root), root);
  const found = await findOwnRepository(root, env);
  if (found !== null) await refuseForeign({ gitDir: found.commonDir, cwd: root, env });
  const gitDir = found?.commonDir ?? join(root, ".git");
  if (found === null) await makeFolder(() => makeOwnFolder(gitDir), gitDir);
  await withLock(join(gitDir, "jpg-create.lock"), () => completeStore(root, options, version));
}

/** Adds what is missing. `jpg.format` comes last: until then others see no store, and wait for the lock. */
async function completeStore(root: string, options: CreateStoreOptions, version: GitVersion): Promise<void> {
  const { env } = options;
  if ((await findRepositoryDir(root)) === null) await initRepository(root, env);
  const found = await findRepositoryDir(root);
  if (found === null) throw repositoryError("store_damaged", `git init made no repository at ${root}.`);
  const repository: Repository = { gitDir: found.commonDir, cwd: root, env };
  const hooksDir = join(repository.gitDir, "hooks");
  await writeHooks(hooksDir, options);
  await excludeViews(repository.gitDir);
  await showRecordsAsText(repository.gitDir);
  const present = await readLocalSettings(repository);
  if (!isAdoptedClone(present)) await writeInfo(repository.gitDir, "sparse-checkout", SPARSE_PATTERNS);
  await ensureIdentity(root, env, options.cwd);
  const sharing = await readUsersSharing(repository);
  const settings = settingsToHave(present, { hooksDir, version, unmarked: "store" });
  await applySettings(repository, new Map([["core.sharedrepository", sharing], ...settings]));
}

/** Makes a folder for a store. Throws `disk_full`, `store_not_writable`. */
export async function makeFolder(make: () => Promise<unknown>, path: string): Promise<void> {
  try {
    await make();
  } catch (cause) {
    const { code = "", message } = cause as NodeJS.ErrnoException;
    const kind = code === "ENOSPC" || code === "EDQUOT" ? "disk_full" : "store_not_writable";
    const inTheWay = code === "EEXIST" || code === "ENOTDIR";
    throw repositoryError(kind, `The store ${path} cannot be made: ${asSentence(message)}`, {
      hints: [
        inTheWay
          ? "A file is in the way: name another place with --store DIR."
          : "Make its folder writable for you, or name another place with --store DIR.",
      ],
      cause,
    });
  }
}

/** SHA-1 and files whatever the user's defaults are: set by variables, because old gits refuse flags they do not know. */
async function initRepository(root: string, env: Environment): Promise<void> {
  const flags = ["--quiet", "--template=", "--initial-branch=main", "--object-format=sha1"];
  const args = ["-c", "core.preferSymlinkRefs=false", "init", ...flags, "."];
  const extraEnv = { GIT_DEFAULT_HASH: "sha1", GIT_DEFAULT_REF_FORMAT: "files" };
  const { code, stderr } = await runPorcelain(args, { cwd: root, env, extraEnv });
  if (code !== 0) throw gitError({ args: ["init"], code, stderr, where: root });
}

/** Another repository may only become a store while it is empty, or when it holds conversations (a stock clone). */
async function refuseForeign(repository: Repository): Promise<void> {
  if (isStoreConfig((await readFileIfExists(join(repository.gitDir, "config"))) ?? "")) return;
  const { stdout } = await tryCommand(repository, { args: ["for-each-ref", "--count=1"] });
  if (stdout.length === 0 || (await isConversationTree(repository))) return;
  throw userError(
    "not_a_store",
    `${repository.cwd} is a git repository with other content: jpg keeps conversations apart.`,
    {
      hints: ["Name an empty folder: jpg init DIR", "Or run `jpg init` without DIR inside the project."],
    },
  );
}

/** The store's setting, else the user's; default: the owner alone, as for files that jpg writes. */
async function readUsersSharing(repository: Repository): Promise<string> {
  const { code, stdout } = await tryCommand(repository, { args: ["config", "--get", "core.sharedRepository"] });
  return code === 0 ? stdout.toString().trim() || "true" : PRIVATE;
}

/** The version of the stored format, the value of `jpg.format`. */
const STORE_FORMAT = 1;
const FORMAT = "jpg.format";
/** Set in a stock clone that jpg adopted; absent in a store that jpg made. */
const CLONE = "jpg.clone";

/** False when the user's own `core.hooksPath` counts: jpg's is then not written. */
interface HooksChoice {
  readonly withHooks: boolean;
}

/** The settings of a store that jpg makes, with the given hooks folder (absolute), for a git version. */
export function storeSettings(
  hooksDir: string,
  { version, ...how }: HooksChoice & { readonly version: GitVersion },
): ReadonlyMap<string, string> {
  const settings = new Map<string, string>([
    ...placeSettings(hooksDir, how),
    ["core.autocrlf", "false"],
    ["core.logallrefupdates", "true"],
    ["core.sparsecheckout", "true"],
    ["core.sparsecheckoutcone", "true"],
    ["gc.auto", "0"],
    ["merge.renames", "false"],
  ]);
  if (isAtLeast(version, [2, 32, 0])) {
    settings.set("index.sparse", "true");
    // Git cannot split a sparse index, whatever the user's default is.
    settings.set("core.splitindex", "false");
  }
  // Last: an interrupted store does not yet count as one.
  settings.set(FORMAT, String(STORE_FORMAT));
  return settings;
}

/** The settings that name a place. */
export function placeSettings(hooksDir: string, { withHooks }: HooksChoice): ReadonlyMap<string, string> {
  return new Map([
    ...(withHooks ? [["core.hookspath", hooksDir] as const] : []),
    ["diff.jpg.textconv", quoteForShell(textconvPath(hooksDir))],
  ]);
}

/** The settings that a stock clone gets: its checkout stays as it is, which `jpg.clone` records. */
export function cloneSettings(hooksDir: string, how: HooksChoice): ReadonlyMap<string, string> {
  return new Map([
    ...placeSettings(hooksDir, how),
    ["merge.renames", "false"],
    [CLONE, "true"],
    [FORMAT, String(STORE_FORMAT)],
  ]);
}

/**
 * Whether settings are those of a stock clone that jpg adopted. A clone adopted before the mark existed is recognised by its
 * origin, and by lacking what a store of jpg's own has from the start.
 */
function isAdoptedClone(present: ReadonlyMap<string, string>): boolean {
  const isUnmarked = present.has(FORMAT) && present.has("remote.origin.url") && !present.has("core.sparsecheckout");
  return present.get(CLONE) === "true" || isUnmarked;
}

/**
 * What the settings of a repository should be, given its present ones: a clone gets only what a clone needs, and no repository
 * a hooks path where the user chose one. All code that writes or checks a store's settings asks here. `unmarked` = what a
 * repository without jpg's settings is to become.
 */
export function settingsToHave(
  present: ReadonlyMap<string, string>,
  where: { readonly hooksDir: string; readonly version: GitVersion; readonly unmarked: "store" | "clone" },
): ReadonlyMap<string, string> {
  const { hooksDir, version, unmarked } = where;
  const withHooks = !hasForeignHooks(present, hooksDir);
  const isClone = isAdoptedClone(present) || (unmarked === "clone" && !present.has(FORMAT));
  return isClone ? cloneSettings(hooksDir, { withHooks }) : storeSettings(hooksDir, { withHooks, version });
}

/** Whether `core.hooksPath` is the user's: neither jpg's here, nor jpg's at the place that the store was moved from. */
export function hasForeignHooks(present: ReadonlyMap<string, string>, hooksDir: string): boolean {
  const [path, textconv] = [present.get("core.hookspath"), present.get("diff.jpg.textconv")];
  // In a clone where the user's global path counts, the clone's own settings name none.
  if (path === undefined) return isAdoptedClone(present);
  if (path === hooksDir) return false;
  return textconv === undefined ? !present.has(FORMAT) : path !== textconvFolder(textconv);
}

/** Writes the settings that differ: changed ones each by git, missing ones together, after them. */
export async function applySettings(repository: Repository, settings: ReadonlyMap<string, string>): Promise<void> {
  const present = await readLocalSettings(repository);
  const differing = [...settings].filter(([key, value]) => present.get(key) !== value);
  for (const [key, value] of differing.filter(([key]) => present.has(key)))
    await runCommand(repository, { args: ["config", "--local", "--replace-all", key, value] }, runPorcelain);
  const missing = new Map(differing.filter(([key]) => !present.has(key)));
  if (missing.size > 0) await appendConfig(repository.gitDir, () => formatConfig(missing));
}

/** The settings of the repository's own config file; of a key with several values the last. */
export async function readLocalSettings(repository: Repository): Promise<ReadonlyMap<string, string>> {
  const output = (await runCommand(repository, { args: ["config", "--local", "--list", "-z"] })).toString();
  const entries = output.split("\0").filter((entry) => entry !== "");
  return new Map(
    entries.map((entry) => {
      const end = entry.indexOf("\n");
      return end < 0 ? [entry, ""] : [entry.slice(0, end), entry.slice(end + 1)];
    }),
  );
}

// The hooks of a store: four lines of sh each that call jpg by absolute path, and do nothing, silently, when node or jpg is
// gone. They show the new view after a stock switch, merge, pull, commit, revert or rebase; record what is pushed, refuse to
// push what must stay local, and refuse a commit that would undo what jpg wrote without git.

export const HOOK_NAMES: readonly string[] = [
  "post-checkout",
  "post-merge",
  "post-commit",
  "post-rewrite",
  "pre-commit",
  "pre-push",
];

/** The text of a hook. */
export function formatHook(name: string, programs: HookPrograms): string {
  // A failing pre-hook stops git: what could not be checked is not sent.
  return script(programs, "exit 0", `exec "$node" "$jpg" hook ${name} "$@"`);
}

/** The text of the program that makes `git show` of a compaction readable; without jpg it shows the file as it is. */
export function formatTextconv(programs: HookPrograms): string {
  return script(programs, 'exec cat -- "$1"', 'exec "$node" "$jpg" textconv "$1"');
}

/** Writes the hooks and the textconv program of a store. Keeps the user's own hooks and returns their names. */
export async function writeHooks(hooksDir: string, programs: HookPrograms): Promise<readonly string[]> {
  await makeOwnFolder(hooksDir);
  const foreign: string[] = [];
  for (const name of HOOK_NAMES) {
    const path = join(hooksDir, name);
    const present = await readFileIfExists(path);
    if (present !== null && !isJpgHook(present)) foreign.push(name);
    else await writeProgram(path, formatHook(name, programs));
  }
  await writeProgram(textconvPath(hooksDir), formatTextconv(programs));
  return foreign;
}

/** Whether the text of a hook is one that jpg wrote. */
export function isJpgHook(text: string): boolean {
  return text.includes('"$node" "$jpg" hook ') && programsOf(text) !== null;
}

/** The programs that a hook of jpg's calls; null in another text. */
export function programsOf(text: string): HookPrograms | null {
  const [, nodePath, jpgPath] = /^node='(.*)' jpg='(.*)'$/m.exec(text) ?? [];
  if (nodePath === undefined || jpgPath === undefined) return null;
  return { nodePath: unquoteForShell(nodePath), jpgPath: unquoteForShell(jpgPath) };
}

/** Undoes `quoteForShell`, inside its quotes. */
function unquoteForShell(word: string): string {
  return word.replaceAll(`'\\''`, "'");
}

/** The path of the textconv program of a store. */
export function textconvPath(hooksDir: string): string {
  return join(hooksDir, "jpg-textconv");
}

/** The folder of the textconv program in a value of `diff.jpg.textconv`; null in a value that jpg did not write. */
export function textconvFolder(value: string): string | null {
  const path = /^'(.*)\/jpg-textconv'$/s.exec(value)?.[1];
  return path === undefined ? null : unquoteForShell(path);
}

function script({ nodePath, jpgPath }: HookPrograms, otherwise: string, command: string): string {
  const names = `node=${quoteForShell(nodePath)} jpg=${quoteForShell(jpgPath)}`;
  return `#!/bin/sh\n${names}\n[ -x "$node" ] && [ -f "$jpg" ] || ${otherwise}\n${command}\n`;
}

/** Replaces the file atomically: git may be running the hook. */
async function writeProgram(path: string, text: string): Promise<void> {
  if ((await readFileIfExists(path)) === text) return;
  await replaceFile(path, text, { mode: 0o777 });
}
