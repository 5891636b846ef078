// Scans the session files that agents keep, without importing them: they hold whatever the agent read.
import { JpgError } from "../../core/errors.ts";
import {
  findAgentSessions,
  findSessionFiles,
  projectDirectories,
  readSessionSource,
  type SessionFile,
} from "../sessions/session-files.ts";
import { allSideFiles } from "../sessions/side-files.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type SecretFinding, scanSources } from "./scan-source.ts";
import { loadSecretScanner } from "./secret-scanner.ts";

/** What was scanned, and what was found. */
export interface ScanReport {
  readonly files: number;
  readonly bytes: number;
  /** In the order of the files. */
  readonly secrets: readonly (SecretFinding & { readonly path: string })[];
  /** Files and folders that could not be read. */
  readonly failed: readonly { readonly path: string; readonly error: JpgError }[];
}

/**
 * Scans files, and those in folders; none = those that agents on this machine keep for this project. Nothing is written. Throws
 * `no_such_file`; `unreadable_file` of a file that was named.
 */
export async function scanSessions(
  place: Pick<Workspace, "runtime" | "location">,
  paths: readonly string[],
): Promise<ScanReport> {
  const { runtime } = place;
  const { files, failed: unseen } =
    paths.length > 0
      ? await findSessionFiles(runtime, paths)
      : { files: await findAgentSessions(runtime, projectDirectories(place)), failed: [] };
  const scanner = await loadSecretScanner();
  const failed = [...unseen];
  const secrets: ScanReport["secrets"][number][] = [];
  let [count, bytes] = [0, 0];
  for (const file of await withSideFiles(files)) {
    count += 1;
    try {
      const lines = await readSessionSource(runtime, file);
      bytes += lines.byteLength;
      for (const { in: path, ...finding } of await scanSources(scanner, [{ name: file.path, lines }]))
        secrets.push({ path, ...finding });
    } catch (error) {
      if (file.named || !(error instanceof JpgError)) throw error;
      failed.push({ path: file.path, error });
    }
  }
  return { files: count, bytes, secrets, failed };
}

/** The files, each followed by what its agent wrote beside it. */
async function withSideFiles(files: readonly SessionFile[]): Promise<readonly SessionFile[]> {
  const all: SessionFile[] = [];
  for (const file of files) {
    all.push(file);
    for (const path of (await allSideFiles(file)).values()) all.push({ path, named: false });
  }
  return all;
}
