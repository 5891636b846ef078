// Examines what surrounds the conversations: git, the store's folder, its settings and hooks, locks and leftovers of killed
// processes, worktrees, remotes. `--fix` repairs what needs no choice of the user.
import { rm } from "node:fs/promises";
import { relative } from "node:path";
import { JpgError } from "../../core/errors.ts";
import { isSameRepository, shownUrl } from "../../core/remote-address.ts";
import { type GitVersion, isAtLeast, OLDEST_GIT, parseGitVersion } from "../../store/environment.ts";
import type { Remote } from "../../store/sharing.ts";
import type { ConversationStore, StoreHealth, StoreLocation, Upkeep } from "../../store/store.ts";
import { locate, makeStore, mend, openStoreAt, preferGit } from "../conversation/engine.ts";
import { findGit } from "../conversation/git-program.ts";
import { listJournals } from "../conversation/journal.ts";
import type { Runtime } from "../conversation/runtime.ts";
import { hookPaths, listSpool } from "../import/spool.ts";

/** One check and its result. */
export interface DoctorCheck {
  /** Must never change: scripts look for it. */
  readonly name: string;
  /** `problem`: something does not work. `warning`: it works, but see the hint. */
  readonly state: "ok" | "warning" | "problem";
  readonly message: string;
  readonly hint?: string;
  /** Whether `--fix` repairs it. */
  readonly fixable?: true;
  /** Whether this call repaired it. */
  readonly fixed?: true;
}

export interface DoctorReport {
  /** Whether no problem is left. */
  readonly ok: boolean;
  /** The store's main worktree; null if none was found. */
  readonly store: string | null;
  readonly checks: readonly DoctorCheck[];
}

/** Number of loose objects at which `git gc --auto` would pack them. */
const MANY_LOOSE = 6700;
/** The oldest git that does everything jpg uses, and fastest. */
const BEST_GIT: GitVersion = [2, 38, 0];

/** Examines, and if asked repairs, the store that the arguments, environment and current directory name. */
export async function examine(
  runtime: Runtime,
  options: { readonly store?: string; readonly fix: boolean },
): Promise<DoctorReport> {
  const version = await findGit(runtime);
  const git = [checkGit(version), ...(await checkSpool(runtime)), ...privacyOf(runtime)];
  const located = await orFailedCheck(locate(runtime, options.store));
  if ("message" in located) return report(null, [...git, located]);
  if (!located.exists) return report(located.root, [...git, noStore(located)]);
  const runtimeOfGit = preferGit(runtime);
  const store = await orFailedCheck(openStoreAt(runtimeOfGit, located.root));
  if ("message" in store) return report(located.root, [...git, store]);
  try {
    const checks = await examineStore(runtimeOfGit, store, { version, fix: options.fix });
    return report(located.root, [...git, ...checks]);
  } finally {
    await store.close();
  }
}

/** Without git, only checks that the store can be opened. */
async function examineStore(
  runtime: Runtime,
  store: ConversationStore,
  { version, fix }: { readonly version: GitVersion | null; readonly fix: boolean },
): Promise<readonly DoctorCheck[]> {
  const upkeep = await store.upkeep();
  if (upkeep === null || version === null) return [{ name: "store", state: "ok", message: store.root }];
  const look = () => inspectStore(runtime, store, { upkeep, version });
  const seen = await look();
  const before = await runChecks(seen);
  const faulty = CHECKS.filter(({ name }) => before.some((check) => check.name === name && check.fixable === true));
  if (!fix || faulty.length === 0) return before;
  for (const { repair } of faulty.filter(({ repairsFirst }) => repairsFirst === true)) await repair?.(seen);
  for (const { repair } of faulty.filter(({ repairsFirst }) => repairsFirst !== true)) await repair?.(seen);
  const wrong = new Map(before.filter(({ state }) => state !== "ok").map((check) => [check.name, check.message]));
  return (await runChecks(await look())).map((check): DoctorCheck => {
    const message = check.state === "ok" ? wrong.get(check.name) : undefined;
    return message === undefined ? check : { ...check, message, fixed: true };
  });
}

/** The examined state of a store. */
interface StoreState {
  readonly runtime: Runtime;
  readonly store: ConversationStore;
  readonly upkeep: Upkeep;
  readonly health: StoreHealth;
  /** Turns that killed processes left uncommitted. */
  readonly interrupted: number;
}

async function inspectStore(
  runtime: Runtime,
  store: ConversationStore,
  { upkeep, version }: { readonly upkeep: Upkeep; readonly version: GitVersion },
): Promise<StoreState> {
  const { nodePath, jpgPath } = runtime;
  const health = await upkeep.inspect({ nodePath, jpgPath }, version);
  const journals = await listJournals(store.journal(), runtime.now());
  return { runtime, store, upkeep, health, interrupted: journals.filter(({ isAbandoned }) => isAbandoned).length };
}

type Verdict = Pick<DoctorCheck, "state" | "message" | "hint">;

