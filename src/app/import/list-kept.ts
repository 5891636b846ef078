// Lists the sessions that agents on this machine keep for this project, without importing any. Of thousands, only those shown are
// read, and of long ones only the beginning and the end.
import { statSync } from "node:fs";
import { askedWords } from "../../core/conversation/asked.ts";
import { JpgError } from "../../core/errors.ts";
import type { ImportedSession } from "../../formats/imported-session.ts";
import type { SessionSource } from "../../formats/session-source.ts";
import { lastMessageTime } from "../conversation/last-message.ts";
import type { Workspace } from "../conversation/workspace.ts";
import type { StoreFailure } from "../sessions/agent-stores.ts";
import { findKeptFiles, type KeptChoice, type KeptSession, unclearError } from "../sessions/kept-files.ts";
import { readSessionBeginning, readSessionEnding, readSessionSource } from "../sessions/session-files.ts";
import { agents, detectFormat, scatteredFiles } from "../sessions/session-registry.ts";
import { createBufferSource } from "../sessions/sources.ts";
import { givenSessionTitle, sessionTitle } from "./session-title.ts";

export interface KeptRow {
  /** The agent's display name. */
  readonly agent: string;
  readonly path: string;
  /** When somebody last said something in it, or if that is unknown, when its file last changed; RFC 3339 UTC. */
  readonly updated_at: string;
  readonly bytes: number;
  /** Absent if the file cannot be read as a session. */
  readonly turns?: number;
  readonly title?: string;
  /** Whether only the beginning and the end of the file were read: then `turns` counts only the beginning's. */
  readonly is_beginning?: true;
  /** Why it cannot be read. */
  readonly problem?: string;
}

interface KeptListing {
  /** Newest first, at most as many as asked for. */
  readonly rows: readonly KeptRow[];
  /** Number of older ones without a row. */
  readonly older: number;
  /** Sessions that may be of another project, newest first. */
  readonly unclear: readonly KeptRow[];
  /** For each of those, why it is left out and how to import it. */
  readonly leftOut: readonly JpgError[];
}

/** Bytes: a longer file is not read whole. A title may stand anywhere; a megabyte takes 40 ms. */
const MAX_WHOLE_BYTES = 2 * 1024 * 1024;
/** Bytes that are read of a longer file. */
const BEGINNING_BYTES = 256 * 1024;
const ENDING_BYTES = 64 * 1024;

export interface ListedSessions {
  readonly choice?: KeptChoice;
  /** Number of rows, at most. */
  readonly most: number;
  /** Whether to leave out a session; absent = none. */
  readonly isSkipped?: (file: KeptSession) => Promise<boolean>;
}

/** Lists the newest of the chosen sessions of this project. */
export async function listKeptSessions(
  workspace: Pick<Workspace, "runtime" | "location">,
  { choice = {}, most, isSkipped }: ListedSessions,
): Promise<KeptListing> {
  const { runtime } = workspace;
  const { files, unclear, failed: failures } = await findKeptFiles(workspace, choice);
  const { rows, older } = await newestOf(runtime, files, { most, isSkipped });
  const failed = failures.filter(({ path }) => files.every((file) => file.path !== path)).map(describeFailure);
  const { rows: leftOut } = await newestOf(runtime, unclear, { most: unclear.length });
  return { rows: [...failed, ...newestFirst(rows)], older, unclear: leftOut, leftOut: unclear.map(unclearError) };
}

async function newestOf(
  runtime: Workspace["runtime"],
  files: readonly KeptSession[],
  { most, isSkipped }: Omit<ListedSessions, "choice">,
): Promise<Pick<KeptListing, "rows" | "older">> {
  const found = files.flatMap((file) => {
    const stats = statSync(file.path, { throwIfNoEntry: false });
    return stats === undefined ? [] : [{ file, bytes: stats.size, changed: stats.mtime }];
  });
  found.sort((a, b) => b.changed.getTime() - a.changed.getTime());
  const rows: KeptRow[] = [];
  let looked = 0;
  for (const { file, bytes, changed } of found) {
    if (rows.length >= most) break;
    looked += 1;
    if ((await isSkipped?.(file)) === true) continue;
    const row = { agent: file.agent, path: file.path, updated_at: changed.toISOString(), bytes };
    const described = await describeKept(runtime, file, bytes);
    // Agents create files at their start, before anything is said.
    const isUnused = bytes === 0 || (described.turns === 0 && described.is_beginning !== true);
    if (!isUnused) rows.push({ ...row, ...described });
  }
  return { rows, older: found.length - looked };
}

