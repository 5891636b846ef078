// Maintains a store: packing in the background, the trash.
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { createFile, readFileIfExists, replaceFile } from "../files.ts";
import { refOfBranch } from "../ref-files.ts";
import { type BranchTip, EMPTY_TREE, type Trash, type TrashedBranch } from "../store.ts";
import { startGit } from "./git-process.ts";
import { ignoredSettings } from "./guard.ts";
import { formatArguments, placeOf, type Repository, runCommand, tryCommand } from "./porcelain.ts";
import {
  configureBranches,
  listRefFiles,
  parseTrashRef,
  REMOVED,
  readHead,
  readRef,
  refInTrash,
  TRASH,
} from "./refs.ts";
import { listGitDirs } from "./repository.ts";
import { readTrees } from "./worktree-advance.ts";

// Packs a store in the background. `gc.auto=0` keeps stock commands from doing it at a bad moment; jpg starts it after bulk
// writes.

const COMMAND = { args: ["maintenance", "run", "--auto", "--quiet"], config: ["gc.auto=6700"] };

/** Asks whether git may maintain a repository by itself: `maintenance.auto`, from any configuration. */
const ASKED = { args: ["config", "--type=bool", "--default=true", "--get", "maintenance.auto"] };

/**
 * Starts git's own maintenance when enough loose objects or packs piled up; does not wait for it and never fails. Does nothing
 * when `maintenance.auto` is false, or when the store's configuration names programs: one of these settings is a list that can
 * be extended but not emptied (`gc.recentObjectsHook`).
 */
export async function startMaintenance(repository: Repository): Promise<void> {
  if (ignoredSettings(repository).length > 0) return;
  // Maintenance is an optimisation: if git cannot be asked, the next import tries again.
  const asked = await tryCommand(repository, ASKED).catch(() => null);
  if (asked === null || asked.stdout.toString().trim() === "false") return;
  startGit(formatArguments(repository, COMMAND), placeOf(repository));
}

// Removed branches: their refs are kept under refs/trash/<time>/ until they are restored or purged, so that git keeps their
// objects. A purge also removes the objects that nothing else in the repository reaches; remote-tracking refs of the same
// branches are removed with them.

/** Creates the trash of a repository; `root` = its own worktree, null when it has none. */
export function createTrash(repository: Repository, root: string | null): Trash {
  return {
    list: () => listTrash(repository),
    put: (branches, removedAt) => putIntoTrash(repository, root, { branches, removedAt }),
    restore: (branches) => restore(repository, branches),
    purge: (branches) => purge(repository, branches),
  };
}

async function listTrash(repository: Repository): Promise<readonly TrashedBranch[]> {
  const filed = await listRefFiles(repository.gitDir, TRASH);
  if (filed !== null) return filed.flatMap(({ name, commit }) => parseTrashRef(`${TRASH}${name}`, commit) ?? []);
  const args = ["for-each-ref", "--format=%(objectname) %(refname)", TRASH];
  const lines = (await runCommand(repository, { args })).toString().split("\n");
  return lines.flatMap((line) => {
    const [commit = "", ref = ""] = line.split(" ");
    const found = parseTrashRef(ref, commit);
    return found === null ? [] : [found];
  });
}

/** Moves refs, all or none; first moves the store's HEAD away from a branch that is removed. */
async function putIntoTrash(
  repository: Repository,
  root: string | null,
  { branches, removedAt }: { readonly branches: readonly BranchTip[]; readonly removedAt: string },
): Promise<void> {
  const head = await readHead(repository, repository.gitDir);
  const held = branches.find(({ name }) => head !== null && "ref" in head && head.ref === refOfBranch(name));
  const lines = branches.map(
    ({ name, commit }) => `create ${refInTrash(removedAt, name)}\0${commit}\0delete ${refOfBranch(name)}\0${commit}\0`,
  );
  if (held !== undefined) await clearActiveBranch(repository, root, held);
  await runCommand(repository, { args: ["update-ref", "-z", "--stdin"], input: lines.join("") });
}