interface StoreCheck {
  readonly name: string;
  readonly check: (seen: StoreState) => Verdict | Promise<Verdict>;
  /** What `--fix` does if it is not ok. */
  readonly repair?: (seen: StoreState) => Promise<void>;
  /** Repaired before the others, because git changes nothing that is locked. */
  readonly repairsFirst?: true;
}

/** In the order of the report. */
const CHECKS: readonly StoreCheck[] = [
  { name: "store", check: ({ store }) => ({ state: "ok", message: store.root }) },
  { name: "writable", check: checkWritable },
  {
    name: "hooks",
    check: checkSetup,
    async repair({ runtime, store }) {
      // First the repairs of every command, which keep a stock clone as it is.
      await mend(runtime, store.root);
      await makeStore(runtime, store.root);
    },
  },
  {
    name: "locks",
    check: ({ health, store }) => checkAbandonedFiles("locks", health.locks, store.gitDir),
    repair: ({ health }) => removeFiles(health.locks),
    repairsFirst: true,
  },
  {
    name: "leftovers",
    check: ({ health, store }) => checkAbandonedFiles("leftovers", health.leftovers, store.gitDir),
    repair: ({ health }) => removeFiles(health.leftovers),
    repairsFirst: true,
  },
  { name: "journals", check: checkJournals },
  { name: "worktrees", check: checkWorktrees, repair: ({ upkeep }) => upkeep.pruneWorktrees() },
  { name: "objects", check: checkObjects, repair: ({ upkeep }) => upkeep.pack() },
  { name: "active", check: checkActive },
  { name: "remote", check: checkRemotes },
];

function runChecks(seen: StoreState): Promise<readonly DoctorCheck[]> {
  const run = async ({ name, check, repair }: StoreCheck): Promise<DoctorCheck> => {
    const verdict = await check(seen);
    const isFixable = verdict.state !== "ok" && repair !== undefined;
    return { name, ...verdict, ...(isFixable ? { fixable: true } : {}) };
  };
  return Promise.all(CHECKS.map(run));
}

async function removeFiles(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(path, { force: true });
}

function report(store: string | null, checks: readonly DoctorCheck[]): DoctorReport {
  return { ok: checks.every(({ state }) => state !== "problem"), store, checks };
}

/** On other systems modes keep a store private; SECURITY.md says how. */
function privacyOf({ platform }: Runtime): readonly DoctorCheck[] {
  if (platform !== "win32") return [];
  const message =
    "Windows has access lists in place of modes: who can read a store is what its folder's list says, which jpg neither sets nor checks";
  return [{ name: "privacy", state: "ok", message }];
}

function checkGit(version: GitVersion | null): DoctorCheck {
  const name = "git";
  if (version === null)
    return {
      name,
      state: "warning",
      message: "git is not installed: jpg needs it only for worktrees, remotes, hooks and signatures",
      hint: `install git ${OLDEST_GIT} or newer`,
    };
  const message = `git ${version.join(".")}`;
  if (!isAtLeast(version, parseGitVersion(OLDEST_GIT)))
    return { name, state: "problem", message: `${message} is too old`, hint: `install git ${OLDEST_GIT} or newer` };
  if (isAtLeast(version, BEST_GIT)) return { name, state: "ok", message };
  const hint = `git ${BEST_GIT.slice(0, 2).join(".")} merges without a worktree, and 2.32 keeps the index of large conversations small`;
  return { name, state: "warning", message: `${message} works; a newer one does more`, hint };
}

/** Turns an error into a failed check: a store that jpg refuses is what the doctor is for. */
async function orFailedCheck<T>(found: Promise<T>): Promise<T | DoctorCheck> {
  try {
    return await found;
  } catch (error) {
    if (!(error instanceof JpgError)) throw error;
    return { name: "store", state: "problem", message: error.message, hint: error.hints.join(" ") };
  }
}

function noStore({ root }: StoreLocation): DoctorCheck {
  return {
    name: "store",
    state: "warning",
    message: `no store yet at ${root}`,
    hint: "`jpg import` imports this project's sessions and creates it",
  };
}

function checkWritable({ health: { unwritable } }: StoreState): Verdict {
  if (unwritable.length === 0) return { state: "ok", message: "the store can be written" };
  const message = `${unwritable.join(", ")} cannot be written`;
  return { state: "problem", message, hint: "make it writable for you: chmod -R u+rwX, or chown" };
}

function unscanned(foreign: readonly string[]): string {
  const isOwn = foreign.includes("core.hooksPath") || foreign.includes("pre-push");
  return isOwn ? "; a stock `git push` is not scanned for secrets, `jpg push` is" : "";
}

/** A store that was moved, copied or cloned has missing or broken hooks. */
function checkSetup({ health: { settings, programs, dead, foreign } }: StoreState): Verdict {
  if (settings.length === 0 && programs.length === 0) {
    const names = foreign.join(", ");
    const own =
      names && `; your own stay (${names}): they do not update VIEW.md, \`jpg use @\` does${unscanned(foreign)}`;
    return { state: "ok", message: `hooks, textconv and settings are those of this jpg${own}` };
  }
  const parts = [
    ...(dead.length > 0 ? [`${dead.join(", ")} call a jpg that is gone`] : []),
    ...(programs.length > dead.length ? [`${programs.length - dead.length} hooks are missing or of another jpg`] : []),
    ...(settings.length > 0 ? [`settings differ: ${settings.join(", ")}`] : []),
  ];
  const hint = "`jpg doctor --fix` writes them; until then views are not updated after stock git";
  return { state: dead.length > 0 ? "problem" : "warning", message: parts.join("; "), hint };
}

