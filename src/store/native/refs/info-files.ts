// Files under `info/` of a git dir: said to git in this repository alone, and shared with nobody. What the user wrote there stays.
import { join } from "node:path";
import { readFileIfThere } from "../../files/read-file.ts";
import { makeOwnFolder, replaceFile } from "../../files/replace-file.ts";

/** Turns and the smaller records are put into words too; that compactions are is said by each branch itself. */
const RECORDS_AS_TEXT = "turns/** diff=jpg\nconfig/** diff=jpg\nmeta/** diff=jpg\n";

/** Has `git show`, `git diff` and `git log -p` print turns, settings and marks as text. */
export function showRecordsAsText(gitDir: string): Promise<void> {
  return writeInfo(gitDir, "attributes", RECORDS_AS_TEXT);
}

/** Adds a text to a file in a git dir's `info`, where it does not stand there. */
export async function writeInfo(gitDir: string, name: string, text: string): Promise<void> {
  const path = join(gitDir, "info", name);
  const present = (await readFileIfThere(path)) ?? "";
  if (present.includes(text)) return;
  await makeOwnFolder(join(gitDir, "info"));
  await replaceFile(path, present === "" || present.endsWith("\n") ? present + text : `${present}\n${text}`);
}
