// Turns what git said when it failed into a JpgError of kind `repository` with a code and what to do next.
import { asSentence, type JpgError, repositoryError } from "../../../core/errors.ts";
import { forLine, shellWord } from "../../../core/safe-text.ts";
import { OLDEST_GIT } from "../../git-version.ts";

/** A git command that failed. */
export interface GitFailure {
  /** Arguments without global options, e.g. `["update-ref", "--stdin"]`. */
  readonly args: readonly string[];
  readonly code: number;
  readonly stderr: string;
  /** Directory or repository it ran in. */
  readonly where: string;
}

interface FailureRule {
  readonly code: string;
  readonly pattern: RegExp;
  readonly says: string;
  readonly hints: (where: string) => readonly string[];
}

// Texts as git 2.31 to 2.55 print them under LC_ALL=C.
const RULES: readonly FailureRule[] = [
  {
    code: "disk_full",
    pattern: /No space left on device|Disk quota exceeded|Out of diskspace/,
    says: "The disk is full",
    hints: (where) => [`Free space on the disk of ${where} and run the command again: nothing was changed.`],
  },
  {
    code: "store_not_writable",
    pattern: /Permission denied|Read-only file system|Operation not permitted|insufficient permission/,
    says: "The store cannot be written",
    hints: (where) => [`Make ${where} writable for you, or name another store with --store DIR.`],
  },
  {
    code: "hook_refused",
    pattern: /ref updates aborted by hook/,
    says: "A reference-transaction hook of yours refused it",
    hints: (where) => [`To see which folder it is in: git -C ${shellWord(where)} config --show-origin core.hooksPath`],
  },
  {
    code: "object_missing",
    pattern: /^fatal: (Blob not found|Not a (valid )?(commit|blob|object)|Object .* not found)/m,
    says: "An object is missing",
    hints: (where) => [`To see what is missing: git -C ${where} fsck`],
  },
  {
    code: "signing_failed",
    pattern: /failed to sign|gpg failed|cannot run gpg|Load key|user\.signingkey/i,
    says: "Git could not sign the commit",
    hints: (where) => [
      "Check user.signingKey and gpg.program.",
      `Or commit unsigned: git -C ${where} config commit.gpgSign false`,
    ],
  },
  {
    code: "store_damaged",
    pattern:
      /is corrupt|corrupt loose object|unable to read (tree|sha1|object)|bad (object|tree|signature)|broken (link|reference|ref)|inflate: data stream error|bad index file|index file (corrupt|smaller)|packfile .* (cannot|does not|is far)|garbage at end|loose object .* (stored in|is empty)|object file .* is empty|missing object/,
    says: "The store is damaged",
    hints: (where) => [
      `To see what is damaged: git -C ${where} fsck --full`,
      "Restore the store from a copy or a remote.",
    ],
  },
  {
    code: "store_damaged",
    pattern: /not a git repository|can only be used inside a git repository|bad config (line|file)/,
    says: "The store's git directory cannot be read",
    hints: (where) => [
      `To see what git says of it: git -C ${where} status`,
      `Look at HEAD and config in ${where}/.git: HEAD reads \`ref: refs/heads/NAME\`, and \`git for-each-ref\` lists the names.`,
    ],
  },
  {
    code: "ref_locked",
    pattern: /Unable to create '[^']*\.lock': File exists/,
    says: "Another git process holds a lock",
    hints: () => [
      "Wait for the other process and run the command again.",
      "When none runs, wait ten seconds: the next command removes the lock file.",
    ],
  },
];

/** What git 2.35.2 and later say, with the path that `safe.directory` wants. */
const FOREIGN = /(?:dubious ownership in repository at |unsafe repository \()'(.*)'/;

function foreignRepositoryError(path: string): JpgError {
  return repositoryError(
    "foreign_repository",
    `${path} belongs to somebody else, so neither git nor jpg works in it.`,
    {
      hints: [`If you trust its owner: git config --global --add safe.directory ${shellWord(path)}`],
      data: { path },
    },
  );
}

/** Names what failed by its rule; `git_failed` when no rule knows the text. */
export function gitError(failure: GitFailure): JpgError {
  const foreign = FOREIGN.exec(failure.stderr)?.[1];
  if (foreign !== undefined) return foreignRepositoryError(foreign);
  const said = readableStderr(failure.stderr);
  const command = `git ${failure.args.slice(0, 2).join(" ")}`;
  const rule = RULES.find(({ pattern }) => pattern.test(failure.stderr));
  const data = { command, where: failure.where, exit: failure.code, stderr: said };
  if (rule !== undefined) {
    const message = `${rule.says}: \`${command}\` failed in ${failure.where}: ${asSentence(said)}`;
    return repositoryError(rule.code, message, { hints: rule.hints(failure.where), data });
  }
  const message = `\`${command}\` failed in ${failure.where} with exit code ${failure.code}: ${asSentence(said || "git said nothing")}`;
  return repositoryError("git_failed", message, { data });
}

/** Creates the error of a git that is not installed: `git_missing`. */
export function gitMissingError(cause: unknown): JpgError {
  return repositoryError("git_missing", `This needs git ${OLDEST_GIT} or newer, and no \`git\` was found in PATH.`, {
    hints: ["Install git: https://git-scm.com/downloads (Debian: apt install git, macOS: xcode-select --install)"],
    cause,
  });
}

/** Creates the error of a git below the oldest supported one: `git_too_old`. */
export function gitTooOldError(found: string): JpgError {
  return repositoryError("git_too_old", `jpg needs git ${OLDEST_GIT} or newer, and the \`git\` in PATH is ${found}.`, {
    hints: ["Install a newer git: https://git-scm.com/downloads", "Or put a newer one first in PATH."],
    data: { found, needed: OLDEST_GIT },
  });
}

/** Git's own words, fit for a message: its first lines, without advice and without control characters. */
export function readableStderr(stderr: string): string {
  const lines = stderr
    .split("\n")
    .map((line) => forLine(line))
    .filter((line) => line !== "" && !line.startsWith("hint:"));
  return lines.slice(0, 6).join("; ");
}
