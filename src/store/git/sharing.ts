// Sharing over the git program: local conversations, partial clones, the README branch.
import { rm } from "node:fs/promises";
import { join, parse } from "node:path";
import { checkRemoteUrl } from "../../core/remote-address.ts";
import { makeDraftFolder, readFileIfThere, readOwnText } from "../files.ts";
import { README_BRANCH, STORE_MARKER } from "../git-dir.ts";
import type { RemoteTip, Sharing, TransferOptions } from "../sharing.ts";
import { FALLBACK_IDENTITY, type PartialClone } from "../store.ts";
import { readReach } from "./guard.ts";
import { listOutgoing, listTouching, mergeBases, presentCommits } from "./merge-bases.ts";
import { createObjectFiles } from "./object-files.ts";
import { appendConfig, formatConfig, type Repository, runCommand, runPorcelain, tryCommand } from "./porcelain.ts";
import { readHead } from "./refs.ts";
import { followBranches, forgetRemote, readRemotes, writeRemote } from "./remote.ts";
import {
  fetchRemote,
  forgetTracked,
  listRemoteRefs,
  listTracked,
  packBundle,
  pushTips,
  readFromNowhere,
  requireOpen,
} from "./transfer.ts";
import { objectsElsewhere, remoteNotAsked, transferError } from "./transfer-errors.ts";

/** The sharing of a repository. */
export function createSharing(repository: Repository): Sharing {
  return {
    remotes: () => readRemotes(repository),
    addRemote: (remote) => writeRemote(repository, remote),
    removeRemote: (name) => forgetRemote(repository, name),
    listRefs: (url, options) => listRemoteRefs(repository, url, options),
    makeReadme: (url, text, options) => makeReadme(repository, { url, text }, options),
    fetch: (remote, options) => fetchRemote(repository, remote, options),
    follow: (remote, branches) => followBranches(repository, remote, branches),
    tracked: (name) => listTracked(repository, name),
    push: (remote, tips, options = {}) => pushTips(repository, remote, { tips, options }),
    present: (commits) => presentCommits(repository, commits),
    outgoing: (objects) => listOutgoing(repository, objects),
    touching: (objects, path) => listTouching(repository, objects, path),
    bundle: async (branches) => packBundle(repository, branches),
    forgetTracked: (name) => forgetTracked(repository, name),
    mergeBases: (pairs, isAside) => mergeBases(repository, pairs, isAside),
    localConversations: () => readLocalMarks(repository),
    markLocal: (conversation, isLocal) => markLocal(repository, conversation, isLocal),
  };
}

// Conversations that never leave a store. The marks stand in its git configuration, which is sent nowhere, and are of whole
// conversations, so that a fork is born with its own.

const KEY = "jpg.local";

/** The key as a configuration may have it written; wherever else the word stands, git is asked what it is. */
const WRITTEN = /(?:^|[\s\]])local(?![\w-])/im;

/** Ids of the conversations that are marked. Git is not asked where the configuration has no such key. */
export async function readLocalMarks(repository: Repository): Promise<ReadonlySet<string>> {
  const config = await readFileIfThere(join(repository.gitDir, "config"));
  if (config !== null && !WRITTEN.test(config)) return new Set();
  const { stdout } = await tryCommand(repository, { args: ["config", "--local", "-z", "--get-all", KEY] });
  return new Set(
    stdout
      .toString()
      .split("\0")
      .filter((id) => id !== ""),
  );
}

/** Marks a conversation, or takes its mark away; nothing happens when it is so already. */
export async function markLocal(repository: Repository, conversation: string, isLocal: boolean): Promise<void> {
  const isMarked = (await readLocalMarks(repository)).has(conversation);
  if (isMarked === isLocal) return;
  // Waits for whoever writes the settings at the same time; git would not.
  if (isLocal) return await appendConfig(repository.gitDir, () => formatConfig(new Map([[KEY, conversation]])));
  const change = ["--unset-all", "--fixed-value", KEY, conversation];
  await runCommand(repository, { args: ["config", "--local", ...change] }, runPorcelain);
}

/** Its tree beside the text, in git's order of names. */
const OTHER_FILES: ReadonlyMap<string, string> = new Map([
  [".gitattributes", "* -text\n"],
  [STORE_MARKER, '{"format":1}\n'],
]);

/** Two people who both send the first conversation make one commit, and neither is in the other's way. */
const DATE = "1767225600 +0000";

/** Makes the commit of a README branch, and names the branch. Throws `remote_*`. */
async function makeReadme(
  repository: Repository,
  { url, text }: { readonly url: string; readonly text: string },
  options: TransferOptions = {},
): Promise<RemoteTip> {
  const [name, commit] = await Promise.all([unbornBranch(repository, url, options), makeCommit(repository, text)]);
  return { name: name ?? README_BRANCH, commit };
}