/** The files that changed last are listed; something else than a message may have changed them. */
function newestFirst(rows: readonly KeptRow[]): readonly KeptRow[] {
  return [...rows].sort((a, b) => Date.parse(b.updated_at) - Date.parse(a.updated_at));
}

/** The row for a session that its agent's store did not print, and so has no file, or for the store itself. */
function describeFailure({ agent, path, error }: StoreFailure): KeptRow {
  const stats = statSync(path, { throwIfNoEntry: false });
  const updated = (stats?.mtime ?? new Date(0)).toISOString();
  return { agent, path, updated_at: updated, bytes: stats?.size ?? 0, problem: error.message };
}

/** Reads what a list says of a session: of a long one, from its beginning and its end. No `updated_at` = its end has no time. */
export async function describeKept(
  runtime: Workspace["runtime"],
  file: KeptSession,
  bytes: number,
): Promise<
  Pick<KeptRow, "turns" | "title" | "is_beginning" | "problem"> & Partial<Pick<KeptRow, "bytes" | "updated_at">>
> {
  try {
    if (scatteredFiles(file.path).length > 0) {
      const source = await readSessionSource(runtime, file);
      return { ...read(source, file.path), bytes: source.byteLength };
    }
    const isLong = bytes > MAX_WHOLE_BYTES && !isDocument(file);
    const beginning = isLong ? await readSessionBeginning(file.path, BEGINNING_BYTES) : null;
    // A single line may be longer than that.
    const described = beginning === null || beginning.length === 0 ? null : readBothEnds(file.path, beginning, bytes);
    return described ?? read(await readSessionSource(runtime, file), file.path);
  } catch (error) {
    if (!(error instanceof JpgError)) throw error;
    return { problem: error.message };
  }
}

/** Whether a session is one JSON document, of which a beginning cannot be read. */
function isDocument({ agent, path }: KeptSession): boolean {
  const files = agents().find((one) => one.agent.name === agent)?.files;
  return files?.document !== undefined && !path.endsWith(".jsonl");
}

type Described = Pick<KeptRow, "turns" | "title"> & Partial<Pick<KeptRow, "updated_at" | "is_beginning">>;

/** Null if the beginning asks nothing, so that what the session is about stands further on. */
function readBothEnds(path: string, beginning: Buffer, bytes: number): Described | null {
  const first = readSession(createBufferSource(beginning), path);
  const last = readEnding(path, bytes);
  const title = (last === null ? undefined : givenSessionTitle(last)) ?? sessionTitle(first);
  if (first.turnCount > 0 && askedWords(title) === "") return null;
  return { turns: first.turnCount, title, ...timeOf(last), is_beginning: true };
}

/** The end of a session as its format reads it after the first line, which says whose it is; null if it cannot be read so. */
function readEnding(path: string, bytes: number): ImportedSession | null {
  try {
    const ending = readSessionEnding(path, { byteLength: ENDING_BYTES, size: bytes });
    return ending === null ? null : readSession(createBufferSource(ending), path);
  } catch (error) {
    if (error instanceof JpgError) return null;
    throw error;
  }
}

function read(source: SessionSource, path: string): Described {
  const session = readSession(source, path);
  return { turns: session.turnCount, title: sessionTitle(session), ...timeOf(session) };
}

function readSession(source: SessionSource, path: string): ImportedSession {
  return detectFormat(source, path).read(source);
}

function timeOf(session: ImportedSession | null): Partial<Pick<KeptRow, "updated_at">> {
  if (session === null || session.turnCount === 0) return {};
  const time = lastMessageTime(session.readTurn(session.turnCount - 1));
  return time === undefined ? {} : { updated_at: time };
}
