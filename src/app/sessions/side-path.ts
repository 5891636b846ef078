// Which files beside a session can be stored: git gives some names a meaning of its own, on some systems in disguise, and
// refuses to write a tree, a worktree or a clone with them.

/** Longest path in a tree that every system can write, bytes (macOS). */
const LONGEST_PATH = 1024;
/** Names with a meaning to git wherever they stand in a tree. */
const GIT_NAMES: ReadonlySet<string> = new Set([".git", ".gitattributes", ".gitmodules"]);
/** Characters that macOS leaves out when it compares names. */
const IGNORED_IN_NAMES = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** What keeps a file from being stored: the part of its path that ends with the name in the way, and why. */
export interface PathRefusal {
  readonly path: string;
  readonly reason: string;
}

/** Finds why a path, `/` between names, cannot stand below `folder` in a tree; null when it can. */
export function refusalOf(path: string, folder: string): PathRefusal | null {
  const names = path.split("/");
  for (const [index, name] of names.entries()) {
    const reason = reasonAgainst(name);
    if (reason !== null) return { path: names.slice(0, index + 1).join("/"), reason };
  }
  const bytes = Buffer.byteLength(`${folder}/${path}`);
  return bytes > LONGEST_PATH
    ? { path, reason: `its path in the store would have ${bytes} bytes, more than ${LONGEST_PATH}` }
    : null;
}

function reasonAgainst(name: string): string | null {
  if (/[\u0000-\u001f\u007f]/.test(name)) return "its name has control characters";
  if (name.includes("\\")) return "its name has a backslash, which some systems read as a folder";
  if (name.includes("\ufffd")) return "its name is not UTF-8";
  return isGitName(name) ? "git gives that name a meaning of its own" : null;
}

/** As git compares: without case, as macOS does without ignorable characters, as Windows does without dots and spaces at the end. */
function isGitName(name: string): boolean {
  const plain = name.replaceAll(IGNORED_IN_NAMES, "").toLowerCase();
  const windows = plain.replace(/:.*$/s, "").replace(/[ .]+$/, "");
  return GIT_NAMES.has(plain) || GIT_NAMES.has(windows) || /^(git|gitatt|gitmod)~[0-9]+$/.test(windows);
}
