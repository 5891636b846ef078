// Sharing over the git program: local conversations, partial clones.
import { join } from "node:path";
import { checkRemoteUrl } from "../../core/remote-address.ts";
import { readFileIfExists, readOwnText } from "../files.ts";
import type { Sharing } from "../sharing.ts";
import type { PartialClone } from "../store.ts";
import { readRemoteAccess } from "./guard.ts";
import { listOutgoing, listTouching, mergeBases, presentCommits } from "./merge-bases.ts";
import { createObjectFiles } from "./object-files.ts";
import { appendConfig, formatConfig, type Repository, runCommand, runPorcelain, tryCommand } from "./porcelain.ts";
import { followBranches, forgetRemote, readRemotes, writeRemote } from "./remote.ts";
import {
  fetchRemote,
  forgetTracked,
  listRemoteRefs,
  listTracked,
  packBundle,
  pushTips,
  requireUnblocked,
} from "./transfer.ts";
import { objectsElsewhere, remoteNotAsked, transferError } from "./transfer-errors.ts";

export function createSharing(repository: Repository): Sharing {
  return {
    remotes: () => readRemotes(repository),
    addRemote: (remote) => writeRemote(repository, remote),
    removeRemote: (name) => forgetRemote(repository, name),
    listRefs: (url, options) => listRemoteRefs(repository, url, options),
    fetch: (remote, options) => fetchRemote(repository, remote, options),
    follow: (remote, branches) => followBranches(repository, remote, branches),
    tracked: (name) => listTracked(repository, name),
    push: (remote, tips, options = {}) => pushTips(repository, remote, { tips, options }),
    present: (commits) => presentCommits(repository, commits),
    outgoing: (objects) => listOutgoing(repository, objects),
    touching: (objects, path) => listTouching(repository, objects, path),
    bundle: async (branches) => packBundle(repository, branches),
    forgetTracked: (name) => forgetTracked(repository, name),
    mergeBases: (pairs, firstParentOnly) => mergeBases(repository, pairs, firstParentOnly),
    localConversations: () => readLocalMarks(repository),
    markLocal: (conversation, isLocal) => markLocal(repository, conversation, isLocal),
  };
}

// Conversations that are never sent. The marks are in the store's git configuration, which is sent nowhere, and are for whole
// conversations, so that a fork inherits them.

const KEY = "jpg.local";

/** The key in a configuration; if the word occurs otherwise, git is asked. */
const WRITTEN = /(?:^|[\s\]])local(?![\w-])/im;

/** Ids of the marked conversations. Does not ask git when the configuration has no such key. */
export async function readLocalMarks(repository: Repository): Promise<ReadonlySet<string>> {
  const config = await readFileIfExists(join(repository.gitDir, "config"));
  if (config !== null && !WRITTEN.test(config)) return new Set();
  const { stdout } = await tryCommand(repository, { args: ["config", "--local", "-z", "--get-all", KEY] });
  return new Set(
    stdout
      .toString()
      .split("\0")
      .filter((id) => id !== ""),
  );
}

/** Marks a conversation, or removes its mark; does nothing when it is so already. */
export async function markLocal(repository: Repository, conversation: string, isLocal: boolean): Promise<void> {
  const isMarked = (await readLocalMarks(repository)).has(conversation);
  if (isMarked === isLocal) return;
  // Waits for another writer of the settings; git would not.
  if (isLocal) return await appendConfig(repository.gitDir, () => formatConfig(new Map([[KEY, conversation]])));
  const change = ["--unset-all", "--fixed-value", KEY, conversation];
  await runCommand(repository, { args: ["config", "--local", ...change] }, runPorcelain);
}

// A clone without all of its objects (`git clone --filter=blob:none`): git fetches a missing object when it is read, one
// connection each. This fetches a whole list at once, from a remote that the user has fetched from.

/** Opens a partial clone; null when all objects are here. Starts nothing. */
export function openPartialClone(repository: Repository): PartialClone | null {
  if (!mayBePartial(repository.gitDir)) return null;
  const files = createObjectFiles(repository.gitDir);
  const missing = (oids: readonly string[]): readonly string[] => files.missing([...new Set(oids)]);
  let last: Promise<void> = Promise.resolve();
  return {
    missing,
    // One after another: what the previous call fetched is not asked for again.
    fetch(oids) {
      last = last.catch(() => undefined).then(() => fetchObjects(repository, missing(oids)));
      return last;
    },
    close: () => files.close(),
  };
}

/** Whether a config file names a promisor remote, or includes a file that may. */
function mayBePartial(gitDir: string): boolean {
  try {
    return /promisor|partialclone|include|worktreeconfig/i.test(
      readOwnText(join(gitDir, "config"), { followLink: true }),
    );
  } catch {
    return false; // no config file: opening the store reports it
  }
}

async function fetchObjects(repository: Repository, oids: readonly string[]): Promise<void> {
  if (oids.length === 0) return;
  const { isBlocked, promisors, unconfirmed } = readRemoteAccess(repository);
  const [stranger] = isBlocked ? [] : unconfirmed;
  if (stranger !== undefined)
    throw objectsElsewhere(remoteNotAsked(repository, stranger), { oids, remote: stranger.name });
  const [promisor] = promisors;
  if (promisor === undefined) return;
  const { name } = promisor;
  const url = promisor.url ?? name;
  requireUnblocked(repository, url);
  checkRemoteUrl(url);
  const flags = ["--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--no-auto-maintenance"];
  // By name: git records as a promisor whatever it fetches from with a filter.
  const args = ["fetch", "--quiet", ...flags, "--filter=blob:none", "--stdin", name];
  // No negotiation: these objects are asked for, not what follows from those that are here.
  const config = ["fetch.negotiationAlgorithm=noop"];
  const result = await tryCommand(repository, { args, config, input: oids.map((oid) => `${oid}\n`).join("") });
  if (result.code === 0) return;
  const error = transferError("Fetching from", { url, cwd: repository.cwd }, result);
  const hints = [`Run the command again when ${name} can be reached.`, everythingHint(name)];
  throw objectsElsewhere(error, { oids, remote: name, hints });
}

function everythingHint(name: string): string {
  return `\`jpg git fetch --refetch --no-filter ${name}\` fetches everything, for work without a connection.`;
}