/** A store without an active conversation is as it was made: no file, and a branch that does not exist yet. */
async function clearActiveBranch(repository: Repository, root: string | null, { commit }: BranchTip): Promise<void> {
  if (root !== null) {
    // A copied store has other file times than its index says.
    await tryCommand(repository, { args: ["update-index", "-q", "--refresh"] });
    await readTrees(repository, commit, EMPTY_TREE);
  }
  await runCommand(repository, { args: ["symbolic-ref", "HEAD", "refs/heads/main"] });
}

async function restore(repository: Repository, branches: readonly TrashedBranch[]): Promise<void> {
  const lines = branches.map(
    ({ branch, commit, removedAt }) =>
      `create ${refOfBranch(branch)}\0${commit}\0delete ${refInTrash(removedAt, branch)}\0${commit}\0`,
  );
  await runCommand(repository, { args: ["update-ref", "-z", "--stdin"], input: lines.join("") });
  await configureBranches(
    repository,
    branches.map(({ branch }) => branch),
  );
}

async function purge(repository: Repository, branches: readonly TrashedBranch[]): Promise<number> {
  const recreated = new Set(branches.map(({ branch }) => branch));
  for (const name of await namesNotRecreated(repository, branches)) recreated.delete(name);
  const refs = [
    ...branches.map(({ branch, commit, removedAt }) => ({ ref: refInTrash(removedAt, branch), commit })),
    ...(await listFetched(repository, branches)).filter(({ branch }) => !recreated.has(branch)),
  ];
  const lines = refs.map(({ ref, commit }) => `delete ${ref}\0${commit}\0`);
  await runCommand(repository, { args: ["update-ref", "-z", "--stdin"], input: lines.join("") });
  for (const { branch } of branches) {
    // If another branch of this name was made since, git keeps its section.
    await tryCommand(repository, { args: ["config", "--local", "--remove-section", `branch.${branch}`] });
  }
  const tips = branches.map(({ commit }) => commit);
  await forgetInReflog(repository, new Set(await listRevisions(repository, [...tips, "--not", "--all"])));
  await forgetNames(repository.gitDir, await namesNotRecreated(repository, branches));
  const gone = await listUnneeded(repository, tips);
  await removeObjects(repository, gone);
  return gone.length;
}

/** The remote-tracking refs of branches, from all remotes. */
async function listFetched(
  repository: Repository,
  branches: readonly TrashedBranch[],
): Promise<readonly { readonly ref: string; readonly commit: string; readonly branch: string }[]> {
  const names = [...new Set(branches.map(({ branch }) => branch))];
  const patterns = names.map((name) => `refs/remotes/*/${name}`);
  const args = ["for-each-ref", "--format=%(objectname) %(refname)", ...patterns];
  const lines = (await runCommand(repository, { args })).toString().split("\n");
  return lines.flatMap((line) => {
    const [commit = "", ref = ""] = line.split(" ");
    const branch = names.find((name) => ref.endsWith(`/${name}`));
    return branch === undefined ? [] : [{ ref, commit, branch }];
  });
}

/** The names that no newer branch has: reflogs and settings of the others stay. */
async function namesNotRecreated(
  repository: Repository,
  branches: readonly TrashedBranch[],
): Promise<readonly string[]> {
  const names = [...new Set(branches.map(({ branch }) => branch))];
  const commits = await Promise.all(names.map((name) => readRef(repository, refOfBranch(name))));
  return names.filter((_, index) => commits[index] === null);
}

/**
 * The objects that commits reach and that no ref, reflog or index does. Lists each side whole: with `--not`, git may include a
 * tree or file of an older commit that is kept as well.
 */
async function listUnneeded(repository: Repository, commits: readonly string[]): Promise<readonly string[]> {
  const objects = ["--objects", "--no-object-names"];
  const needed = new Set(await listRevisions(repository, [...objects, "--all", "--reflog", "--indexed-objects"]));
  return (await listRevisions(repository, [...objects, ...commits])).filter((oid) => !needed.has(oid));
}

async function listRevisions(repository: Repository, args: readonly string[]): Promise<readonly string[]> {
  const printed = await runCommand(repository, { args: ["rev-list", ...args] });
  return printed
    .toString()
    .split("\n")
    .filter((line) => line !== "");
}

