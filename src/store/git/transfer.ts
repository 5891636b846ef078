// Transfers between a store and an address. The command names the address and the refspecs, so that no setting of the store
// about a remote counts; when the store configures transports, nothing is transferred.
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { formatBundleHeader, parseBranchName, unfitBranches } from "../../core/conversation/name.ts";
import { codeOf, repositoryError, userError } from "../../core/errors.ts";
import { checkRemoteUrl, shownUrl } from "../../core/remote-address.ts";
import { makeDraftFolder } from "../files.ts";
import { clearUnfinishedPacks } from "../locks.ts";
import type { Fetched, PushedBranch, Remote, RemoteRefs, TransferOptions } from "../sharing.ts";
import type { BranchTip } from "../store.ts";
import { type GitResult, type GitRunner, openGit } from "./git-process.ts";
import { confirmRemote, ignoredSettings, type Promisor, readRemoteAccess } from "./guard.ts";
import {
  commandError,
  formatArguments,
  formatConfig,
  type GitCommand,
  placeOf,
  type Repository,
  runCommand,
  runPorcelain,
  tryCommand,
} from "./porcelain.ts";
import { listRefFiles, recordPublished } from "./refs.ts";
import { REMOTE_PREFIX } from "./remote.ts";
import { otherHash, remoteNotAsked, remoteWords, transferError } from "./transfer-errors.ts";

/** A place outside every repository, for asking an address without a repository's settings. */
interface NoRepository extends Pick<Repository, "cwd" | "env"> {
  readonly gitDir: null;
}

/** Asks an address for its refs, from a store or outside any repository. */
export async function listRemoteRefs(
  place: Repository | NoRepository,
  url: string,
  options: TransferOptions = {},
): Promise<RemoteRefs> {
  const patterns = ["HEAD", ...Object.values(REMOTE_PREFIX).map((prefix) => `${prefix}*`)];
  const args = ["ls-remote", "--symref", "--", checkRemoteUrl(url), ...patterns];
  if (place.gitDir === null) return parseRefs(await readWithoutRepository(place, args, { url, options }), url);
  const result = await transfer(place, { args }, { url, options });
  if (result.code !== 0) throw transferError("Reading from", { url, cwd: place.cwd }, result);
  return parseRefs(result.stdout.toString(), url);
}

/** Reads from an address outside any repository; returns what git prints. Throws `remote_*`. */
async function readWithoutRepository(
  { cwd, env }: Pick<NoRepository, "cwd" | "env">,
  args: readonly string[],
  { url, options }: { readonly url: string; readonly options: TransferOptions },
): Promise<string> {
  const result = await runnerOf(options)(args, { cwd, env, extraEnv: promptOf(options) });
  if (result.code !== 0) throw transferError("Reading from", { url, cwd, isRemote: false }, result);
  return result.stdout.toString();
}

/**
 * Fetches a remote's conversations into `refs/remotes/<name>/`. Removes nothing there, fetches no tag, moves no branch. Returns
 * what git says of the branches that the remote has. Branches whose names this system cannot keep are left out.
 */
