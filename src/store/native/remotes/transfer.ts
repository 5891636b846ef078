// Transfers between a store and an address. The address and the refspecs stand in the command, so that nothing which the
// store's configuration says of a remote counts; where it says what stands between the two, nothing is reached at all.
import { parseBranchName } from "../../../core/conversation/name.ts";
import { repositoryError, userError } from "../../../core/errors.ts";
import { defined } from "../../../core/json.ts";
import { checkRemoteUrl, shownUrl } from "../../../core/remote-address.ts";
import type { BranchTip } from "../../conversation-store.ts";
import { clearUnfinishedPacks } from "../../files/leftovers.ts";
import type { Fetched, Remote, RemoteRefs, TransferOptions } from "../../sharing.ts";
import { type GitCommand, type Repository, runCommand, tryCommand } from "../git/git-command.ts";
import type { GitResult, GitRunner } from "../git/git-process.ts";
import { markAsked } from "../git/promisors.ts";
import { ignoredSettings, readReach } from "../git/store-guard.ts";
import { remoteNotAsked } from "../git/unasked-remote.ts";
import { runPorcelain } from "../porcelain/run-porcelain.ts";
import { listRefFiles } from "../refs/branch-files.ts";
import { REMOTE_PREFIX } from "./remote-config.ts";
import { otherHash, transferError } from "./transfer-error.ts";

/** A place to ask an address from that is in no repository, whose settings would count. */
interface Nowhere extends Pick<Repository, "cwd" | "env"> {
  readonly gitDir: null;
}

/** Asks an address for its refs, from a store or from nowhere. */
export async function listRemoteRefs(
  place: Repository | Nowhere,
  url: string,
  options: TransferOptions = {},
): Promise<RemoteRefs> {
  const patterns = ["HEAD", ...Object.values(REMOTE_PREFIX).map((prefix) => `${prefix}*`)];
  const args = ["ls-remote", "--symref", "--", checkRemoteUrl(url), ...patterns];
  if (place.gitDir === null) return parseRefs(await readFromNowhere(place, args, { url, options }), url);
  const result = await transfer(place, { args }, { url, options });
  if (result.code !== 0) throw transferError("Reading from", { url, cwd: place.cwd }, result);
  return parseRefs(result.stdout.toString(), url);
}

/** Reads from an address in no repository, whose settings would count; gives what git prints. Throws `remote_*`. */
export async function readFromNowhere(
  { cwd, env }: Pick<Nowhere, "cwd" | "env">,
  args: readonly string[],
  { url, options }: { readonly url: string; readonly options: TransferOptions },
): Promise<string> {
  const result = await runnerOf(options)(args, { cwd, env, extraEnv: promptOf(options) });
  if (result.code !== 0) throw transferError("Reading from", { url, cwd, isRemote: false }, result);
  return result.stdout.toString();
}

/**
 * Gets a remote's conversations into `refs/remotes/<name>/`. Nothing there is removed, no tag comes, no branch moves. Gives what git
 * says of each branch that the remote has.
 */