function checkAbandonedFiles(name: "locks" | "leftovers", files: readonly string[], gitDir: string): Verdict {
  if (files.length === 0) return { state: "ok", message: `no abandoned ${name}` };
  const paths = files.slice(0, 3).map((path) => relative(gitDir, path));
  const more = files.length > paths.length ? ` and ${files.length - paths.length} more` : "";
  return {
    state: name === "locks" ? "problem" : "warning",
    message: `${paths.join(", ")}${more}: left by a process that was killed`,
    hint: "`jpg doctor --fix` removes them; first make sure that no git is running in the store",
  };
}

function checkJournals({ interrupted }: StoreState): Verdict {
  if (interrupted === 0) return { state: "ok", message: "no turn was left uncommitted" };
  const message = `${interrupted} ${interrupted === 1 ? "turn was" : "turns were"} interrupted and not committed yet`;
  return { state: "warning", message, hint: "`jpg ls`, or any command that opens the store, commits them" };
}

function checkWorktrees({ health: { goneWorktrees } }: StoreState): Verdict {
  if (goneWorktrees.length === 0) return { state: "ok", message: "every worktree is there" };
  const message = `the folders of ${goneWorktrees.join(", ")} are gone`;
  return { state: "warning", message, hint: "`jpg doctor --fix` lets git forget them" };
}

function checkObjects({ health: { looseObjects } }: StoreState): Verdict {
  if (looseObjects <= MANY_LOOSE) return { state: "ok", message: `${looseObjects} loose objects` };
  const hint = "`jpg doctor --fix` packs them";
  return { state: "warning", message: `${looseObjects} loose objects take space and time`, hint };
}

function checkActive({ health: { isActive } }: StoreState): Verdict {
  if (isActive) return { state: "ok", message: "a conversation is active" };
  const hint = "`jpg ls` lists the conversations, `jpg use ID` makes one active, `jpg import` imports sessions";
  return { state: "warning", message: "HEAD names a branch that does not exist", hint };
}

/** Checks the configuration of remotes without contacting them. */
async function checkRemotes({ store: { root, sharing }, upkeep }: StoreState): Promise<Verdict> {
  const remotes = await sharing?.remotes().catch((error: unknown) => {
    if (error instanceof JpgError) return error;
    throw error;
  });
  if (remotes instanceof JpgError) return { state: "problem", message: remotes.message, hint: remotes.hints.join(" ") };
  if (remotes === undefined || remotes.length === 0) {
    const hint =
      "`jpg remote add NAME URL` and `jpg push --all` keep a copy elsewhere; nothing is pushed unless you push it";
    return { state: "warning", message: `none: if ${root} is lost, so are its conversations`, hint };
  }
  const deleted = await findMirrored(upkeep, remotes);
  if (deleted !== null) return deleted;
  const listed = remotes.map(({ name, as }) => `${name} (${as === "hidden" ? "hidden refs" : "branches"})`);
  return { state: "ok", message: `remotes: ${listed.join(", ")}` };
}

/** Finds a remote to which the project is mirrored: each such push deletes the hidden refs there. */
async function findMirrored(upkeep: Upkeep, remotes: readonly Remote[]): Promise<Verdict | null> {
  const mirrors = await upkeep.mirrors();
  for (const { name, pushUrl, as } of remotes) {
    const mirror = as === "hidden" ? mirrors.find(({ url }) => isSameRepository(url, pushUrl)) : undefined;
    if (mirror === undefined) continue;
    return {
      state: "warning",
      message: `the project is mirrored to ${mirror.name}: each \`git push ${mirror.name}\` of the project deletes the conversations on ${name} (${shownUrl(pushUrl)})`,
      hint: `\`git config --unset remote.${mirror.name}.mirror\` in the project, or a repository of their own: \`jpg remote add NAME URL --as branches\``,
    };
  }
  return null;
}

interface SpoolCheck {
  readonly name: "spool";
  readonly state: "warning";
  readonly message: string;
  readonly hint: string;
}

/** Reports sessions in the spool that could not be imported; empty if there are none. */
async function checkSpool(runtime: Runtime): Promise<readonly SpoolCheck[]> {
  const places = hookPaths(runtime);
  const waiting = await listSpool(places, runtime.now()).catch(() => []);
  const failed = waiting.filter(({ problem }) => problem !== null);
  const [first] = failed;
  if (first === undefined) return [];
  const sessions =
    failed.length === 1 ? "1 session that an agent's hook" : `${failed.length} sessions that agents' hooks`;
  return [
    {
      name: "spool",
      state: "warning",
      message: `${sessions} put aside could not be imported: ${first.problem?.message ?? ""}`,
      hint: `\`jpg sync --spool\` tries again; what was put aside is in ${places.spool}`,
    },
  ];
}
