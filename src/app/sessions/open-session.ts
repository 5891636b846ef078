// A session file that was read and whose format was detected, not yet parsed.
import { basename, dirname } from "node:path";
import { attachmentPath } from "../../core/conversation/attachment.ts";
import { isDocumentPath, turnIndexOfSource } from "../../core/conversation/turn-file.ts";
import { JpgError, userError } from "../../core/errors.ts";
import type { AgentFormat } from "../../formats/agent-format.ts";
import type { ExportOrigin } from "../../formats/imported-session.ts";
import type { SessionDescent, SessionPart, SessionSource, SessionStart } from "../../formats/session-source.ts";
import type { ConversationStore, TreeFile } from "../../store/store.ts";
import { blobId, type Runtime } from "../conversation/runtime.ts";
import { type BranchTree, collectBlobs } from "../conversation/tree.ts";
import { readSessionSource, type SessionFile } from "./session-files.ts";
import { detectFormat, formatByName } from "./session-registry.ts";
import { companionText, type Fingerprint, readAbout, readSideFiles, type SideFiles } from "./side-files.ts";
import { type ByteSource, createBufferSource, PIECE_LIMITS, type PieceLimits, parseReference } from "./sources.ts";

export interface OpenSession {
  readonly path: string;
  /** Named by the user, not found in a folder. */
  readonly named: boolean;
  readonly source: ByteSource;
  readonly format: AgentFormat;
  /** The extension of a source that is one document, stored whole; null = lines, stored in pieces. */
  readonly document: string | null;
  /** The conversation that it was exported from. */
  readonly origin: ExportOrigin | null;
  readonly sessionId: string;
  /** The text of the file about it in its folder; null = there is none. */
  readonly about: string | null;
  /** The text of its second file; null = there is none. */
  readonly companion: string | null;
  /** The session that it comes from; null if none. */
  readonly descent: SessionDescent | null;
  /** Where it begins; null if copies of it cannot be found by that. */
  readonly start: SessionStart | null;
  /** Whether it is a part of another session's file, so that its path alone cannot be read again. */
  readonly isPart: boolean;
  /** As in `SessionFile`. */
  readonly isSideFile: boolean;
  readonly sideFiles: SideFiles;
  /** The state of the files before they were read; null if it could not show a later change. */
  readonly fingerprint: Fingerprint | null;
  readonly allBranches: boolean;
  /** Whether to read it although the store has it. */
  readonly again: boolean;
  /** Sizes at which its source is cut. */
  readonly limits: PieceLimits;
}

/** Reads a session file. Throws `unreadable_file`, `empty_session`, `not_a_session`, `unknown_format`. */
export async function openSession(
  runtime: Runtime,
  file: SessionFile,
  how: {
    readonly format?: string;
    /** Gives the format where a plug-in has read the file. */
    readonly formatOf?: (source: SessionSource) => AgentFormat;
    readonly allBranches: boolean;
    readonly again?: boolean;
    readonly limits?: PieceLimits;
    readonly fingerprint?: Fingerprint | null;
  },
): Promise<OpenSession> {
  const source = await readSessionSource(runtime, file);
  const name = file.path === "-" ? "standard input" : file.path;
  if (source.byteLength === 0) {
    throw userError("empty_session", `${name} is empty.`, {
      hints: ["Nothing was imported: name the file of a session."],
    });
  }
  const named = how.format === undefined ? undefined : formatByName(how.format);
  const format = how.formatOf?.(source) ?? named ?? detectFormat(source, name);
  const sessionId = sessionIdOf(format, source, name);
  const sideFiles = await readSideFiles(file, { session: sessionId, rules: format.files });
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
    companion: companionText(file.path, sideFiles, format.files.companion),
    descent: format.descent?.(source, about, folderOf(file)) ?? null,
    start: format.start?.(source) ?? null,
    isPart: false,
    isSideFile: file.isSideFile === true,
    sideFiles,
    fingerprint: how.fingerprint ?? null,
    allBranches: how.allBranches,
    again: how.again === true,
    limits: how.limits ?? PIECE_LIMITS,
  };
}

function folderOf({ path }: SessionFile): string {
  return path === "-" ? "" : basename(dirname(path));
}

/** The session's id. Throws if the file, whose format was named, is no session. */
function sessionIdOf(format: AgentFormat, source: ByteSource, name: string): string {
  try {
    return format.sessionId(source) ?? format.read(source).sessionId;
  } catch (error) {
    if (!(error instanceof JpgError) || error.code !== "not_a_session") throw error;
    throw userError(error.code, error.message.replace(/^The file/, name), { hints: error.hints, data: error.data });
  }
}

/** Opens the sub-agents' sessions within a session's file. */
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
      descent: { ...descent, call: call ?? descent.call },
      start: null,
      isPart: true,
      sideFiles: { files: [], leftOut: [], others: [] },
      fingerprint: null,
    };
  });
}