/** Removes HEAD's reflog entries of these commits; keeps the others. */
async function forgetInReflog(repository: Repository, commits: ReadonlySet<string>): Promise<void> {
  const lines = ((await readFileIfExists(join(repository.gitDir, "logs", "HEAD"))) ?? "").trimEnd().split("\n");
  const entries = lines.flatMap((line, index) =>
    commits.has(line.slice(41, 81)) ? [`HEAD@{${lines.length - 1 - index}}`] : [],
  );
  if (entries.length === 0) return;
  // Git changes no reflog of a branch that does not exist; without a conversation none is needed.
  if ((await readRef(repository, "HEAD")) === null) return rm(join(repository.gitDir, "logs", "HEAD"));
  // The oldest first: the numbers of newer ones stay.
  await runCommand(repository, { args: ["reflog", "delete", "--rewrite", ...entries] });
}

/** Repacks so that unreachable objects become loose, and removes the given ones; objects that others are just writing stay. */
async function removeObjects(repository: Repository, oids: readonly string[]): Promise<void> {
  await removeLoose(repository, oids);
  const args = ["cat-file", "--batch-check=%(objectname)", "--buffer"];
  const found = (await runCommand(repository, { args, input: oids.map((oid) => `${oid}\n`).join("") })).toString();
  if (found.split("\n").every((line) => line === "" || line.endsWith(" missing"))) return;
  await runCommand(repository, { args: ["repack", "-A", "-d", "-q"] });
  await removeLoose(repository, oids);
  const hasGraph = (await readFileIfExists(join(repository.gitDir, "objects/info/commit-graph"))) !== null;
  if (hasGraph) await runCommand(repository, { args: ["commit-graph", "write", "--reachable"] });
}

async function removeLoose({ gitDir }: Repository, oids: readonly string[]): Promise<void> {
  for (const oid of oids) await rm(join(gitDir, "objects", oid.slice(0, 2), oid.slice(2)), { force: true });
}

// Removes the names of purged branches from the messages of reflogs, the store's and every worktree's. The lines stay, with
// their commits: git's format and numbering hold.

/** `git switch -` searches for "moving from": the new wording makes it skip the line and go to the branch before. */
const FROM_REMOVED = `checkout: moving from ${REMOVED} to`;

/** Removes names of branches (without `refs/heads/`) from all reflogs below a git dir. */
async function forgetNames(gitDir: string, names: readonly string[]): Promise<void> {
  for (const own of await listGitDirs(gitDir)) {
    for (const log of await listLogs(join(own, "logs"))) await forgetNamesIn(own, log, names);
  }
}

/** Relative paths of the reflogs below a folder. */
async function listLogs(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files.map((path) => path.slice(folder.length + 1));
}

async function forgetNamesIn(gitDir: string, log: string, names: readonly string[]): Promise<void> {
  const path = join(gitDir, "logs", log);
  const mentions = async (): Promise<string | null> => {
    const text = await readFileIfExists(path);
    return text !== null && names.some((name) => text.includes(name)) ? text : null;
  };
  if ((await mentions()) === null) return;
  // Git appends under this lock; if it is held, the names stay until the next purge.
  const lock = join(gitDir, `${log}.lock`);
  if (!(await createFile(lock, ""))) return;
  try {
    const text = await mentions();
    if (text !== null)
      await replaceFile(
        path,
        text.replace(/^([^\t\n]*\t)(.*)$/gm, (_, head, said) => head + without(said, names)),
      );
  } finally {
    await rm(lock, { force: true });
  }
}

/** A message without the names, as whole words only. */
function without(message: string, names: readonly string[]): string {
  return message
    .split(" ")
    .map((word) => {
      const [, start = "", name = "", end = ""] = /^(refs\/heads\/|)(.*?)([:,]?)$/.exec(word) ?? [];
      return names.includes(name) ? `${start}${REMOVED}${end}` : word;
    })
    .join(" ")
    .replace(FROM_REMOVED, `checkout: moved from ${REMOVED} to`);
}