export async function fetchRemote(
  repository: Repository,
  { name, url, as }: Remote,
  options: TransferOptions = {},
): Promise<Fetched> {
  let unfit: readonly string[] = [];
  const argsWithout = async (): Promise<string[]> => [
    ...["fetch", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance"],
    ...[
      "--refmap=",
      "--verbose",
      "--progress",
      "--",
      await fetchSource(repository, { name, url }),
      `+${REMOTE_PREFIX[as]}*:refs/remotes/${name}/*`,
      ...unfit.map((branch) => `^${REMOTE_PREFIX[as]}${branch}`),
    ],
  ];
  for (let attempt = 1; ; attempt++) {
    const args = await argsWithout();
    const result = await transfer(repository, { args, config: FETCH_CONFIG, extraEnv: LARGEST }, { url, options });
    if (result.code === 0) {
      const { remoteBranches, isMoved } = parseFetched(result.stderr, name);
      // Git does not report again what an earlier attempt moved.
      return { remoteBranches, isMoved: isMoved || attempt > 1, unfit };
    }
    if (unfit.length === 0) {
      unfit = await listUnfit(repository, { url, as }, options);
      if (unfit.length > 0) continue;
    }
    // Another fetch of this store has just moved what git was about to move.
    const isRace =
      attempt < MOST_FETCHES && /cannot lock ref .*(?: but expected |exists|File exists)/.test(result.stderr);
    if (!isRace) throw transferError("Fetching from", { url, cwd: repository.cwd }, result);
  }
}

/** Names of a remote's branches that this system cannot keep. Git fails over them, so they are looked for only then. */
async function listUnfit(
  repository: Repository,
  { url, as }: Pick<Remote, "url" | "as">,
  options: TransferOptions,
): Promise<readonly string[]> {
  const { platform = process.platform } = options;
  if (platform !== "win32" && platform !== "darwin") return [];
  const refs = await listRemoteRefs(repository, url, options);
  return unfitBranches(
    refs[as].map(({ name }) => name),
    platform,
  );
}

/** Parses ` = [up to date]  a/main -> origin/a/main` and the like, one for each branch. */
function parseFetched(stderr: string, name: string): Omit<Fetched, "unfit"> {
  const remoteBranches = new Set<string>();
  let isMoved = false;
  for (const [, flag, ref = ""] of stderr.matchAll(/(?:^|[\r\n]) ([ +*=t!-]) [^\r\n]* -> (\S+)/g)) {
    isMoved ||= flag !== "=";
    const short = ref.replace(/^refs\/remotes\//, "");
    if (short.startsWith(`${name}/`)) remoteBranches.add(short.slice(name.length + 1));
  }
  return { remoteBranches, isMoved };
}

/**
 * Makes git refuse trees with `.git` in them, dangerous .gitmodules and malformed objects. No file counts as big: a big one
 * would be inflated in pieces and evade GIT_ALLOC_LIMIT.
 */
const FETCH_CONFIG: readonly string[] = [
  "fetch.fsckObjects=true",
  "fetch.output=full",
  `core.bigFileThreshold=${largestThreshold()}`,
];

/** Where git counts sizes in 32 bits it refuses a larger number. */
function largestThreshold(): string {
  const isNarrow = process.platform === "win32" || ["arm", "ia32"].includes(process.arch);
  return isNarrow ? "4294967295" : "1048576g";
}

/** The largest object that git accepts, by the size that a pack declares: jpg reads no larger one. */
const LARGEST = { GIT_ALLOC_LIMIT: "512m" } as const;

/**
 * What git is told to fetch from: a URL, but the name of a promisor remote, because git records what it fetches from with a
 * filter. Confirms such a remote: it may be asked for objects from now on.
 */
async function fetchSource(repository: Repository, { name, url }: Pick<Remote, "name" | "url">): Promise<string> {
  const isPromisor = readRemoteAccess(repository).promisors.some((one) => one.name === name && one.url === url);
  if (!isPromisor) return url;
  await confirmRemote(repository.gitDir, { name, url });
  return name;
}

/** Attempts of a fetch while others fetch at the same time. */
const MOST_FETCHES = 4;

/** The branches of a remote as they were last seen; those that cannot be conversations are left out. */
export async function listTracked(repository: Repository, name: string): Promise<readonly BranchTip[]> {
  const prefix = `refs/remotes/${name}/`;
  const filed = await listRefFiles(repository.gitDir, prefix);
  if (filed !== null) return filed.filter((tip) => isConversationBranch(tip.name));
  const args = ["for-each-ref", "--format=%(objectname) %(refname) %(symref)", prefix];
  const lines = (await runCommand(repository, { args })).toString().split("\n");
  return lines.flatMap((line) => {
    const [commit = "", ref = "", symref] = line.split(" ");
    return symref === "" ? asTip(commit, ref, prefix) : [];
  });
}

/**
 * Refuses when the store's own settings configure transports, or would make git ask another remote on the way. Throws
 * `store_programs`, `remote_not_asked`.
 */
export function requireUnblocked(repository: Repository, url: string): void {
  const { isBlocked, unconfirmed } = readRemoteAccess(repository);
  if (isBlocked) throw blockedError(repository, url);
  if (unconfirmed[0] !== undefined) throw remoteNotAsked(repository, unconfirmed[0]);
}

/** Runs a transfer from a store. Throws `store_programs` when the store's own settings configure transports. */
async function transfer(
  repository: Repository,
  command: GitCommand,
  { url, options }: { readonly url: string; readonly options: TransferOptions },
): Promise<GitResult> {
  requireUnblocked(repository, url);
  const result = await tryCommand(
    repository,
    { ...command, extraEnv: { ...promptOf(options), ...command.extraEnv } },
    runnerOf(options),
  );
  // Git leaves the pack that it rejected.
  if (result.code !== 0) await clearUnfinishedPacks(repository);
  return result;
}

function promptOf({ interactive }: TransferOptions): { readonly GIT_TERMINAL_PROMPT: string } {
  return { GIT_TERMINAL_PROMPT: interactive === true ? "1" : "0" };
}

function runnerOf({ signal, progress }: TransferOptions): GitRunner {
  return async (args, run) => {
    try {
      return await runPorcelain(args, {
        ...run,
        signal: signal ?? run.signal,
        progress,
      });
    } catch (error) {
      if (signal?.aborted !== true) throw error;
      throw userError("interrupted", "The transfer was interrupted.", {
        hints: ["Run the command again to continue."],
      });
    }
  };
}

function blockedError(repository: Repository, url: string): Error {
  const keys = ignoredSettings(repository);
  const message = `Nothing is sent to or fetched from ${shownUrl(url)}: the store's own configuration, which its maker wrote, says how it is reached (${keys.join(", ")}).`;
  return repositoryError("store_programs", message, {
    hints: [
      `If these are yours, set them for yourself (git config --global …), then: ${keys.map((key) => `\`jpg git config --unset-all ${key}\``).join(", ")}`,
    ],
    data: { settings: keys },
  });
}

function parseRefs(output: string, url: string): RemoteRefs {
  if (/^[0-9a-f]{64}\t/m.test(output)) throw otherHash(url);
  const lines = output.split("\n").map((line) => line.split("\t"));
  const under = (prefix: string): readonly BranchTip[] =>
    lines.flatMap(([commit = "", ref = ""]) => asTip(commit, ref, prefix));
  const branches = under(REMOTE_PREFIX.branches);
  const head = lines.find(([target = "", ref]) => ref === "HEAD" && target.startsWith("ref: "))?.[0] ?? "";
  const named = head.slice("ref: refs/heads/".length);
  return {
    branches,
    hidden: under(REMOTE_PREFIX.hidden),
    head: branches.some(({ name }) => name === named) ? named : null,
  };
}

/** A ref as a branch of a conversation; none when its name cannot be one. */
function asTip(commit: string, ref: string, prefix: string): readonly BranchTip[] {
  const name = ref.slice(prefix.length);
  return ref.startsWith(prefix) && /^[0-9a-f]{40}$/.test(commit) && isConversationBranch(name)
    ? [{ name, commit }]
    : [];
}

function isConversationBranch(name: string): boolean {
  try {
    parseBranchName(name);
    return true;
  } catch {
    return false; // somebody else's branch
  }
}

// Bundles: some branches with all that they reach, as one file that git reads. The commits need no name here.

/** Packs branches in pieces; each commit is here, under any name. */
export async function* packBundle(
  repository: Repository,
  branches: readonly BranchTip[],
): AsyncGenerator<Uint8Array, void, undefined> {
  const args = ["pack-objects", "--revs", "--stdout", "--quiet", "--delta-base-offset"];
  const { child, ended } = openGit(formatArguments(repository, { args }), placeOf(repository));
  ended.catch(() => undefined); // awaited below, unless the reader stops before
  try {
    yield Buffer.from(formatBundleHeader(branches));
    child.stdin.end(branches.map(({ commit }) => `${commit}\n`).join(""));
    for await (const chunk of child.stdout) yield chunk as Buffer;
    const result = await ended;
    if (result.code !== 0) throw await commandError(repository, { args }, result);
  } finally {
    child.kill();
  }
}

/** Removes what was fetched under the name of a remote; a configured remote of that name stays. */
export async function forgetTracked(repository: Repository, name: string): Promise<void> {
  const prefix = `refs/remotes/${name}/`;
  const refs = (await runCommand(repository, { args: ["for-each-ref", "--format=%(refname)", prefix] })).toString();
  const input = refs
    .split("\n")
    .filter((ref) => ref !== "")
    .map((ref) => `delete ${ref}\0\0`)
    .join("");
  if (input !== "") await runCommand(repository, { args: ["update-ref", "-z", "--stdin"], input });
}

/** Pushes tips to a remote's refs of their names. Never forces: git refuses what is not a fast-forward. */
export async function pushTips(
  repository: Repository,
  { name, pushUrl, as }: Remote,
  { tips, options = {} }: { readonly tips: readonly BranchTip[]; readonly options?: TransferOptions },
): Promise<readonly PushedBranch[]> {
  if (tips.length === 0) return [];
  const refOf = (branch: string): string => `${REMOTE_PREFIX[as]}${branch}`;
  // Before git sends anything: from now on others may have these commits.
  await recordPublished(
    repository.gitDir,
    tips.map(({ commit }) => commit),
  );
  requireUnblocked(repository, pushUrl);
  const flags = ["--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--progress"];
  const args = ["push", ...flags, "--", pushUrl, `refs/heads/*:${refOf("*")}`];
  const result = await withPushFolder(repository, tips, (folder) =>
    transfer(folder, { args, config: ["core.abbrev=40"], extraEnv: objectsOf(repository) }, { url: pushUrl, options }),
  );
  const answers = parsePushed(result.stdout.toString());
  const said = remoteWords(result.stderr);
  const pushed = tips.flatMap((tip) => {
    const answer = answers.get(refOf(tip.name));
    if (answer === undefined) return [];
    return [{ name: tip.name, ...answer, ...(answer.status === "refused" && said !== "" ? { said } : {}) }];
  });
  if (pushed.length < tips.length) throw transferError("Pushing to", { url: pushUrl, cwd: repository.cwd }, result);
  const arrived = new Set(
    pushed.filter(({ status }) => status === "sent" || status === "unchanged").map((one) => one.name),
  );
  await keepTracked(
    repository,
    name,
    tips.filter((tip) => arrived.has(tip.name)),
  );
  return pushed;
}

async function keepTracked(repository: Repository, name: string, tips: readonly BranchTip[]): Promise<void> {
  if (tips.length === 0) return;
  const input = tips.map((tip) => `update refs/remotes/${name}/${tip.name}\0${tip.commit}\0\0`).join("");
  await runCommand(repository, { args: ["update-ref", "-m", MESSAGE, "-z", "--stdin"], input });
}

/** The reflog message of a push. */
const MESSAGE = "jpg: push";

type Answer = Pick<PushedBranch, "status" | "reason" | "over">;

/** Parses `<flag>\t<from>:<to>\t<summary> (<reason>)` lines, by the remote ref; a summary may be `<old>..<new>`. */
function parsePushed(output: string): ReadonlyMap<string, Answer> {
  const answers = new Map<string, Answer>();
  for (const [, flag, to = "", summary = ""] of output.matchAll(/^([ +*=!-])\t[^:\t]*:([^\t]+)\t(.*)$/gm)) {
    const [, reason = ""] = /\((.*)\)$/.exec(summary) ?? [];
    const isBehind = /^\[rejected\]/.test(summary);
    const refusal = isBehind ? "behind" : "refused";
    const status = flag === "!" ? refusal : flag === "=" ? "unchanged" : "sent";
    const over = /^([0-9a-f]{40})\.\./.exec(summary)?.[1];
    answers.set(to, { status, reason, over });
  }
  return answers;
}

// A git dir with only what is pushed: the objects are the store's own, its branches are the commits that were checked. So one
// pattern pushes exactly these, whatever came later; a push with many commit ids would compare each with every ref of the
// store, which takes longer the more there are of both.

/** Calls `act` with a temporary git dir whose branches are these tips, and removes it. */
async function withPushFolder<T>(
  repository: Repository,
  tips: readonly BranchTip[],
  act: (folder: Repository) => Promise<T>,
): Promise<T> {
  const gitDir = await makeDraftFolder(repository.gitDir);
  try {
    await mkdir(join(gitDir, "refs"));
    await writeFile(join(gitDir, "HEAD"), "ref: refs/heads/none\n");
    // requireUnblocked has checked all promisors before, so this folder may ask too.
    const [promisor] = readRemoteAccess(repository).promisors;
    if (promisor !== undefined) await confirmRemote(gitDir, promisor);
    await writeFile(join(gitDir, "config"), formatConfig(settingsOf(promisor)));
    const refs = tips.map(({ name, commit }) => `${commit} refs/heads/${name}\n`);
    await writeFile(join(gitDir, "packed-refs"), `# pack-refs with: peeled fully-peeled \n${refs.join("")}`);
    await copyShallow(repository.gitDir, gitDir);
    return await act({ ...repository, gitDir });
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}

/** The environment that points a push folder at the store's objects. */
function objectsOf({ gitDir }: Repository): { readonly GIT_OBJECT_DIRECTORY: string } {
  return { GIT_OBJECT_DIRECTORY: join(gitDir, "objects") };
}

/** In a partial clone, includes the promisor remote. */
function settingsOf(promisor: Promisor | undefined): ReadonlyMap<string, string> {
  return new Map([
    ["core.repositoryformatversion", promisor === undefined ? "0" : "1"],
    ["core.bare", "true"],
    ...(promisor === undefined
      ? []
      : ([
          [`remote.${promisor.name}.url`, promisor.url ?? ""],
          [`remote.${promisor.name}.promisor`, "true"],
          [`remote.${promisor.name}.partialclonefilter`, "blob:none"],
        ] as const)),
  ]);
}

/** Copies where a shallow clone's history ends. */
async function copyShallow(from: string, to: string): Promise<void> {
  try {
    await cp(join(from, "shallow"), join(to, "shallow"));
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}
