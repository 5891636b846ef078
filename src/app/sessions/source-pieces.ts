// The imported bytes, verbatim, cut into pieces at the line where each turn opens (docs/FORMAT.md §6). Concatenating the pieces
// of one session in order gives the file back exactly.
import { attachmentPath } from "../../core/conversation/attachment.ts";
import { sourcePath } from "../../core/conversation/turn-file.ts";
import type { FileChange } from "../../store/store.ts";
import { sha256 } from "../workspace/object-id.ts";
import type { ByteSource } from "./buffer-source.ts";

/** A stretch of the file that is stored under one path. Offsets in bytes, end exclusive. */
export interface SourcePiece {
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

/** Sizes at which pieces are cut, in bytes. */
export interface PieceLimits {
  /** A longer piece is cut at line ends: hosts warn above it. */
  readonly piece: number;
  /** A longer line becomes an attachment of its own: hosts refuse files near 100 MB. */
  readonly line: number;
}

/** The sizes in force; smaller ones in tests. */
export const PIECE_LIMITS: PieceLimits = { piece: 25 * 1024 * 1024, line: 50 * 1024 * 1024 };

/**
 * Cuts the stretch of one turn, lines `[first, end)`, into pieces. `turn` is the position under which they are stored.
 */
export function cutPieces(
  source: ByteSource,
  stretch: { readonly session: string; readonly turn: number; readonly first: number; readonly end: number },
  limits: PieceLimits = PIECE_LIMITS,
): SourcePiece[] {
  const cuts: number[] = [source.lineStart(stretch.first)];
  const end = source.lineStart(stretch.end);
  for (let line = stretch.first; end - (cuts[0] ?? 0) > limits.piece && line < stretch.end; line++) {
    const [from, to] = [source.lineStart(line), source.lineStart(line + 1)];
    const open = cuts[cuts.length - 1] ?? 0;
    if (from > open && (to - open > limits.piece || to - from > limits.line)) cuts.push(from);
    if (to - from > limits.line && to < end) cuts.push(to);
  }
  return cuts.map((start, index) => ({
    path: sourcePath(stretch.session, stretch.turn, index),
    start,
    end: cuts[index + 1] ?? end,
  }));
}

/** The changes that store a piece: its bytes, or for one overlong line a reference and the attachment. */
export function pieceChanges(source: ByteSource, piece: SourcePiece, limits: PieceLimits = PIECE_LIMITS): FileChange[] {
  const bytes = source.slice(piece.start, piece.end);
  if (bytes.length <= limits.line) return [{ path: piece.path, bytes }];
  const name = `${sha256(bytes)}.jsonl`;
  return [
    { path: piece.path, bytes: referenceTo(name) },
    { path: attachmentPath(name), bytes },
  ];
}

/** The one-line piece that stands for an overlong line. */
export function referenceTo(attachment: string): Uint8Array {
  return new TextEncoder().encode(`{"$attachment":"${attachment}"}\n`);
}

/** The attachment a piece refers to, or null when it holds the source's own bytes. */
export function parseReference(piece: Uint8Array): string | null {
  if (piece.byteLength > 200) return null;
  return /^\{"\$attachment":"([0-9a-f]{64}\.jsonl)"\}\n$/.exec(new TextDecoder().decode(piece))?.[1] ?? null;
}