/** Number of lines of a source that is stored in pieces; null for one that is stored whole. */
export function countLines({ source, document }: Pick<OpenSession, "source" | "document">): number | null {
  return document === null ? source.lineCount : null;
}

/** The name of a session's file in messages. */
export function nameOfInput(path: string): string {
  return path === "-" ? "Standard input" : path;
}

/** How a file compares with the stored bytes; `rewritten`: a document with other bytes. */
export type SourceComparison = "same" | "shorter" | "longer" | "different" | "rewritten";

/** The pieces of one session on a branch, in order, with sizes. */
export async function listPieces(
  store: ConversationStore,
  commit: string,
  session: string,
): Promise<readonly TreeFile[]> {
  const files = await store.listTree(commit, { under: [`sources/${session}`], sizes: true });
  return files.filter((file) => !file.path.startsWith(`sources/${session}/files/`));
}

/** Object ids of one session's side files on a branch, by path below the session's folder. */
export async function listStoredSideFiles(
  store: ConversationStore,
  commit: string,
  session: string,
): Promise<ReadonlyMap<string, string>> {
  const folder = `sources/${session}/files/`;
  const files = await store.listTree(commit, { under: [folder.slice(0, -1)] });
  return new Map(files.map((file) => [file.path.slice(folder.length), file.oid]));
}

/** Compares a file with stored pieces; for lines, `shorter` and `longer` mean that one is a beginning of the other. */
export async function compareSource(
  store: ConversationStore,
  commit: string,
  pieces: readonly TreeFile[],
  { source, document }: { readonly source: Pick<ByteSource, "byteLength" | "slice">; readonly document: string | null },
): Promise<SourceComparison> {
  const [only] = pieces;
  const isDocument = only !== undefined && isDocumentPath(only.path);
  if (isDocument !== (document !== null)) return "different";
  if (isDocument) return blobId(source.slice(0, source.byteLength)) === only.oid ? "same" : "rewritten";
  return compareLines(store, commit, pieces, source);
}

async function compareLines(
  store: ConversationStore,
  commit: string,
  pieces: readonly TreeFile[],
  source: Pick<ByteSource, "byteLength" | "slice">,
): Promise<SourceComparison> {
  let at = 0;
  for (const piece of pieces) {
    const stored = await resolvePiece(store, commit, piece);
    const end = at + stored.size;
    if (end > source.byteLength) {
      const [whole] = await collectBlobs(store, [stored.oid]);
      const rest = source.slice(at, source.byteLength);
      return whole !== undefined && Buffer.compare(rest, whole.subarray(0, rest.length)) === 0
        ? "shorter"
        : "different";
    }
    if (blobId(source.slice(at, end)) !== stored.oid) return "different";
    at = end;
    if (at === source.byteLength && piece !== pieces[pieces.length - 1]) return "shorter";
  }
  return at === source.byteLength ? "same" : "longer";
}

/**
 * The byte offset in the file at which each turn's stored lines begin, by turn, and where the newest ends. Empty for a document.
 */
export async function locateStretches(
  store: ConversationStore,
  commit: string,
  pieces: readonly TreeFile[],
): Promise<{ readonly starts: ReadonlyMap<number, number>; readonly end: number }> {
  const starts = new Map<number, number>();
  let end = 0;
  for (const piece of pieces) {
    const turn = turnIndexOfSource(piece.path);
    if (turn !== null && !starts.has(turn)) starts.set(turn, end);
    end += (await resolvePiece(store, commit, piece)).size;
  }
  return { starts, end };
}

/** The imported bytes of a session, piece by piece; for a tree that ends at an earlier turn, those up to it. */
export async function* readSource(
  store: ConversationStore,
  { commit, atTurn = Number.POSITIVE_INFINITY }: Pick<BranchTree, "commit" | "atTurn">,
  session: string,
): AsyncGenerator<Uint8Array> {
  for (const piece of await listPieces(store, commit, session)) {
    if ((turnIndexOfSource(piece.path) ?? 0) > atTurn) continue;
    const stored = await resolvePiece(store, commit, piece);
    yield* store.readBlobs([stored.oid]);
  }
}

/** The blob with a piece's own bytes: the piece, or the attachment of an overlong line. */
async function resolvePiece(
  store: ConversationStore,
  commit: string,
  piece: TreeFile,
): Promise<{ oid: string; size: number }> {
  const own = { oid: piece.oid, size: piece.size ?? 0 };
  if (own.size > 200) return own;
  const [bytes] = await collectBlobs(store, [piece.oid]);
  const name = bytes === undefined ? null : parseReference(bytes);
  if (name === null) return own;
  const [file] = await store.listTree(commit, { under: [attachmentPath(name)], sizes: true });
  return file === undefined ? own : { oid: file.oid, size: file.size ?? 0 };
}
