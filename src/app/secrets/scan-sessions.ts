// Scans the session files that agents keep, without importing them: they hold whatever the agent read.

import { JpgError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import type { SessionSource } from "../../formats/session-source.ts";
import { findKeptFiles } from "../sessions/kept-files.ts";
import { findSessionFiles, readSessionSource, type SessionFile } from "../sessions/session-files.ts";
import { agents } from "../sessions/session-registry.ts";
import { allSideFiles } from "../sessions/side-files.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type ScannedSource, type SecretFinding, scanSources } from "./scan-source.ts";
import { loadSecretScanner } from "./secret-scanner.ts";

/** What was scanned, and what was found. */
export interface ScanReport {
  readonly files: number;
  /** Whose sessions were looked for, a directory; absent = files were named. */
  readonly directory?: string;
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
  place: Pick<Workspace, "runtime" | "location" | "warn">,
  paths: readonly string[],
): Promise<ScanReport> {
  const { runtime } = place;
  // What may be of another project is scanned with the rest: looking at it takes nothing in.
  const { files, failed: unseen } =
    paths.length > 0
      ? await findSessionFiles(runtime, paths)
      : await findKeptFiles(place, { isClaimed: () => Promise.resolve(true) });
  const scanner = await loadSecretScanner(place);
  const failed = [...unseen];
  const secrets: ScanReport["secrets"][number][] = [];
  let [count, bytes] = [0, 0];
  for (const file of await withSideFiles(files)) {
    count += 1;
    try {
      const source = await readSessionSource(runtime, file);
      bytes += source.byteLength;
      for (const { in: path, ...finding } of await scanSources(scanner, [
        { name: file.path, lines: plainLines(source) },
      ]))
        secrets.push({ path, ...finding });
    } catch (error) {
      if (file.named || !(error instanceof JpgError)) throw error;
      failed.push({ path: file.path, error });
    }
  }
  const directory = paths.length > 0 ? undefined : (place.location.project?.root ?? runtime.cwd);
  return { files: count, bytes, ...defined({ directory }), secrets, failed };
}

/** The lines of a file, coded texts decoded: a secret in base64 is one all the same. */
function plainLines(source: SessionSource): ScannedSource<string>["lines"] {
  const coded = agents().find(({ plainLine, detect }) => plainLine !== undefined && detect(source));
  const { plainLine } = coded ?? {};
  return plainLine === undefined
    ? source
    : { lineCount: source.lineCount, line: (index) => plainLine(source.line(index)) };
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
