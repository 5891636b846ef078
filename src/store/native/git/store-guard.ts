// The variables by which jpg's git, in a store, is kept from what the store's own configuration would have it start. Where the
// config file says nothing unusual no git is asked; nothing is remembered on disk, where a store could answer for itself.
import { existsSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Environment } from "../../environment.ts";
import { readOwnText } from "../../files/read-file.ts";
import { gitError } from "./git-error.ts";
import { type GitPlace, runGitNow } from "./git-process.ts";
import { isPlainConfig } from "./plain-config.ts";
import { planSettings, type SettingsPlan } from "./program-settings.ts";
import { type Promisor, unaskedIn } from "./promisors.ts";
import { LIST_SETTINGS, parseScopedSettings } from "./scoped-settings.ts";

/** A repository that git is about to be started in; `gitDir` as git is told it. */
interface Guarded extends GitPlace {
  readonly gitDir: string;
}

const PLAIN: SettingsPlan = { ignored: [], overrides: new Map(), isShut: false, promisors: [] };

/** Plain config files seen by this process: what they are, by path. What is not plain is asked each time: it may include. */
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
    // Git before 2.45 asks whatever the second says; the first it heeds, for every protocol.
    ...(plan.isShut || unaskedOf(repository, plan).length > 0
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

/** How a store's own configuration would have its git reach others. */
export interface Reach {
  /** Whether it says what stands between the store and every remote: nothing is reached. */
  readonly isShut: boolean;
  /** Remotes that have objects which are not here; more than none in a partial clone. */
  readonly promisors: readonly Promisor[];
  /** Those of them that are not asked, for the user has not fetched from them here. */
  readonly unasked: readonly Promisor[];
}

/** Reads how git would reach others from a repository. */
export function readReach(repository: Guarded): Reach {
  const plan = readPlan(repository);
  return { isShut: plan.isShut, promisors: plan.promisors, unasked: unaskedOf(repository, plan) };
}

function unaskedOf({ gitDir }: Guarded, { promisors }: SettingsPlan): readonly Promisor[] {
  return unaskedIn(commonDirOf(gitDir), promisors);
}

function readPlan({ gitDir, ...place }: Guarded): SettingsPlan {
  if (isPlainFile(join(commonDirOf(gitDir), "config"))) return PLAIN;
  const { code, stdout, stderr } = runGitNow([`--git-dir=${gitDir}`, ...LIST_SETTINGS], place);
  if (code !== 0) throw gitError({ args: ["config", "--list"], code, stderr, where: place.cwd });
  return planSettings(parseScopedSettings(stdout.toString()));
}

/** Whether a repository's config file is plain (see `isPlainConfig`), or not there. */
export function isPlainFile(path: string): boolean {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return true;
  const stamp = [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(" ");
  if (plainStamps.get(path) === stamp) return true;
  if (!isPlainConfig(readOwnText(path, { followLink: true }))) return false;
  plainStamps.set(path, stamp);
  return true;
}

/** The git dir with the config file, from that of a linked worktree too. */
function commonDirOf(gitDir: string): string {
  const link = join(gitDir, "commondir");
  return existsSync(link) ? resolve(gitDir, readOwnText(link, { followLink: true }).trim()) : gitDir;
}

function isSamePlace(one: string, other: string): boolean {
  try {
    return realpathSync.native(one) === realpathSync.native(other);
  } catch {
    return false; // one is not there
  }
}
