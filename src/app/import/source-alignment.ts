// Keeps the stored pieces of a session those of its file: where a turn's stretch of the file grew or moved (side lines, a
// path that was left and taken up again), what the branch holds is written again, so that its pieces still make the file.

import { documentPath } from "../../core/conversation/turn-file.ts";
import { appendAll } from "../../core/lists.ts";
import type { ConversationStore, FileChange } from "../../store/store.ts";
import type { ByteSource } from "../sessions/buffer-source.ts";
import type { SideFile } from "../sessions/side-files.ts";
import { cutPieces, type PieceLimits, pieceChanges } from "../sessions/source-pieces.ts";
import { listPiecesFrom, listStoredSideFiles } from "../sessions/stored-session.ts";
import { blobId } from "../workspace/object-id.ts";
import type { TurnSequence } from "./turn-sequence.ts";

export interface SourceStretches {
  readonly sequence: Pick<TurnSequence, "turnCount" | "firstRead" | "lines">;
  readonly source: ByteSource;
  /** Extension of a source that is one document; null = lines. */
  readonly document: string | null;
  readonly session: string;
  readonly limits: PieceLimits;
}

/** The changes that make the pieces at a commit those of the file, but for those of the turns from `firstTurn` on. */
export async function alignPieces(
  store: ConversationStore,
  commit: string,
  work: SourceStretches & { readonly firstTurn: number },
): Promise<FileChange[]> {
  const { firstRead, turnCount } = work.sequence;
  const pieces = await listPiecesFrom(store, commit, { session: work.session, firstTurn: firstRead, turnCount });
  const stored = new Map(pieces.map((file) => [file.path, file.oid]));
  const changes: FileChange[] = [];
  if (work.document !== null) stored.delete(documentPath(work.session, work.document));
  for (let turn = firstRead; turn < turnCount; turn++) {
    const lines = work.sequence.lines(turn);
    if (lines === null) continue;
    for (const piece of cutPieces(work.source, { session: work.session, turn, ...lines }, work.limits)) {
      const oid = stored.get(piece.path);
      stored.delete(piece.path);
      if (turn >= work.firstTurn) continue;
      const [change, ...attachments] = pieceChanges(work.source, piece, work.limits);
      if (change !== undefined && "bytes" in change && blobId(change.bytes) !== oid)
        appendAll(changes, [change, ...attachments]);
    }
  }
  return [...changes, ...[...stored.keys()].map((path): FileChange => ({ path, remove: true }))];
}

/** Whether the branch holds all side files as they are now. */
export async function hasSideFiles(
  store: ConversationStore,
  commit: string,
  session: { readonly id: string; readonly sideFiles: readonly SideFile[] },
): Promise<boolean> {
  if (session.sideFiles.length === 0) return true;
  const stored = await listStoredSideFiles(store, commit, session.id);
  return session.sideFiles.every((file) => stored.get(file.path) === blobId(file.bytes));
}
