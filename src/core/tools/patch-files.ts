// Which files a patch in Codex's form touches, from its header lines.

/** What a patch does to files. */
export interface PatchFiles {
  /** Every file named, in order, each once. */
  readonly paths: readonly string[];
  /** Whether it does nothing but add files: their whole content is in it. */
  readonly isNew: boolean;
}

const HEADER = /^\*\*\* (Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/gm;

/** Lists the files that a patch names; none when it is no patch. */
export function patchFiles(patch: string): PatchFiles {
  const paths: string[] = [];
  let isNew = true;
  for (const [, action, path, target] of patch.matchAll(HEADER)) {
    paths.push((path ?? target ?? "").trim());
    if (action !== "Add") isNew = false;
  }
  return { paths: [...new Set(paths)], isNew: isNew && paths.length > 0 };
}
