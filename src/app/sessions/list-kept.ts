// What agents on this machine keep for this project, one row a session, without importing anything.
import { stat } from "node:fs/promises";
import { JpgError } from "../../core/errors.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { openSession } from "./open-session.ts";
import { findAgentSessions, type KeptSession, projectDirectories } from "./session-files.ts";

/** A session that an agent keeps. */
export interface KeptRow {
  /** What the agent is called. */
  readonly agent: string;
  readonly path: string;
  /** When its file changed last, RFC 3339 UTC. */
  readonly updated_at: string;
  /** Size of its file. */
  readonly bytes: number;
  /** Absent where the file cannot be read as a session. */
  readonly turns?: number;
  readonly title?: string;
  /** Why it cannot be read. */
  readonly problem?: string;
}

/** Lists the sessions of this project, the newest first. */
export async function listKeptSessions(
  workspace: Pick<Workspace, "runtime" | "location">,
): Promise<readonly KeptRow[]> {
  const rows: KeptRow[] = [];
  for (const file of await findAgentSessions(workspace.runtime, projectDirectories(workspace)))
    rows.push(await describe(workspace, file));
  return rows.sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
}

async function describe({ runtime }: Pick<Workspace, "runtime">, file: KeptSession): Promise<KeptRow> {
  const { size, mtime } = await stat(file.path);
  const row = { agent: file.agent, path: file.path, updated_at: mtime.toISOString(), bytes: size };
  try {
    const { source, format } = await openSession(runtime, file, { allBranches: false });
    const { turnCount, titles, title } = format.read(source);
    return { ...row, turns: turnCount, title: titles.at(-1)?.title ?? title };
  } catch (error) {
    if (!(error instanceof JpgError)) throw error;
    return { ...row, problem: error.message };
  }
}
