// jpg's side line in a session of OpenCode: a key of the session's own `metadata`, which OpenCode keeps and gives back. A fork
// copies it: the copy has messages of other ids, and is a session of its own.
import { createOriginLine, readExportOrigin } from "../export-origin.ts";
import type { ExportOrigin } from "../imported-session.ts";
import { type RawLine, recordOf, stringOf } from "../json-line.ts";
import type { SessionDocument } from "./session-document.ts";

const KEY = "jpg";

/** Creates the metadata of a session that jpg writes. */
export function createOriginMetadata(origin: ExportOrigin, sessionId: string): RawLine {
  return { [KEY]: createOriginLine(origin, sessionId) };
}

/** Reads the conversation that jpg exported a session from; null for OpenCode's own. Never throws. */
export function documentOrigin({ info, sessionId }: SessionDocument): ExportOrigin | null {
  const line = recordOf(recordOf(info, "metadata") ?? {}, KEY) ?? {};
  return stringOf(line, "sessionId") === sessionId ? readExportOrigin(line) : null;
}
