// Which files an import reads: those that are named, or what agents keep for this project.
import { JpgError } from "../../core/errors.ts";
import { findKeptFiles } from "../sessions/kept-files.ts";
import { type FoundFiles, findSessionFiles, projectDirectories } from "../sessions/session-files.ts";
import { agents } from "../sessions/session-registry.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { ImportRequest } from "./import-request.ts";

/** Finds the files that a request names, or what agents keep for this project. Throws `no_such_file`, `no_sessions`. */
export async function findFiles(workspace: Workspace, request: ImportRequest): Promise<FoundFiles> {
  const { runtime } = workspace;
  if (request.paths.length > 0) return findSessionFiles(runtime, request.paths);
  const { files, failed } = await findKeptFiles(workspace, request.kept);
  if (files.length > 0 || failed.length > 0) return { files, failed };
  const directories = projectDirectories(workspace);
  if (Object.keys(request.kept ?? {}).length > 0) {
    throw new JpgError("user", "no_sessions", `No session that agents keep for ${directories[0]} matches.`, {
      hints: ["`jpg import --list --all` lists them all."],
      data: { directories },
    });
  }
  throw new JpgError("user", "no_sessions", `No agent on this machine keeps sessions for ${directories[0]}.`, {
    hints: [
      "Run it in the folder where you use the agent, or name a session file or a folder of them: `jpg import FILE`.",
      ...agents().flatMap(({ files, store, help }) => (files.folders || store ? [help.place] : [])),
    ],
    data: { directories },
  });
}
