// Finds session files below a folder that the user named. Links are not followed, and folders that hold no sessions of the
// user are not entered: git's own, installed packages, what jpg itself keeps.
import { readdir } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { type JpgError, reasonOf, userError } from "../../core/errors.ts";
import type { SideFileRules } from "../../formats/agent-format.ts";
import { sessionOfCompanion } from "./companion.ts";
import { agents, isSessionName } from "./session-registry.ts";

/** What was found below a folder. */
export interface FolderScan {
  /** Absolute paths, ordered. */
  readonly files: readonly string[];
  /** Folders that cannot be read. */
  readonly failed: readonly { readonly path: string; readonly error: JpgError }[];
}

/** Never entered. `.git` holds jpg's store and its worktrees, too. */
const FOREIGN_FOLDERS: ReadonlySet<string> = new Set([".git", "node_modules"]);
/** In every worktree of a conversation. */
const WORKTREE_MARKS = ["conversation.json", ".gitattributes"];
/** What a worktree of a conversation holds in lines: the session that it was made from stands under `sources`. */
const WORKTREE_NAMES: ReadonlySet<string> = new Set([
  "turns",
  "sources",
  "compactions",
  "config",
  "meta",
  "view.jsonl",
]);

/** Lists what may be sessions, by their names, in a folder and below it, but for files that an agent wrote beside another one. */
export async function scanFolder(folder: string): Promise<FolderScan> {
  const files: string[] = [];
  const failed: FolderScan["failed"][number][] = [];
  const scan = async (at: string): Promise<void> => {
    const entries = await readdir(at, { withFileTypes: true }).catch((error: unknown) => {
      failed.push({ path: at, error: unreadableFolder(at, error) });
      return [];
    });
    const names = new Set(entries.map(({ name }) => name));
    const isWorktree = WORKTREE_MARKS.every((name) => names.has(name));
    for (const entry of entries) {
      if (FOREIGN_FOLDERS.has(entry.name) || (isWorktree && WORKTREE_NAMES.has(entry.name))) continue;
      if (entry.isDirectory()) await scan(join(at, entry.name));
      else if (entry.isFile() && agents().some((agent) => isSessionName(agent, entry.name, at)))
        files.push(join(at, entry.name));
    }
  };
  await scan(folder);
  const besides = agents().flatMap(({ files: { beside } }) =>
    beside === undefined ? [] : [sessionFolders(files, beside)],
  );
  const isBeside = (path: string): boolean => besides.some((beside) => standsBeside(path, { folder, ...beside }));
  const isOwn = (path: string): boolean => !isBeside(path) && sessionOfCompanion(path) === null;
  return { files: files.filter(isOwn).sort(), failed };
}

/** The folders that an agent's sessions among some files may have beside them, absolute. */
interface SessionFolders {
  readonly folders: ReadonlySet<string>;
  readonly rules: SideFileRules;
}

function sessionFolders(files: readonly string[], rules: SideFileRules): SessionFolders {
  const folders = files.flatMap((path) => {
    const name = rules.folder(basename(path));
    return name === null ? [] : [join(dirname(path), name)];
  });
  return { folders: new Set(folders), rules };
}

/** Whether an agent wrote the file into the folder of a session that lies beside that folder (sub-agents). */
function standsBeside(path: string, { folder, folders, rules }: SessionFolders & { readonly folder: string }): boolean {
  const names = relative(folder, path).split(sep);
  return names.some(
    (_, depth) => folders.has(join(folder, ...names.slice(0, depth))) && rules.holdsFile(names.slice(depth).join("/")),
  );
}

function unreadableFolder(path: string, cause: unknown): JpgError {
  return userError("unreadable_file", `${path} cannot be read: ${reasonOf(cause)}.`, {
    hints: ["Give yourself read access, or name the sessions that you want."],
    cause,
  });
}
