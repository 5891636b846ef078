// A session file that was read and recognised, not yet parsed.
import { basename, dirname } from "node:path";
import { JpgError, userError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import type { AgentFormat } from "../../formats/agent-format.ts";
import type { ExportOrigin } from "../../formats/imported-session.ts";
import type { SessionDescent, SessionPart } from "../../formats/session-source.ts";
import type { Runtime } from "../workspace/runtime.ts";
import { type ByteSource, createBufferSource } from "./buffer-source.ts";
import type { Fingerprint } from "./file-fingerprint.ts";
import { readSessionSource, type SessionFile } from "./session-files.ts";
import { detectFormat, formatByName } from "./session-registry.ts";
import { companionText, readAbout, readSideFiles, type SideFiles } from "./side-files.ts";
import { PIECE_LIMITS, type PieceLimits } from "./source-pieces.ts";

export interface OpenSession {
  readonly path: string;
  /** Named by the user, not found in a folder. */
  readonly named: boolean;
  readonly source: ByteSource;
  readonly format: AgentFormat;
  /** The extension of a source that is one document, stored whole; null = lines, stored in pieces. */
  readonly document: string | null;
  /** The conversation it was exported from. */
  readonly origin: ExportOrigin | null;
  readonly sessionId: string;
  /** The text of the file beside it that tells of it; null = there is none. */
  readonly about: string | null;
  /** The text of its second file; null = there is none. */
  readonly companion: string | null;
  /** The session that it comes from; null for one that began by itself. */
  readonly descent: SessionDescent | null;
  /** Whether it stands on lines of another session's file: it cannot be read again from its path. */
  readonly isPart: boolean;
  /** As `SessionFile` says. */
  readonly isBeside: boolean;
  readonly beside: SideFiles;
  /** How the files stood before they were read; null when that says nothing about them later. */
  readonly fingerprint: Fingerprint | null;
  readonly allBranches: boolean;
  /** Whether it is read again although the store holds it. */
  readonly again: boolean;
  /** Sizes at which its source is cut. */
  readonly limits: PieceLimits;
  /** Smallest file of which is noted where it may be read from once it has grown, bytes. */
  readonly markedFrom: number;
}

/** A smaller file is read whole as fast. */
const MARKED_FROM = 1024 * 1024;

/** Reads a session file. Throws `unreadable_file`, `empty_session`, `not_a_session`, `unknown_format`. */
export async function openSession(
  runtime: Runtime,
  file: SessionFile,
  how: {
    readonly format?: string;
    readonly allBranches: boolean;
    readonly again?: boolean;
    readonly limits?: PieceLimits;
    readonly markedFrom?: number;
    /** The file's lines, when reading them was begun before. */
    readonly source?: Promise<ByteSource>;
    readonly fingerprint?: Fingerprint | null;
  },
): Promise<OpenSession> {
  const source = await (how.source ?? readSessionSource(runtime, file));
  const name = file.path === "-" ? "standard input" : file.path;
  if (source.byteLength === 0) {
    throw userError("empty_session", `${name} is empty.`, {
      hints: ["Nothing was imported: name the file of a session."],
    });
  }
  const format = how.format === undefined ? detectFormat(source, name) : formatByName(how.format);
  const sessionId = sessionIdOf(format, source, name);
  const beside = await readSideFiles(file, { session: sessionId, rules: format.files });
  const about = await readAbout(file, format.files);
  return {
    path: file.path,
    named: file.named,
    source,
    format,
    document: format.files.document?.(source) ?? null,
    origin: format.origin(source),
    sessionId,
    about,
    companion: companionText(file.path, beside, format.files.companion),
    descent: format.descent?.(source, about, folderOf(file)) ?? null,
    isPart: false,
    isBeside: file.isBeside === true,
    beside,
    fingerprint: how.fingerprint ?? null,
    allBranches: how.allBranches,
    again: how.again === true,
    limits: how.limits ?? PIECE_LIMITS,
    markedFrom: how.markedFrom ?? MARKED_FROM,
  };
}

/** The name of the folder that a file is in. */
function folderOf({ path }: SessionFile): string {
  return path === "-" ? "" : basename(dirname(path));
}

/** The session's id; a file that is none, though its format was named, is refused by name. */
function sessionIdOf(format: AgentFormat, source: ByteSource, name: string): string {
  try {
    return format.sessionId(source) ?? format.read(source).sessionId;
  } catch (error) {
    if (!(error instanceof JpgError) || error.code !== "not_a_session") throw error;
    throw userError(error.code, error.message.replace(/^The file/, name), { hints: error.hints, data: error.data });
  }
}

/** Opens the sessions of agents that stand on lines of a session's own file. */
export function openParts(open: OpenSession, parts: readonly SessionPart[]): readonly OpenSession[] {
  return parts.flatMap(({ lines, call }) => {
    const pieces = lines.map((line) => open.source.slice(open.source.lineStart(line), open.source.lineStart(line + 1)));
    const source = createBufferSource(Buffer.concat(pieces));
    const sessionId = open.format.sessionId(source);
    const descent = open.format.descent?.(source, null) ?? null;
    if (sessionId === null || descent === null) return [];
    return {
      ...open,
      about: null,
      companion: null,
      named: false,
      source,
      sessionId,
      document: null,
      origin: null,
      descent: { ...descent, ...defined({ call }) },
      isPart: true,
      beside: { files: [], leftOut: [], others: [] },
      fingerprint: null,
    };
  });
}

/** Lines of a source that is stored in pieces; null for one that is stored whole. */
export function countLines({ source, document }: Pick<OpenSession, "source" | "document">): number | null {
  return document === null ? source.lineCount : null;
}

/** How messages call what a session is read from. */
export function nameOfInput(path: string): string {
  return path === "-" ? "Standard input" : path;
}
