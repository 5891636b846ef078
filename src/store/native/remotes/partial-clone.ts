// A clone without all of its objects (`git clone --filter=blob:none`): git fetches what is asked for and is not here, an object
// and a connection at a time. Here a whole list is asked for at once.
import { repositoryError } from "../../../core/errors.ts";
import { checkRemoteUrl } from "../../../core/remote-address.ts";
import type { PartialClone } from "../../conversation-store.ts";
import { type Repository, tryCommand } from "../git/git-command.ts";
import { createObjectFiles } from "../objects/object-files.ts";
import { isPartial, readPromisor } from "./remote-config.ts";
import { requireOpen } from "./transfer.ts";
import { transferError } from "./transfer-error.ts";

/** The partial clone that a repository is; null where all objects are here. Starts nothing. */
export function openPartialClone(repository: Repository): PartialClone | null {
  if (!isPartial(repository.gitDir)) return null;
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

async function fetchObjects(repository: Repository, oids: readonly string[]): Promise<void> {
  const promisor = oids.length === 0 ? null : await readPromisor(repository);
  if (promisor === null) return;
  const { name, url } = promisor;
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
  const count = oids.length === 1 ? "An object that is needed is" : `${oids.length} objects that are needed are`;
  throw repositoryError("objects_elsewhere", `${count} not in this partial clone. ${error.message}`, {
    hints: [`Run the command again when ${name} can be reached.`, everythingHint(name)],
    data: { oids, remote: name, cause: error.code },
    cause: error,
  });
}

function everythingHint(name: string): string {
  return `\`jpg git fetch --refetch --no-filter ${name}\` brings everything, for work without a connection.`;
}
