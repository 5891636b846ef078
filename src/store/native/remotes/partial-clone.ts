// A clone without all of its objects (`git clone --filter=blob:none`): git fetches what is asked for and is not here, an object
// and a connection at a time. Here a whole list is asked for at once, of a remote that the user has fetched from.
import { join } from "node:path";
import { checkRemoteUrl } from "../../../core/remote-address.ts";
import type { PartialClone } from "../../conversation-store.ts";
import { readOwnText } from "../../files/read-file.ts";
import { type Repository, tryCommand } from "../git/git-command.ts";
import { readReach } from "../git/store-guard.ts";
import { objectsElsewhere, remoteNotAsked } from "../git/unasked-remote.ts";
import { createObjectFiles } from "../objects/object-files.ts";
import { requireOpen } from "./transfer.ts";
import { transferError } from "./transfer-error.ts";

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
