// Which files an import reads: those that are named, or what agents keep for this project.
import { JpgError } from "../../core/errors.ts";
import { findKeptFiles, unclearError } from "../sessions/kept-files.ts";
import { type FoundFiles, findSessionFiles, type SessionFile } from "../sessions/session-files.ts";
import { agents } from "../sessions/session-registry.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { ImportRequest } from "./import-request.ts";
import { createKnownSessions } from "./known-sessions.ts";

/** Finds the files that a request names, or what agents keep for this project. Throws `no_such_file`, `no_sessions`. */
export async function findFiles(workspace: Workspace, request: ImportRequest): Promise<FoundFiles> {
  const { runtime } = workspace;
  if (request.paths.length > 0) return findSessionFiles(runtime, request.paths);
  const { kept = {} } = request;
  const knownAs = await createKnownSessions(workspace);
  const isClaimed = async (file: SessionFile): Promise<boolean> =>
    (await kept.isClaimed?.(file)) === true || (await knownAs(file)) !== null;
  const { files, unclear, failed } = await findKeptFiles(workspace, { ...kept, isClaimed });
  const left =
    kept.wasAsked === true ? [] : unclear.map((session) => ({ path: session.path, error: unclearError(session) }));
  if (files.length > 0 || failed.length > 0 || unclear.length > 0) return { files, failed: [...failed, ...left] };
  const {
    location,
    runtime: { cwd },
  } = workspace;
  const directory = location.project?.root ?? cwd;
  const data = { directories: [...new Set([directory, cwd])] };
  if (kept.agents !== undefined || kept.sinceMs !== undefined || kept.only !== undefined) {
    throw new JpgError("user", "no_sessions", `No session that agents keep for ${directory} matches.`, {
      hints: ["`jpg import --list --all` lists them all."],
      data,
    });
  }
  throw new JpgError("user", "no_sessions", `No agent on this machine keeps sessions for ${directory}.`, {
    hints: [
      "Run it in the folder where you use the agent, or name a session file or a folder of them: `jpg import FILE`.",
      ...agents().flatMap(({ files, store, help }) => (files.folders || store ? [help.place] : [])),
    ],
    data,
  });
}
