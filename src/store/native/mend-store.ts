// Keeps right what a store says of its place: its hooks and settings name the store, node and jpg by absolute path. A project
// that was moved or copied, and a jpg that was installed elsewhere, leave them dead; a stock clone has none at all. The
// user's own hooks stay. Looking costs two small files at each command; git is started only where something is wrong.
import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { JpgError } from "../../core/errors.ts";
import type { Environment } from "../environment.ts";
import { readFileIfThere } from "../files/read-file.ts";
import { readSetting } from "../refs/config-file.ts";
import type { HookPrograms, Mended } from "../upkeep.ts";
import type { Repository } from "./git/git-command.ts";
import { runGit } from "./git/git-process.ts";
import { isStoreConfig } from "./refs/branch-config.ts";
import { excludeViews } from "./refs/exclude-views.ts";
import { showRecordsAsText } from "./refs/info-files.ts";
import { worktreesFolder } from "./refs/project-of-store.ts";
import { findRepositoryDir } from "./refs/repository-dir.ts";
import { applySettings, cloneSettings, hasForeignHooks, placeSettings, readLocalSettings } from "./store-config.ts";
import { formatHook, isJpgHook, programsOf, textconvFolder, writeHooks } from "./store-hooks.ts";
import { repairWorktrees } from "./worktrees/repair-worktrees.ts";

/** Mends the store whose worktree is `root`; null when nothing was wrong, or it cannot be mended. */
export async function mendStore(
  root: string,
  { env, ...programs }: HookPrograms & { readonly env: Environment },
): Promise<Mended | null> {
  const found = await findRepositoryDir(root);
  if (found === null || found.isBare || found.gitDir !== found.commonDir) return null;
  const repository: Repository = { gitDir: found.commonDir, cwd: root, env };
  const fault = await findFault(repository.gitDir, programs);
  if (fault === null) return null;
  try {
    return fault === "clone"
      ? await adoptClone(repository, programs)
      : await mendPlace(repository, { programs, kind: fault });
  } catch (error) {
    // Of another program at the same time, or in a store that may only be read: the next command tries again.
    if (error instanceof JpgError || (error instanceof Error && "syscall" in error)) return null;
    throw error;
  }
}

type Fault = Mended["kind"] | "outdated";

/** Says what is wrong, from the files alone. */
async function findFault(gitDir: string, programs: HookPrograms): Promise<Fault | null> {
  const config = (await readFileIfThere(join(gitDir, "config"))) ?? "";
  if (!isStoreConfig(config)) return "clone";
  const hooksDir = join(gitDir, "hooks");
  const folder = textconvFolderIn(config);
  if (folder === null) return "outdated";
  if (!isSame(folder, hooksDir)) return "moved";
  const hook = await readFileIfThere(join(hooksDir, "pre-push"));
  if (hook === null) return "outdated";
  const called = programsOf(hook);
  // An older jpg wrote it.
  if (called !== null && isJpgHook(hook) && hook !== formatHook("pre-push", called)) return "outdated";
  if (called === null || (isFile(called.nodePath) && isFile(called.jpgPath))) return null;
  return isFile(programs.nodePath) && isFile(programs.jpgPath) ? "programs" : null;
}

async function mendPlace(
  repository: Repository,
  { programs, kind }: { readonly programs: HookPrograms; readonly kind: Exclude<Fault, "clone"> },
): Promise<Mended | null> {
  const hooksDir = join(repository.gitDir, "hooks");
  const foreign = await writeHooks(hooksDir, programs);
  await showRecordsAsText(repository.gitDir);
  // Before the settings, which are what says where the store was.
  const worktrees = kind === "moved" ? await joinWorktrees(repository) : 0;
  const present = await readLocalSettings(repository);
  await applySettings(repository, placeSettings(hooksDir, { withHooks: !hasForeignHooks(present, hooksDir) }));
  // A newer jpg has more hooks: nothing was wrong.
  return kind === "outdated" ? null : { kind, foreign, worktrees };
}

async function joinWorktrees({ gitDir, cwd }: Repository): Promise<number> {
  const oldHooksDir = textconvFolderIn((await readFileIfThere(join(gitDir, "config"))) ?? "");
  if (oldHooksDir === null) return 0;
  const worktreesDir = await worktreesFolder(cwd, gitDir);
  return repairWorktrees({ gitDir, oldGitDir: dirname(oldHooksDir), worktreesDir });
}

/** Gives a stock clone what jpg needs, and leaves the rest of its settings alone. */
async function adoptClone(repository: Repository, programs: HookPrograms): Promise<Mended> {
  const hooksDir = join(repository.gitDir, "hooks");
  const { stdout } = await runGit(["config", "--get", "core.hooksPath"], repository);
  const isForeign = stdout.toString().trim() !== "";
  const left = await writeHooks(hooksDir, programs);
  await excludeViews(repository.gitDir);
  await showRecordsAsText(repository.gitDir);
  await applySettings(repository, cloneSettings(hooksDir, { withHooks: !isForeign }));
  const isShallow = existsSync(join(repository.gitDir, "shallow"));
  return { kind: "clone", foreign: isForeign ? ["core.hooksPath"] : left, worktrees: 0, isShallow };
}

/** The folder in which a config file's text says that jpg's textconv program stands; null when it says nothing. */
function textconvFolderIn(config: string): string | null {
  const value = readSetting(config, "diff.jpg.textconv");
  return value === undefined ? null : textconvFolder(value);
}

function isSame(a: string, b: string): boolean {
  if (a === b) return true;
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return false; // one of them is not there
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
