// The refs of a repository as its files say: a test that looks at them before and after each act starts no git for that.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

/** Commits by the rest of the ref's name, of refs below `prefix` (such as `refs/heads/`). */
export function readRefs(gitDir: string, prefix = "refs/"): ReadonlyMap<string, string> {
  const refs = new Map<string, string>();
  const packed = join(gitDir, "packed-refs");
  const lines = existsSync(packed) ? readFileSync(packed, "utf8").split("\n") : [];
  for (const line of lines) {
    const [commit = "", ref = ""] = line.split(" ");
    if (ref.startsWith(prefix) && !line.startsWith("#")) refs.set(ref.slice(prefix.length), commit);
  }
  const root = join(gitDir, prefix);
  for (const name of existsSync(root) ? readdirSync(root, { recursive: true, encoding: "utf8" }) : []) {
    const path = join(root, name);
    if (statSync(path).isFile()) refs.set(relative(root, path), readFileSync(path, "utf8").trim());
  }
  return refs;
}

/** The branch that HEAD of a git dir names; throws where it names none. */
export function readHeadBranch(gitDir: string): string {
  const head = readFileSync(join(gitDir, "HEAD"), "utf8").trim();
  const prefix = "ref: refs/heads/";
  if (!head.startsWith(prefix)) throw new Error(`HEAD of ${gitDir} names no branch: ${head}`);
  return head.slice(prefix.length);
}