export async function fetchRemote(
  repository: Repository,
  { name, url, as }: Remote,
  options: TransferOptions = {},
): Promise<Fetched> {
  const args = [
    ...["fetch", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance"],
    ...[
      "--refmap=",
      "--verbose",
      "--progress",
      "--",
      await askFrom(repository, { name, url }),
      `+${REMOTE_PREFIX[as]}*:refs/remotes/${name}/*`,
    ],
  ];
  for (let attempt = 1; ; attempt++) {
    const result = await transfer(repository, { args, config: FETCH_CONFIG, extraEnv: LARGEST }, { url, options });
    if (result.code === 0) {
      const { there, isMoved } = parseFetched(result.stderr, name);
      // What an earlier attempt moved it does not say again.
      return { there, isMoved: isMoved || attempt > 1 };
    }
    // Another fetch of this store has just moved what git was about to move.
    const isRace =
      attempt < MOST_FETCHES && /cannot lock ref .*(?: but expected |exists|File exists)/.test(result.stderr);
    if (!isRace) throw transferError("Fetching from", { url, cwd: repository.cwd }, result);
  }
}

/** Reads ` = [up to date]  a/main -> origin/a/main` and its like, one for each branch. */
function parseFetched(stderr: string, name: string): Fetched {
  const there = new Set<string>();
  let isMoved = false;
  for (const [, flag, ref = ""] of stderr.matchAll(/(?:^|[\r\n]) ([ +*=t!-]) [^\r\n]* -> (\S+)/g)) {
    isMoved ||= flag !== "=";
    const short = ref.replace(/^refs\/remotes\//, "");
    if (short.startsWith(`${name}/`)) there.add(short.slice(name.length + 1));
  }
  return { there, isMoved };
}

/**
 * What git itself would refuse to take over: trees with `.git` in them, dangerous .gitmodules, malformed objects. No file counts as
 * a big one, which would be unpacked piece by piece and pass over the limit.
 */
const FETCH_CONFIG: readonly string[] = [
  "fetch.fsckObjects=true",
  "fetch.output=full",
  `core.bigFileThreshold=${mostThatGitCounts()}`,
];

/** Where git counts sizes in 32 bits it refuses a larger number. */
function mostThatGitCounts(): string {
  const isNarrow = process.platform === "win32" || ["arm", "ia32"].includes(process.arch);
  return isNarrow ? "4294967295" : "1048576g";
}

/** The largest object that git takes over, by the size that a pack declares for it: jpg reads no larger one. */
const LARGEST = { GIT_ALLOC_LIMIT: "512m" } as const;

/**
 * What git is told to fetch from: the name only of a remote that it leaves objects with, for it notes down what it fetches from
 * with a filter. From now on such a remote may be asked for them.
 */
async function askFrom(repository: Repository, { name, url }: Pick<Remote, "name" | "url">): Promise<string> {
  const isPromisor = readReach(repository).promisors.some((one) => one.name === name && one.url === url);
  if (!isPromisor) return url;
  await markAsked(repository.gitDir, { name, url });
  return name;
}

/** How often a fetch is tried where others fetch at the same time. */
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
 * Refuses where the store's own settings stand between it and the address, or would have git ask somebody else on the way. Throws
 * `store_programs`, `remote_not_asked`.
 */
export function requireOpen(repository: Repository, url: string): void {
  const { isShut, unasked } = readReach(repository);
  if (isShut) throw shut(repository, url);
  if (unasked[0] !== undefined) throw remoteNotAsked(repository, unasked[0]);
}

/** Runs a transfer from a store. Throws `store_programs` where the store's own settings stand between it and the address. */
export async function transfer(
  repository: Repository,
  command: GitCommand,
  { url, options }: { readonly url: string; readonly options: TransferOptions },
): Promise<GitResult> {
  requireOpen(repository, url);
  const result = await tryCommand(
    repository,
    { ...command, extraEnv: { ...promptOf(options), ...command.extraEnv } },
    runnerOf(options),
  );
  // Git leaves the pack that it did not take.
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
        ...defined({ signal, progress }),
      });
    } catch (error) {
      if (signal?.aborted !== true) throw error;
      throw userError("interrupted", "The transfer was interrupted.", { hints: ["Run the command again to go on."] });
    }
  };
}

function shut(repository: Repository, url: string): Error {
  const keys = ignoredSettings(repository);
  const message = `Nothing is sent to or fetched from ${shownUrl(url)}: the configuration of the store itself says how it is reached (${keys.join(", ")}), and whoever made the store wrote it.`;
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
    isEmpty: !lines.some(([, ref = ""]) => ref.startsWith("refs/")),
  };
}

/** A ref as a branch of a conversation; none when its name can be no such branch's. */
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
