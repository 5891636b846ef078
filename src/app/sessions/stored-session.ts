// What the store already holds of a session file: its pieces, compared with the file by object id, without parsing it.
import { attachmentPath } from "../../core/conversation/attachment.ts";
import { isDocumentPath, sourcePath, turnIndexOfSource } from "../../core/conversation/turn-file.ts";
import type { ConversationStore, TreeFile } from "../../store/store.ts";
import { type BranchTree, collectBlobs } from "../branch/branch-tree.ts";
import { blobId } from "../workspace/object-id.ts";
import type { ByteSource } from "./buffer-source.ts";
import { parseReference } from "./source-pieces.ts";

/** How a file stands to the stored bytes; `rewritten`: a document, of which bytes tell no more than that it is another. */
export type SourceComparison = "same" | "shorter" | "longer" | "different" | "rewritten";

/** The pieces of one session on a branch, in order, sizes known. */
export async function listPieces(
  store: ConversationStore,
  commit: string,
  session: string,
): Promise<readonly TreeFile[]> {
  const files = await store.listTree(commit, { under: [`sources/${session}`], sizes: true });
  return files.filter((file) => !file.path.startsWith(`sources/${session}/files/`));
}

/** The pieces of a session of so many turns from a turn on, in order; without it, all. */
export async function listPiecesFrom(
  store: ConversationStore,
  commit: string,
  {
    session,
    firstTurn,
    turnCount,
  }: { readonly session: string; readonly firstTurn: number; readonly turnCount: number },
): Promise<readonly TreeFile[]> {
  const folders = new Set<string>();
  for (let turn = firstTurn; firstTurn > 0 && turn < turnCount; turn++)
    folders.add(sourcePath(session, turn).replace(/\/[^/]*$/, ""));
  const under = folders.size === 0 ? [`sources/${session}`] : [...folders];
  const files = await store.listTree(commit, { under });
  return files.filter(
    ({ path }) => !path.startsWith(`sources/${session}/files/`) && (turnIndexOfSource(path) ?? firstTurn) >= firstTurn,
  );
}

/** Object ids of the side files of one session on a branch, by path below the session's folder. */
export async function listStoredSideFiles(
  store: ConversationStore,
  commit: string,
  session: string,
): Promise<ReadonlyMap<string, string>> {
  const folder = `sources/${session}/files/`;
  const files = await store.listTree(commit, { under: [folder.slice(0, -1)] });
  return new Map(files.map((file) => [file.path.slice(folder.length), file.oid]));
}

/** Compares a file with stored pieces: of lines, `shorter` and `longer` say that one is a beginning of the other. */
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

/** Where the stored stretch of each turn begins in the file, in bytes, by turn; and where the newest one ends. A document has none. */
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

/** The imported bytes of a session, piece by piece; of a tree that ends before its commit's last turn, those up to there. */
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

/** The blob that holds a piece's own bytes: the piece, or the attachment an overlong line was moved to. */
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
