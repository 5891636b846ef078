// Sessions that stand beside other sessions: what the agents of a session wrote, where that is in files of their own.
import { join } from "node:path";
import type { SessionFile } from "./session-files.ts";
import { agents } from "./session-registry.ts";
import { listSideFiles } from "./side-files.ts";

/** Puts behind each session the files beside it that its agents may have written; one that is named stays where it is. */
export async function withAgentFiles(files: readonly SessionFile[]): Promise<readonly SessionFile[]> {
  const found: SessionFile[] = [];
  const known = new Set(files.map(({ path }) => path));
  for (const file of files) {
    found.push(file);
    for (const { files: kept } of agents()) {
      const isSession = kept.beside?.isSession;
      if (isSession === undefined) continue;
      const { folder, files: beside } = await listSideFiles(file, kept.beside);
      for (const path of beside.filter(isSession).map((name) => join(folder, name))) {
        if (!known.has(path)) found.push({ path, named: false, isBeside: true });
      }
    }
  }
  return found;
}