async function makeCommit(repository: Repository, text: string): Promise<string> {
  const run = async (args: readonly string[], input: string): Promise<string> =>
    (await runCommand(repository, { args, input, extraEnv: SIGNATURE })).toString().trim();
  const entries = await Promise.all(
    [...OTHER_FILES, ["README.md", text] as const].map(
      async ([file, content]) => `100644 blob ${await run(["hash-object", "-w", "--stdin"], content)}\t${file}\n`,
    ),
  );
  const tree = await run(["mktree"], entries.join(""));
  return await run(["commit-tree", "--no-gpg-sign", tree], "Say what this repository is\n");
}

const SIGNATURE = Object.fromEntries(
  ["AUTHOR", "COMMITTER"].flatMap((role) => [
    [`GIT_${role}_NAME`, FALLBACK_IDENTITY.name],
    [`GIT_${role}_EMAIL`, FALLBACK_IDENTITY.email],
    [`GIT_${role}_DATE`, DATE],
  ]),
);

/** The branch that HEAD of an empty repository names; only a clone is told. Null where a README branch cannot be called so. */
async function unbornBranch(
  { gitDir, env }: Repository,
  url: string,
  options: TransferOptions,
): Promise<string | null> {
  const folder = await makeDraftFolder(gitDir);
  try {
    const args = [
      "-c",
      `init.defaultBranch=${README_BRANCH}`,
      "clone",
      "--bare",
      "--quiet",
      "--no-tags",
      "--template=",
    ];
    // From no repository, whose settings would count.
    const place = { cwd: parse(gitDir).root, env };
    await readFromNowhere(place, [...args, "--", checkRemoteUrl(url), folder], { url, options });
    const head = await readHead({ gitDir: folder, cwd: folder, env }, folder);
    const named = head !== null && "ref" in head ? head.ref.slice("refs/heads/".length) : "";
    return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(named) ? named : null;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

// A clone without all of its objects (`git clone --filter=blob:none`): git fetches what is asked for and is not here, an object
// and a connection at a time. Here a whole list is asked for at once, of a remote that the user has fetched from.

/** The partial clone that a repository is, or may be; null where all objects are here. Starts nothing. */
export function openPartialClone(repository: Repository): PartialClone | null {
  if (!mayBePartial(repository.gitDir)) return null;
  const files = createObjectFiles(repository.gitDir);
  const missing = (oids: readonly string[]): readonly string[] => files.missing([...new Set(oids)]);
  let last: Promise<void> = Promise.resolve();
  return {
    missing,
    // One after another: what the one before brought is not asked for again.
    bring(oids) {
      last = last.catch(() => undefined).then(() => fetchObjects(repository, missing(oids)));
      return last;
    },
    close: () => files.close(),
  };
}

/** Whether a config file names a remote that has objects which are not here, or a file that may. */
function mayBePartial(gitDir: string): boolean {
  try {
    return /promisor|partialclone|include|worktreeconfig/i.test(
      readOwnText(join(gitDir, "config"), { followLink: true }),
    );
  } catch {
    return false; // no config file: whoever opens the store says so
  }
}

async function fetchObjects(repository: Repository, oids: readonly string[]): Promise<void> {
  if (oids.length === 0) return;
  const { isShut, promisors, unasked } = readReach(repository);
  const [stranger] = isShut ? [] : unasked;
  if (stranger !== undefined)
    throw objectsElsewhere(remoteNotAsked(repository, stranger), { oids, remote: stranger.name });
  const [promisor] = promisors;
  if (promisor === undefined) return;
  const { name } = promisor;
  const url = promisor.url ?? name;
  requireOpen(repository, url);
  checkRemoteUrl(url);
  const flags = ["--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--no-auto-maintenance"];
  // By name: git notes down as one that has the objects whatever it fetches from with a filter.
  const args = ["fetch", "--quiet", ...flags, "--filter=blob:none", "--stdin", name];
  // Nothing is negotiated: these objects are asked for, not what follows from those that are here.
  const config = ["fetch.negotiationAlgorithm=noop"];
  const result = await tryCommand(repository, { args, config, input: oids.map((oid) => `${oid}\n`).join("") });
  if (result.code === 0) return;
  const error = transferError("Fetching from", { url, cwd: repository.cwd }, result);
  const hints = [`Run the command again when ${name} can be reached.`, everythingHint(name)];
  throw objectsElsewhere(error, { oids, remote: name, hints });
}

function everythingHint(name: string): string {
  return `\`jpg git fetch --refetch --no-filter ${name}\` brings everything, for work without a connection.`;
}
