// Keeps the sessions of the whole machine: those of each project in its own store, as the hooks do, and what is in no project in the
// user's store. An error in one place does not stop the others.

import { appendAll } from "../../core/lists.ts";
import type { ReportProgress } from "../conversation/progress.ts";
import type { Runtime } from "../conversation/runtime.ts";
import type { Workspace } from "../conversation/workspace.ts";
import type { ImportFailure } from "../import/import-request.ts";
import { type SyncObserver, type SyncReport, syncSessions } from "../import/sync.ts";
import { type MachinePlace, missingSessions, visitPlaces } from "./machine.ts";

interface SyncMachine {
  readonly observer: SyncObserver;
  readonly progress: ReportProgress;
}

/** Makes one pass over all places. */
export async function syncMachine(runtime: Runtime, how: SyncMachine): Promise<SyncReport> {
  const sessions: SyncReport["sessions"][number][] = [];
  const failed: ImportFailure[] = [];
  const compactions: SyncReport["compactions"][number][] = [];
  const { progress, observer } = how;
  const unread = await visitPlaces(runtime, { progress, warn: observer.warn }, async (workspace, place) => {
    const pass = await syncPlace(workspace, place, observer);
    appendAll(sessions, pass.sessions);
    appendAll(failed, pass.failed);
    appendAll(compactions, pass.compactions);
  });
  // `no_sessions`: a project in which no agent was used.
  for (const { directory, error } of unread) if (error.code !== "no_sessions") failed.push({ path: directory, error });
  return { sessions, failed, compactions };
}

async function syncPlace(workspace: Workspace, place: MachinePlace, observer: SyncObserver): Promise<SyncReport> {
  // A project's other sessions, such as those in an agent's own store, are found as in the project itself.
  if (place.isProject) return syncSessions(workspace, { paths: [] }, { observer });
  const missing = await missingSessions(workspace, place);
  const paths = missing.map(({ path }) => path);
  return paths.length === 0 ? NOTHING : syncSessions(workspace, { paths }, { observer });
}

const NOTHING: SyncReport = { sessions: [], failed: [], compactions: [] };
