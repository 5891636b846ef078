// Lists branches from git's own files where nearly all of them are packed: for thousands git looks each one's object up,
// which takes longer than reading the file. Whatever is not plain is left to git, which says what is wrong with it.
import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import type { BranchTip } from "../../conversation-store.ts";
import { isFolder, parseHead, readFileIfThere } from "./ref-reader.ts";

const HEADS = "refs/heads/";
const OID_LENGTH = 40;
/** How a line of packed-refs begins that names a branch. */
const BRANCH_START = ` ${HEADS}`;
/** Lines that name no branch: what git says of the file, another ref, the commit of a tag. */
const OTHER_LINE = /^(?:[#^].*|[0-9a-f]{40} refs\/.+)$/;
const OIDS = /^[0-9a-f]*$/;
/** Loose refs are read one by one; git reads many of them more quickly. */
const MOST_LOOSE = 50;
/** Bytes of packed-refs, some thousand branches: fewer are listed by git in the time that it takes to start. */
const MANY_PACKED = 65_536;

/** The branches by name, in git's order; null when git has to be asked. `least`: of how many bytes packed-refs is read. */
export async function listPackedBranches(gitDir: string, least: number = MANY_PACKED): Promise<BranchTip[] | null> {
  if (isFolder(join(gitDir, "reftable"))) return null;
  // Loose refs first, as git does: one that is packed meanwhile is in the file that is read after.
  const loose = await readLoose(gitDir);
  const text = loose === null ? null : await readFileIfThere(join(gitDir, "packed-refs"));
  if (loose === null || text === null || text.length < least) return null;
  const packed = parsePackedBranches(text);
  if (packed === null || loose.length === 0) return packed;
  const names = new Set(loose.map(({ name }) => name));
  return [...packed.filter(({ name }) => !names.has(name)), ...loose].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The branches that packed-refs holds, in its order; null for a file that git would not have written so. */
export function parsePackedBranches(text: string): BranchTip[] | null {
  const tips: BranchTip[] = [];
  for (let from = 0, end = text.indexOf("\n"); from < text.length; from = end + 1, end = text.indexOf("\n", from)) {
    if (end < 0) return null;
    const nameAt = from + OID_LENGTH + BRANCH_START.length;
    if (nameAt < end && text.startsWith(BRANCH_START, from + OID_LENGTH)) {
      const commit = text.slice(from, from + OID_LENGTH);
      if (!OIDS.test(commit)) return null;
      tips.push({ name: text.slice(nameAt, end), commit });
    } else if (!OTHER_LINE.test(text.slice(from, end))) return null;
  }
  return tips;
}

/** Null where there are many, or anything else than the id of a commit. */
async function readLoose(gitDir: string): Promise<BranchTip[] | null> {
  const tips: BranchTip[] = [];
  for (const name of looseNames(join(gitDir, HEADS))) {
    const head = tips.length < MOST_LOOSE ? parseHead(await readFileIfThere(join(gitDir, HEADS, name))) : null;
    if (head === null || "ref" in head) return null;
    tips.push({ name, commit: head.commit });
  }
  return tips;
}

/** Names of files, as git makes them of branches; of a folder's entries, where they are no more than that. */
function* looseNames(folder: string, above = ""): Generator<string> {
  for (const entry of entriesOf(join(folder, above))) {
    if (entry.isDirectory()) yield* looseNames(folder, `${above}${entry.name}/`);
    else if (!entry.name.endsWith(".lock")) yield above + entry.name;
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // gone, or never there: whatever it is, the file that is read next knows more, or git
  }
}
