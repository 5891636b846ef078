// What to say when a pack of ours could not be written: the same codes as when git cannot write.
import { asSentence, codeOf, type JpgError, messageOf, repositoryError } from "../../core/errors.ts";

interface PackFailure {
  readonly code: string;
  readonly says: string;
  readonly hint: (gitDir: string) => string;
}

const UNCHANGED = "no conversation was changed.";
const DISK_FULL: PackFailure = {
  code: "disk_full",
  says: "The disk is full",
  hint: (gitDir) => `Free space on the disk of ${gitDir} and run the command again: ${UNCHANGED}`,
};
const NOT_WRITABLE: PackFailure = {
  code: "store_not_writable",
  says: "The store cannot be written",
  hint: (gitDir) => `Make ${gitDir}/objects writable for you, or name another store with --store DIR: ${UNCHANGED}`,
};
const OTHER: PackFailure = {
  code: "pack_not_written",
  says: "A pack could not be written",
  hint: () => `Run the command again: ${UNCHANGED}`,
};

/** By the code of the system's error. */
const FAILURES: Readonly<Record<string, PackFailure>> = {
  ENOSPC: DISK_FULL,
  EDQUOT: DISK_FULL,
  EACCES: NOT_WRITABLE,
  EPERM: NOT_WRITABLE,
  EROFS: NOT_WRITABLE,
};

/** Creates the error of a pack that was not written below a git dir: `disk_full`, `store_not_writable`, `pack_not_written`. */
export function packError(gitDir: string, cause: unknown): JpgError {
  const reason = messageOf(cause);
  const { code, says, hint } = FAILURES[codeOf(cause)] ?? OTHER;
  return repositoryError(code, `${says}: no pack was added to ${gitDir}/objects/pack: ${asSentence(reason)}`, {
    hints: [hint(gitDir)],
    cause,
    data: { where: gitDir },
  });
}
