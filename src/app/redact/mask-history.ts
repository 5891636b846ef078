// Writes a history anew with masks in it: each file of each commit, and what commits say.

import { attachmentPath } from "../../core/conversation/attachment.ts";
import { turnIndexOfPath } from "../../core/conversation/turn-file.ts";
import type { Masker } from "../../core/secrets/mask.ts";
import { isForkMergeMessage } from "../../store/messages.ts";
import type { FileChange, HistoryChange, HistoryCommit, NewHistoryCommit, Signature } from "../../store/store.ts";
import { collectBlobs } from "../branch/branch-tree.ts";
import { blobId, sha256 } from "../workspace/object-id.ts";
import { type MaskedHistory, type MaskState, maskFile, renameForks } from "./mask-file.ts";
import { isSourcePath } from "./mask-list.ts";

/** Masks commits, parents first; `objects` is told what became of each blob. */
export async function* maskHistory(
  history: readonly HistoryCommit[],
  masked: MaskedHistory,
  objects: Map<string, string>,
): AsyncGenerator<NewHistoryCommit> {
  const positions = new Map(history.map(({ commit }, position) => [commit, position]));
  const state: MaskState = { ...masked, objects, names: new Map() };
  for (const { commit, parents, author, committer, message, changes } of history) {
    yield {
      parents: parents.flatMap((parent) => positions.get(parent) ?? []),
      author: maskSignature(author, masked.masker),
      committer: maskSignature(committer, masked.masker),
      message: maskMessage(isForkMergeMessage(message) ? renameForks(message, masked) : message, masked.masker, (id) =>
        positions.has(id),
      ),
      changes: await maskChanges(state, commit, changes),
    };
  }
}

function maskSignature(signature: Signature, { mask }: Masker): Signature {
  return { ...signature, name: mask(signature.name), email: mask(signature.email) };
}

/** What a message quotes: there a secret may be cut, or stand in pieces behind the marks of its lines. */
const QUOTES = /^(`{3,})[a-z]*\n(?:.*\n)*?\1$/gm;

/** A subject ends where a line does; ids of commits of the old history, which stands nowhere else, say nothing. */
function maskMessage(message: string, masker: Masker, isOld: (commit: string) => boolean): string {
  return masker
    .maskLines(message.replace(QUOTES, "    (left out of the redacted copy; `jpg show` has it)"))
    .replace(/\b[0-9a-f]{40}\b/g, (id) => (isOld(id) ? "of the original" : id));
}

async function maskChanges(
  state: MaskState,
  commit: string,
  changes: readonly HistoryChange[],
): Promise<readonly FileChange[]> {
  const kept = changes.filter(({ path, special }) => special === undefined && isKept(state, path));
  const masked: FileChange[] = [];
  for (const change of kept.toSorted((a, b) => rankOf(a.path) - rankOf(b.path) || (a.path < b.path ? -1 : 1)))
    masked.push(await maskChange(state, commit, change));
  return masked;
}

function isKept({ attachments }: MaskState, path: string): boolean {
  if (isSourcePath(path)) return false;
  return !path.startsWith("attachments/") || attachments.has(attachmentOf(path));
}

function attachmentOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** What others name comes first: attachments, then turns, then records. */
function rankOf(path: string): number {
  if (path.startsWith("attachments/")) return 0;
  return turnIndexOfPath(path) === null ? 2 : 1;
}

async function maskChange(state: MaskState, commit: string, { path, oid }: HistoryChange): Promise<FileChange> {
  const isAttachment = path.startsWith("attachments/");
  if (oid === null)
    return { path: isAttachment ? newAttachmentPath(state, path) : maskPath(state, path), remove: true };
  const known = state.objects.get(oid);
  if (known !== undefined)
    return { path: isAttachment ? newAttachmentPath(state, path) : maskPath(state, path), oid: known };
  const [old = new Uint8Array()] = await collectBlobs(state.store, [oid]);
  const { bytes, isFinal } = await maskFile(state, { commit, path, bytes: old });
  const id = blobId(bytes);
  if (isFinal) state.objects.set(oid, id);
  if (turnIndexOfPath(path) !== null) state.names.set(oid, id);
  if (isAttachment) nameAttachment(state, path, bytes);
  const place = isAttachment ? newAttachmentPath(state, path) : maskPath(state, path);
  return id === oid ? { path: place, oid } : { path: place, bytes };
}

function maskPath({ masker }: MaskState, path: string): string {
  return path.split("/").map(masker.mask).join("/");
}

function nameAttachment({ names }: MaskState, path: string, bytes: Uint8Array): void {
  const old = attachmentOf(path);
  names.set(old, sha256(bytes) + old.slice(64));
}

function newAttachmentPath({ names }: MaskState, path: string): string {
  const name = names.get(attachmentOf(path));
  return name === undefined ? path : attachmentPath(name);
}
