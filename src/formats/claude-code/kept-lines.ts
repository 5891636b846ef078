// What a compaction of the agent's leaves as it was: the lines that its boundary names, or, in some versions, those from one to
// another by the links of the file. They stand behind the summary, or, where the user had later turns summarised, before it.
import { type RawLine, recordOf, stringOf, stringsOf } from "../json-line.ts";

/** What a boundary says of the lines that it keeps. */
export interface Kept {
  /** Their uuids in order; absent = they are a segment. */
  readonly named?: readonly string[];
  readonly segment?: { readonly head: string; readonly tail: string };
  /** Whether they stand before the summary. */
  readonly isBefore: boolean;
}

/** Reads it from a boundary; absent where it keeps nothing. */
export function readKept(boundary: RawLine): Kept | undefined {
  const compact = recordOf(boundary, "compactMetadata") ?? {};
  const messages = recordOf(compact, "preservedMessages");
  const segment = recordOf(compact, "preservedSegment") ?? {};
  const anchor = stringOf(messages ?? segment, "anchorUuid");
  const isBefore = anchor !== undefined && anchor === stringOf(boundary, "uuid");
  if (messages !== undefined) return { named: stringsOf(messages, "uuids"), isBefore };
  const head = stringOf(segment, "headUuid");
  const tail = stringOf(segment, "tailUuid");
  return head === undefined || tail === undefined ? undefined : { segment: { head, tail }, isBefore };
}

/** The uuids that it names. */
export function namesOfKept({ named, segment }: Kept): readonly string[] {
  return named ?? (segment === undefined ? [] : [segment.head, segment.tail]);
}

interface Linked {
  readonly uuid?: string;
}

/** Finds the lines, in order; none of a segment whose head does not stand above its tail. */
export function findKept<Entry extends Linked>(
  { named, segment }: Kept,
  nodes: ReadonlyMap<string, Entry>,
  parentOf: (entry: Entry) => Entry | undefined,
): readonly Entry[] {
  if (segment === undefined) return (named ?? []).flatMap((uuid) => nodes.get(uuid) ?? []);
  const found = new Set<Entry>();
  let at = nodes.get(segment.tail);
  while (at !== undefined && !found.has(at)) {
    found.add(at);
    if (at.uuid === segment.head) return [...found].reverse();
    at = parentOf(at);
  }
  return [];
}
