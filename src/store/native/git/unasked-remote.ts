// The error of what a partial clone lacks and nobody is asked for: which remote has it, and how the user allows to ask.
import { type JpgError, repositoryError } from "../../../core/errors.ts";
import { checkRemoteName, checkRemoteUrl, shownUrl } from "../../../core/remote-address.ts";
import { forTerminalLine } from "../../../core/safe-text.ts";
import type { Promisor } from "./promisors.ts";

/** Creates the error for a remote that has objects of a store and was not fetched from in it. */
export function remoteNotAsked({ cwd }: { readonly cwd: string }, { name, url }: Promisor): JpgError {
  const place = forTerminalLine(url === null ? name : `${name} (${shownUrl(url)})`);
  const message = `${place} was not asked: only the configuration of the store ${cwd} names it, and whoever made the store wrote it.`;
  const hints = mayBeAsked({ name, url })
    ? [`\`jpg fetch --from ${name}\` asks it, and allows jpg to from then on, in this folder.`]
    : ["`jpg clone URL` makes a store of your own, from an address that you know."];
  return repositoryError("remote_not_asked", message, { hints, data: { remote: name } });
}

/** Whether `jpg fetch` takes it. */
function mayBeAsked({ name, url }: Promisor): boolean {
  try {
    checkRemoteName(name);
    return url !== null && checkRemoteUrl(url) === url;
  } catch {
    return false; // an option of git, a program, or nothing that it could be asked by
  }
}

/** Creates the error for objects that are needed and could not be brought, or were not asked for. */
export function objectsElsewhere(
  cause: JpgError,
  {
    oids,
    remote,
    hints = cause.hints,
  }: { readonly oids: readonly string[]; readonly remote: string; readonly hints?: readonly string[] },
): JpgError {
  const count = oids.length === 1 ? "An object that is needed is" : `${oids.length} objects that are needed are`;
  return repositoryError("objects_elsewhere", `${count} not in this partial clone. ${cause.message}`, {
    hints,
    data: { oids, remote, cause: cause.code },
    cause,
  });
}
