// Everything that branches reach as one text, to look for what must not be there. Two gits read all of it.
import { execFileSync } from "node:child_process";
import type { TestEnvironment } from "./temp-repository.ts";

const ID_BYTES = 20;

/** The names and the contents of all objects that `revisions` (arguments of `git rev-list`) reach; trees as `git ls-tree` lists them. */
export function storedText(cwd: string, env: TestEnvironment, ...revisions: readonly string[]): string {
  const run = (args: readonly string[], input = ""): Buffer =>
    execFileSync("git", args, { cwd, env, input, maxBuffer: 1 << 28 });
  const names = run(["rev-list", "--objects", ...revisions])
    .toString()
    .trimEnd();
  const ids = names.split("\n").map((line) => line.split(" ")[0] ?? "");
  const bytes = run(["cat-file", "--batch"], `${ids.join("\n")}\n`);
  const contents: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const start = bytes.indexOf("\n", at) + 1;
    const [, type, size] = bytes.toString("utf8", at, start).trimEnd().split(" ");
    if (size === undefined) throw new Error(bytes.toString("utf8", at, start));
    const content = bytes.subarray(start, start + Number(size));
    contents.push(type === "tree" ? treeText(content) : content.toString());
    at = start + content.length + 1;
  }
  return [names, ...contents].join("\n");
}

function treeText(bytes: Buffer): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at) + 1;
    const id = bytes.subarray(end, end + ID_BYTES).toString("hex");
    lines.push(`${id} ${bytes.toString("utf8", at, end - 1)}`);
    at = end + ID_BYTES;
  }
  return lines.join("\n");
}
