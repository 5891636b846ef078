// A session file that was read and recognised, not yet parsed.
import { JpgError, userError } from "../core/errors.ts";
import type { ExportOrigin } from "../formats/imported-session.ts";
import { type BufferSource, createBufferSource } from "./buffer-source.ts";
import type { Runtime } from "./runtime.ts";
import { readSessionFile, readSideFiles, type SessionFile, type SideFile } from "./session-files.ts";
import { detectFormat, formatByName, type SessionFormat } from "./session-registry.ts";
import { PIECE_LIMITS, type PieceLimits } from "./source-pieces.ts";

export interface OpenSession {
  readonly path: string;
  /** Named by the user, not found in a folder. */
  readonly named: boolean;
  readonly source: BufferSource;
  readonly format: SessionFormat;
  /** The conversation it was exported from. */
  readonly origin: ExportOrigin | null;
  readonly sessionId: string;
  readonly sideFiles: readonly SideFile[];
  readonly allBranches: boolean;
  /** Sizes at which its source is cut. */
  readonly limits: PieceLimits;
}

/** Reads a session file. Throws `unreadable_file`, `empty_session`, `not_a_session`, `unknown_format`. */
export async function openSession(
  runtime: Runtime,
  file: SessionFile,
  how: {
    readonly format?: string;
    readonly allBranches: boolean;
    readonly limits?: PieceLimits;
    /** The file's bytes, when reading them was begun before. */
    readonly bytes?: Promise<Buffer>;
  },
): Promise<OpenSession> {
  const source = createBufferSource(await (how.bytes ?? readSessionFile(runtime, file)));
  const name = file.path === "-" ? "standard input" : file.path;
  if (source.byteLength === 0) {
    throw userError("empty_session", `${name} is empty.`, {
      hints: ["Nothing was imported: name the file of a session."],
    });
  }
  const format = how.format === undefined ? detectFormat(source, name) : formatByName(how.format);
  return {
    path: file.path,
    named: file.named,
    source,
    format,
    origin: format.origin(source),
    sessionId: sessionIdOf(format, source, name),
    sideFiles: await readSideFiles(file),
    allBranches: how.allBranches,
    limits: how.limits ?? PIECE_LIMITS,
  };
}

/** The session's id; a file that is none, though its format was named, is refused by name. */
function sessionIdOf(format: SessionFormat, source: BufferSource, name: string): string {
  try {
    return format.sessionId(source) ?? format.read(source).sessionId;
  } catch (error) {
    if (!(error instanceof JpgError) || error.code !== "not_a_session") throw error;
    throw userError(error.code, error.message.replace(/^The file/, name), { hints: error.hints, data: error.data });
  }
}

/** How messages call what a session is read from. */
export function nameOfInput(path: string): string {
  return path === "-" ? "Standard input" : path;
}
