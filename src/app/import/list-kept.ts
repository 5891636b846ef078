// Lists the sessions that agents on this machine keep for this project, without importing any. Of thousands, only those shown are
// read, and of long ones only the beginning.
import { statSync } from "node:fs";
import { titleByRequests } from "../../core/conversation/asked.ts";
import type { Turn } from "../../core/conversation/event.ts";
import { isResumedTitle } from "../../core/conversation/marks.ts";
import { JpgError } from "../../core/errors.ts";
import type { SessionSource } from "../../formats/session-source.ts";
import type { Workspace } from "../conversation/workspace.ts";
import type { StoreFailure } from "../sessions/agent-stores.ts";
import { findKeptFiles, type KeptChoice, type KeptSession, unclearError } from "../sessions/kept-files.ts";
import { readSessionBeginning, readSessionSource } from "../sessions/session-files.ts";
import { agents, detectFormat, scatteredFiles } from "../sessions/session-registry.ts";
import { createBufferSource } from "../sessions/sources.ts";

export interface KeptRow {
  /** The agent's display name. */
  readonly agent: string;
  readonly path: string;
  /** When its file last changed, RFC 3339 UTC. */
  readonly updated_at: string;
  readonly bytes: number;
  /** Absent if the file cannot be read as a session. */
  readonly turns?: number;
  readonly title?: string;
  /** Whether only the beginning of the file was read: then `turns` counts only that, and the title may have changed since. */
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

/** Bytes: of longer files, only the beginning is read. */
const MAX_WHOLE_BYTES = 256 * 1024;

/** Turns that are read for a title, at most. */
const MOST_TURNS = 20;

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
  return { rows: [...failed, ...rows], older, unclear: leftOut, leftOut: unclear.map(unclearError) };
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

/** The row for a session that its agent's store did not print, and so has no file, or for the store itself. */
function describeFailure({ agent, path, error }: StoreFailure): KeptRow {
  const stats = statSync(path, { throwIfNoEntry: false });
  const updated = (stats?.mtime ?? new Date(0)).toISOString();
  return { agent, path, updated_at: updated, bytes: stats?.size ?? 0, problem: error.message };
}

/** Reads what a list says of a session: of a long one, from its beginning. */
export async function describeKept(
  runtime: Workspace["runtime"],
  file: KeptSession,
  bytes: number,
): Promise<Pick<KeptRow, "turns" | "title" | "is_beginning" | "problem"> & Partial<Pick<KeptRow, "bytes">>> {
  try {
    if (scatteredFiles(file.path).length > 0) {
      const source = await readSessionSource(runtime, file);
      return { ...read(source, file.path), bytes: source.byteLength };
    }
    const isLong = bytes > MAX_WHOLE_BYTES && !isDocument(file);
    const beginning = isLong ? await readSessionBeginning(file.path, MAX_WHOLE_BYTES) : null;
    // A single line may be longer than that.
    if (beginning === null || beginning.length === 0) return read(await readSessionSource(runtime, file), file.path);
    return { ...read(createBufferSource(beginning), file.path), is_beginning: true };
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

function read(source: SessionSource, path: string): Pick<KeptRow, "turns" | "title"> {
  const { turnCount, titles, title, readTurn } = detectFormat(source, path).read(source);
  const given = titles.findLast((one) => !isResumedTitle(one.title))?.title;
  const asked = function* (): Generator<Pick<Turn, "events">> {
    for (let turn = 0; turn < Math.min(turnCount, MOST_TURNS); turn++) yield { events: readTurn(turn) };
  };
  return { turns: turnCount, title: given ?? titleByRequests(title, asked()) };
}
