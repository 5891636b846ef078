// What the operating system refused (a full disk, a folder that may not be written) as an error of the outside world, so
// that it is never taken for a bug in jpg.
import { type JpgError, repositoryError } from "../../core/errors.ts";

interface Refusal {
  readonly code: string;
  readonly says: string;
  readonly hint: string;
}

const FULL: Refusal = { code: "disk_full", says: "the disk is full", hint: "Free space and run the command again." };
const FORBIDDEN: Refusal = {
  code: "not_writable",
  says: "permission was denied",
  hint: "Give yourself access, or name another place.",
};
const IN_THE_WAY: Refusal = {
  code: "file_in_the_way",
  says: "a file or folder is in the way",
  hint: "Move it away, or name another place.",
};

const REFUSALS: Readonly<Record<string, Refusal>> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  EROFS: { ...FORBIDDEN, says: "the file system is read-only" },
  ENOTDIR: IN_THE_WAY,
  EISDIR: IN_THE_WAY,
  EEXIST: IN_THE_WAY,
  ENAMETOOLONG: { code: "name_too_long", says: "a file name is too long", hint: "Name a shorter place." },
  EMFILE: { code: "too_many_files", says: "too many files are open", hint: "Raise the limit: `ulimit -n 4096`." },
  EFBIG: { code: "file_too_large", says: "a file may not grow that large", hint: "Look at `ulimit -f`." },
  EIO: { code: "read_failed", says: "the disk failed", hint: "Check the disk." },
};

/** Gives what was thrown as an error of kind `repository` when the operating system refused something, else as it is. */
export function fromSystemError(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown;
  const { code = "", syscall, path } = thrown as NodeJS.ErrnoException;
  const refusal = Object.hasOwn(REFUSALS, code) ? REFUSALS[code] : undefined;
  return refusal === undefined || syscall === undefined
    ? thrown
    : systemError(refusal, { code, syscall, path }, thrown);
}

function systemError(
  refusal: Refusal,
  call: { readonly code: string; readonly syscall: string; readonly path: string | undefined },
  cause: Error,
): JpgError {
  const where = call.path === undefined ? "" : ` on ${call.path}`;
  return repositoryError(refusal.code, `${refusal.says}: ${call.syscall}${where} failed (${call.code}).`, {
    hints: [refusal.hint],
    data: { ...call },
    cause,
  });
}
