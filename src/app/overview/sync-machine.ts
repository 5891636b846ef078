// Keeps the sessions of the whole machine: those of each project in its own store, as the hooks do, and what is in no project in the
// user's store. An error in one place does not stop the others.

import { JpgError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import type { ReportProgress } from "../conversation/progress.ts";
import type { Runtime } from "../conversation/runtime.ts";
import type { ImportFailure } from "../import/import-request.ts";
import { type SyncObserver, type SyncReport, syncSessions } from "../import/sync.ts";
import { findPlaces, type MachinePlace, missingSessions, openPlace } from "./machine.ts";

interface SyncMachine {
  readonly observer: SyncObserver;
  readonly progress: ReportProgress;
}

/** Makes one pass over all places. */
export async function syncMachine(runtime: Runtime, how: SyncMachine): Promise<SyncReport> {
  const sessions: SyncReport["sessions"][number][] = [];
  const failed: ImportFailure[] = [];
  const compactions: SyncReport["compactions"][number][] = [];
  for (const place of await findPlaces(runtime)) {
    try {
      const pass = await syncPlace(runtime, place, how);
      appendAll(sessions, pass.sessions);
      appendAll(failed, pass.failed);
      appendAll(compactions, pass.compactions);
    } catch (error) {
      if (!(error instanceof JpgError) || error.kind === "internal") throw error;
      // A project in which no agent was used.
      if (error.code !== "no_sessions") failed.push({ path: place.directory, error });
    }
  }
  return { sessions, failed, compactions };
}

async function syncPlace(
  runtime: Runtime,
  place: MachinePlace,
  { observer, progress }: SyncMachine,
): Promise<SyncReport> {
  const workspace = await openPlace(runtime, place, { progress, warn: observer.warn });
  try {
    // A project's other sessions, such as those in an agent's own store, are found as in the project itself.
    if (place.isProject) return await syncSessions(workspace, { paths: [] }, { observer });
    const missing = await missingSessions(workspace, place);
    const paths = missing.map(({ path }) => path);
    return paths.length === 0 ? NOTHING : await syncSessions(workspace, { paths }, { observer });
  } finally {
    await workspace.close();
  }
}

const NOTHING: SyncReport = { sessions: [], failed: [], compactions: [] };
