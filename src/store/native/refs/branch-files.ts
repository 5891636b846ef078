// Lists branches, and refs of other folders, from git's own files, loose and packed: reading them takes less than git takes to
// start, and for thousands git looks each one's object up. Whatever is not plain is left to git, which says what is wrong with it.
import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../../core/errors.ts";
import type { BranchTip } from "../../conversation-store.ts";
import { readFileIfThere } from "../../files/read-file.ts";
import { isBranchName } from "../../refs/ref-name.ts";
import { parseHead } from "../../refs/ref-text.ts";
import { isPlainFile } from "../git/store-guard.ts";
import { isFolder } from "./ref-reader.ts";

const HEADS = "refs/heads/";
const OID_LENGTH = 40;
/** Lines that name no such ref: what git says of the file, another ref, the commit of a tag. */
const OTHER_LINE = /^(?:[#^].*|[0-9a-f]{40} refs\/.+)$/;
const OIDS = /^[0-9a-f]*$/;
/** What a branch's own file holds: the id of a commit. */
const LOOSE = /^(?!0{40})([0-9a-f]{40})\n$/;
/** Loose refs are read one by one; git reads many of them more quickly. */
const MOST_LOOSE = 50;

/** The branches by name, in git's order, never none; null when git has to be asked. */
export async function listBranchFiles(gitDir: string): Promise<BranchTip[] | null> {
  const tips = await listRefFiles(gitDir, HEADS);
  return tips?.length === 0 ? null : tips;
}

/** The refs below a folder (`refs/trash/`) by the rest of their names, in git's order; null when git has to be asked. */
export async function listRefFiles(gitDir: string, folder: string): Promise<BranchTip[] | null> {
  // A folder that no ref can stand in leads elsewhere.
  if (!isBranchName(folder.slice("refs/".length, -1)) || !isFolder(join(gitDir, "refs"))) return null;
  if (isFolder(join(gitDir, "reftable")) || !(await isSound(gitDir))) return null;
  // Loose refs first, as git does: one that is packed meanwhile is in the file that is read after.
  const loose = await readLoose(join(gitDir, folder));
  if (loose === null) return null;
  const packed = parsePackedRefs((await readFileIfThere(join(gitDir, "packed-refs"))) ?? "", folder);
  if (packed === null) return null;
  if (loose.length === 0) return packed;
  const names = new Set(loose.map(({ name }) => name));
  return [...packed.filter(({ name }) => !names.has(name)), ...loose].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Whether git would take the folder for a repository, and its settings for what they say. */
async function isSound(gitDir: string): Promise<boolean> {
  return isPlainFile(join(gitDir, "config")) && parseHead(await readFileIfThere(join(gitDir, "HEAD"))) !== null;
}

/** The refs below a folder that packed-refs holds, in its order; null for a file that git would not have written so. */
export function parsePackedRefs(text: string, folder: string): BranchTip[] | null {
  const start = ` ${folder}`;
  const tips: BranchTip[] = [];
  for (let from = 0, end = text.indexOf("\n"); from < text.length; from = end + 1, end = text.indexOf("\n", from)) {
    if (end < 0) return null;
    const nameAt = from + OID_LENGTH + start.length;
    if (nameAt < end && text.startsWith(start, from + OID_LENGTH)) {
      const commit = text.slice(from, from + OID_LENGTH);
      if (!OIDS.test(commit)) return null;
      tips.push({ name: text.slice(nameAt, end), commit });
    } else if (!OTHER_LINE.test(text.slice(from, end))) return null;
  }
  return tips;
}

/** Null where there are many, or anything else than the id of a commit under a name that git takes. */
async function readLoose(folder: string): Promise<BranchTip[] | null> {
  const tips: BranchTip[] = [];
  for (const name of looseNames(folder)) {
    const isPlain = name !== null && tips.length < MOST_LOOSE && isBranchName(name);
    const [, commit] = LOOSE.exec((isPlain ? await readFileIfThere(join(folder, name)) : null) ?? "") ?? [];
    if (name === null || commit === undefined) return null;
    tips.push({ name, commit });
  }
  return tips;
}

/** Names of files, as git makes them of branches; null for what is neither a file nor a folder that can be read. */
function* looseNames(folder: string, above = ""): Generator<string | null> {
  const entries = entriesOf(join(folder, above));
  if (entries === null) yield null;
  for (const entry of entries ?? []) {
    if (entry.isDirectory()) yield* looseNames(folder, `${above}${entry.name}/`);
    else if (!entry.name.endsWith(".lock")) yield entry.isFile() ? above + entry.name : null;
  }
}

/** Null where a folder cannot be read; one that is gone was emptied meanwhile. */
function entriesOf(folder: string): readonly Dirent[] | null {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    return codeOf(error) === "ENOENT" ? [] : null;
  }
}
