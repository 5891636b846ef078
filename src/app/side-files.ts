// What stands beside a Claude Code session, in a folder of its name: sub-agent transcripts, tool results.
import { readFile } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { type JpgError, messageOf, userError } from "../core/errors.ts";
import { listFiles, type SessionFile } from "./session-files.ts";
import { refusalOf } from "./side-path.ts";

/** A file beside a session. `path` is relative, `/` between names. */
export interface SideFile {
  readonly path: string;
  readonly bytes: Buffer;
}

/** What was left out of the files beside a session, and why. */
export interface LeftOut {
  readonly path: string;
  readonly error: JpgError;
}

/** Absolute paths of the files beside a session, ordered: `<dir>/<session id>/**`. */
export async function listSidePaths(file: SessionFile): Promise<readonly string[]> {
  const folder = sideFolder(file);
  return folder === null ? [] : listFiles(folder);
}

/** Reads the files beside a session that can be stored under `sources/<session>/files`. Ordered by path. */
export async function readSideFiles(
  file: SessionFile,
  session: string,
): Promise<{ readonly files: readonly SideFile[]; readonly leftOut: readonly LeftOut[] }> {
  const folder = sideFolder(file) ?? "";
  const files: SideFile[] = [];
  const leftOut = new Map<string, LeftOut>();
  const leave = (path: string, reason: string, cause?: unknown): void => {
    const shown = path.replace(/[\u0000-\u001f\u007f]/g, "\ufffd");
    if (!leftOut.has(path)) leftOut.set(path, { path: shown, error: notStored(shown, reason, cause) });
  };
  for (const full of await listSidePaths(file)) {
    const path = relative(folder, full).split(sep).join("/");
    const refusal = refusalOf(path, `sources/${session}/files`);
    if (refusal !== null) leave(join(folder, refusal.path), refusal.reason);
    else {
      const bytes = await readFile(full).catch((error: unknown) => {
        leave(full, messageOf(error), error);
        return null;
      });
      if (bytes !== null) files.push({ path, bytes });
    }
  }
  return { files, leftOut: [...leftOut.values()] };
}

function sideFolder(file: SessionFile): string | null {
  const name = basename(file.path);
  return file.path === "-" || !name.endsWith(".jsonl") ? null : join(dirname(file.path), name.replace(/\.jsonl$/, ""));
}

function notStored(path: string, reason: string, cause: unknown): JpgError {
  return userError("side_file_left_out", `${path} was left out: ${reason}. The session beside it was imported.`, {
    hints: ["Files in the folder of a session's name are stored with it. Rename or move it to have it stored."],
    cause,
    data: { path },
  });
}
