// Brings the payloads that were moved out of events back. Turns are read with their long texts in place, so that whatever
// counts, shows or searches an event has what was said; images and other binary payloads are read only for those who ask.

import {
  attachmentPath,
  attachmentsOf,
  inline,
  inlineTexts,
  needsInlining,
  textAttachmentsOf,
} from "../../core/conversation/attachment.ts";
import type { Event, Turn, View } from "../../core/conversation/event.ts";
import { JpgError, repositoryError } from "../../core/errors.ts";
import type { ConversationStore } from "../../store/store.ts";
import { type BranchTree, collectBlobs } from "./branch-tree.ts";
import { parseTurnBytes } from "./turn-bytes.ts";

/** Every reference in a turn file holds it. */
const REFERENCE = Buffer.from('$attachment"');

/** The file of a turn: its position, 0-based, and its object id. */
export interface TurnFile {
  readonly index: number;
  readonly oid: string;
}

/** The files of the turns at some positions. */
export function turnFiles({ turnOids }: Pick<BranchTree, "turnOids">, positions: readonly number[]): TurnFile[] {
  return positions.map((index) => ({ index, oid: turnOids[index] ?? "" }));
}

/**
 * Reads turns of a commit, in the order asked, with their long texts. A text that the store lacks stays a reference: it shows
 * as `[attachment NAME]` and counts as the least that is moved. Throws `malformed_line`, `object_missing`.
 */
export async function* readTurnFiles(
  store: ConversationStore,
  commit: string,
  files: readonly TurnFile[],
): AsyncGenerator<Turn> {
  let next = 0;
  for await (const bytes of store.readBlobs(files.map(({ oid }) => oid))) {
    const index = files[next++]?.index ?? 0;
    const events = parseTurnBytes(bytes, index);
    const holds = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(REFERENCE);
    yield { index, events: holds ? await withTexts(store, commit, events) : events };
  }
}

async function withTexts(
  store: ConversationStore,
  commit: string,
  events: readonly Event[],
): Promise<readonly Event[]> {
  const names = [...new Set(events.flatMap(textAttachmentsOf))];
  if (names.length === 0) return events;
  const oids = await store.readEntries(commit, names.map(attachmentPath));
  await store.partial?.bring([...oids.values()]);
  const texts = new Map<string, Uint8Array>();
  for (const name of names) {
    const bytes = await readHere(store, oids.get(attachmentPath(name)));
    if (bytes !== null) texts.set(name, bytes);
  }
  return events.map((event) => inlineTexts(event, (name) => texts.get(name) ?? null));
}

/** Null where the object is lost: `jpg fsck` tells of it. */
async function readHere(store: ConversationStore, oid: string | undefined): Promise<Uint8Array | null> {
  if (oid === undefined) return null;
  try {
    const [bytes = null] = await collectBlobs(store, [oid]);
    return bytes;
  } catch (error) {
    if (error instanceof JpgError && (error.code === "object_missing" || error.code === "store_damaged")) return null;
    throw error;
  }
}

/** Reads every payload the events refer to. Gives a look-up that throws `attachment_missing`. */
export async function readAttachments(
  store: ConversationStore,
  commit: string,
  events: Iterable<Event>,
): Promise<(name: string) => Uint8Array> {
  const names = new Set<string>();
  for (const event of events) for (const name of attachmentsOf(event)) names.add(name);
  const paths = [...names].map(attachmentPath);
  const oids = paths.length === 0 ? new Map<string, string>() : await store.readEntries(commit, paths);
  const blobs = await collectBlobs(store, [...oids.values()]);
  const byPath = new Map([...oids.keys()].map((path, index) => [path, blobs[index]]));
  return (name) => {
    const bytes = byPath.get(attachmentPath(name));
    if (bytes === undefined) throw attachmentMissing(name, commit);
    return bytes;
  };
}

function attachmentMissing(name: string, commit: string): Error {
  return repositoryError("attachment_missing", `Attachment ${name} is not in the tree of ${commit.slice(0, 9)}.`, {
    hints: ["`jpg git fsck` checks the store; `jpg git log --diff-filter=D -- attachments` shows what removed it."],
  });
}

/** Gives events with the payloads that they refer to. Throws `attachment_missing`. */
export async function inlineEvents(
  store: ConversationStore,
  commit: string,
  events: readonly Event[],
): Promise<readonly Event[]> {
  const read = await readAttachments(store, commit, events);
  return events.map((event) => inline(event, read));
}

/** Sees to it that events that were read have all their long texts. Throws `attachment_missing`. */
export function requireTexts(commit: string, events: Iterable<Event>): void {
  for (const event of events) for (const name of textAttachmentsOf(event)) throw attachmentMissing(name, commit);
}

/** A view whose events hold their payloads themselves, as exports need them. Turns without any are those handed in. */
export async function inlineView(store: ConversationStore, commit: string, view: View): Promise<View> {
  const marked = new Set(view.turns.flatMap(({ events }) => events.filter(needsInlining)));
  if (marked.size === 0) return view;
  const read = await readAttachments(store, commit, marked);
  const whole = (event: Event): Event => (marked.has(event) ? inline(event, read) : event);
  return {
    turns: view.turns.map((turn) =>
      turn.events.some((event) => marked.has(event)) ? { ...turn, events: turn.events.map(whole) } : turn,
    ),
  };
}
