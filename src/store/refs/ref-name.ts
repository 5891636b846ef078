// Branch names that git accepts (git-check-ref-format(1)), checked before a name reaches a command or a file path.
import { type JpgError, repositoryError, userError } from "../../core/errors.ts";

const FORBIDDEN = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|^\/|\/$|\.$|^@$/;

/** Whether git accepts `refs/heads/<name>`. */
export function isBranchName(name: string): boolean {
  if (name === "" || name === "HEAD" || name.startsWith("-") || FORBIDDEN.test(name)) return false;
  return name.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock"));
}

/** The full name of a branch's ref. Throws `bad_branch_name`. */
export function refOfBranch(name: string): string {
  if (!isBranchName(name)) {
    throw userError("bad_branch_name", `${JSON.stringify(name)} is not a branch name that git accepts.`, {
      hints: ["Use letters, digits, `-` and one `/`, as in fix-parser-k3f9/main."],
    });
  }
  return `refs/heads/${name}`;
}

/** The branch of a full ref name, or null when it is not a branch. */
export function branchOfRef(ref: string): string | null {
  return ref.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : null;
}

/** The error for a ref whose name another's file or folder has: git keeps refs in files. */
export function refInTheWay(root: string, ref: string, other: string): JpgError {
  return repositoryError("ref_in_the_way", `${ref} cannot be made in ${root}: ${other} exists.`, {
    hints: ["Choose another name: none may stand for a conversation and for a folder of them."],
    data: { ref, other },
  });
}
