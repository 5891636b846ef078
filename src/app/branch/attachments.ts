// Reads the payloads that events refer to, all at once, and puts them back.
import { repositoryError } from "../../core/errors.ts";
import { attachmentPath, attachmentsOf, inline, needsInlining } from "../../core/event/attachment.ts";
import type { Event } from "../../core/event/event.ts";
import type { View } from "../../core/projection/view.ts";
import type { ConversationStore } from "../../store/conversation-store.ts";
import { collectBlobs } from "./branch-tree.ts";

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
    if (bytes === undefined) {
      throw repositoryError("attachment_missing", `Attachment ${name} is not in the tree of ${commit.slice(0, 9)}.`, {
        hints: ["`jpg git fsck` checks the store; `jpg git log --diff-filter=D -- attachments` shows what removed it."],
      });
    }
    return bytes;
  };
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

/** Reads the long texts that the events refer to. Gives an event with them; its images and documents stay references. */
export async function readTexts(
  store: ConversationStore,
  commit: string,
  events: readonly Event[],
): Promise<(event: Event) => Event> {
  const read = await readAttachments(store, commit, events.filter(refersToText));
  return (event) => (refersToText(event) ? inline(event, (name) => (isTextName(name) ? read(name) : null)) : event);
}

function refersToText(event: Event): boolean {
  return attachmentsOf(event).some(isTextName);
}

/** Long texts are kept under such names. */
function isTextName(name: string): boolean {
  return name.endsWith(".txt");
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
