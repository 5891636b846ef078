// Which sessions that agents keep this store knows already, told by what it holds: what an import remembers of files may be gone,
// and is not kept of files that changed a moment ago.
import { JpgError } from "../../core/errors.ts";
import { importSuffix } from "../names/session-family.ts";
import { openSession } from "../sessions/open-session.ts";
import type { SessionFile } from "../sessions/session-files.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { readContinuedSession } from "./continued-session.ts";
import { findSessionBranches } from "./import-target.ts";
import { readSourceCache } from "./source-cache.ts";

/**
 * What the store knows of a session file: `imported` = it holds the session, which may have grown since; `exported` = jpg wrote
 * the file from a conversation that is here, and nobody went on with it; null = nothing.
 */
export type KnownAs = "imported" | "exported" | null;

/** Creates the question of the store as it is now. A file that cannot be read is not known. */
export async function createKnownSessions(workspace: Workspace): Promise<(file: SessionFile) => Promise<KnownAs>> {
  const { store } = workspace;
  const remembered = readSourceCache(store);
  const branches = await store.listBranches();
  const asked = new Map<string, Promise<KnownAs>>();
  return (file) => {
    const answer = asked.get(file.path) ?? ask(file);
    asked.set(file.path, answer);
    return answer;
  };

  async function ask(file: SessionFile): Promise<KnownAs> {
    if (branches.length === 0) return null;
    if (remembered.get(file.path)?.origin === null) return "imported";
    try {
      const open = await openSession(workspace.runtime, file, { allBranches: false });
      const { format, origin, sessionId: session, source } = open;
      const names = { session, suffix: importSuffix(format.name, session), continues: origin?.conversation };
      if ((await findSessionBranches(store, branches, names)).length > 0) return "imported";
      if (origin === null) return null;
      const continued = await readContinuedSession(workspace, open, format.read(source));
      return continued?.addsNothing === true ? "exported" : null;
    } catch (error) {
      if (error instanceof JpgError) return null;
      throw error;
    }
  }
}
