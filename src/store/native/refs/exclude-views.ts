// VIEW.md and view.jsonl are made from a commit and never part of one: whoever writes them first sees to it that git passes
// over them. All worktrees of a repository share the file.
import { join } from "node:path";
import { readFileIfThere } from "../../files/read-file.ts";
import { makeOwnFolder, replaceFile } from "../../files/replace-file.ts";

const EXCLUDED = ["/VIEW.md", "/view.jsonl"] as const;

/** Adds the names of the views to the `info/exclude` of a git dir, where they are missing; the rest of it stays. */
export async function excludeViews(gitDir: string): Promise<void> {
  const path = join(gitDir, "info", "exclude");
  const present = (await readFileIfThere(path)) ?? "";
  const lines = new Set(present.split("\n").map((line) => line.trimEnd()));
  const missing = EXCLUDED.filter((name) => !lines.has(name));
  if (missing.length === 0) return;
  await makeOwnFolder(join(gitDir, "info"));
  const separator = present === "" || present.endsWith("\n") ? "" : "\n";
  await replaceFile(path, `${present}${separator}${missing.join("\n")}\n`);
}
