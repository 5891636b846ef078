// What people say of a conversation: title, marks, pins, comments.
import { userError } from "../errors.ts";
import { forLine } from "../safe-text.ts";
import { type Event, type Turn, traitsOf } from "./event.ts";
import { pairCalls } from "./tool-pairing.ts";

/** Longest title, characters (code points). */
const LONGEST_TITLE = 200;
/** Longest title that is derived from a request, characters. */
const LONGEST_MADE = 80;

/** Parses a title that a person typed. Throws `empty_title`, `long_title`. */
export function parseTitle(text: string): string {
  const title = forLine(text);
  const length = [...title].length;
  if (title === "") {
    throw userError("empty_title", "A title must hold at least one character that is not blank.", {
      hints: ['`jpg title @ "Fix the parser"`'],
    });
  }
  if (length > LONGEST_TITLE) {
    throw userError("long_title", `A title has at most ${LONGEST_TITLE} characters; this one has ${length}.`, {
      hints: ["Give a shorter one; the details are in the conversation."],
    });
  }
  return title;
}

/** Makes a stored title safe to show and export; "" when nothing is left of it. */
export function shownTitle(text: string): string {
  return cutTitle(text, LONGEST_TITLE);
}

/** Makes a title of the first words of a request; "" when it has none. */
export function titleOfRequest(text: string): string {
  return cutTitle(text, LONGEST_MADE);
}

// What jpg calls a session that it writes for an agent to resume: the title, and how long the view is. A list of an agent cuts long
// names at their end, so the title is short.

/** Longest title before the mark, characters. */
const LONGEST_RESUMED = 48;
const RESUMED_MARK = / \(jpg \d+(?:\.\d)?[kM]?\)$/;

/** Names a session in its agent's list, e.g. `Fix the parser (jpg 45k)`; `tokens` of the view. */
export function resumedTitle(title: string, tokens: number): string {
  const thousands = Math.round(tokens / 1000);
  const size =
    tokens < 1000
      ? `${Math.round(tokens)}`
      : thousands < 1000
        ? `${thousands}k`
        : `${(tokens / 1_000_000).toFixed(1)}M`;
  return `${cutTitle(title, LONGEST_RESUMED)} (jpg ${size})`;
}

/** Whether jpg named a session so; such a name is no title of the conversation. */
export function isResumedTitle(title: string): boolean {
  return RESUMED_MARK.test(title);
}

function cutTitle(text: string, limit: number): string {
  const line = forLine(text, limit + 1);
  const characters = [...line];
  return characters.length <= limit
    ? line
    : `${characters
        .slice(0, limit - 1)
        .join("")
        .trimEnd()}…`;
}

// Pins: turns or events that every compaction leaves as they are. A pin is a record under meta/; which events it protects is
// resolved when a compaction is made, and stored there as `keep`.

/** What is pinned: a turn (0-based), or one event of it. */
export interface Pin {
  readonly turn: number;
  /** Id of the event; absent = the whole turn. */
  readonly event?: string;
}

/** A record under meta/ as far as pins go; other records have neither field. */
export interface PinRecord {
  readonly pin?: unknown;
  readonly unpin?: unknown;
}

/** Returns the pins in force, in the order in which they were made; `records` = all of meta/, oldest first. Skips damaged ones. */
export function pinsInForce(records: readonly PinRecord[]): readonly Pin[] {
  const pins = new Map<string, Pin>();
  for (const { pin, unpin } of records) {
    if (isPin(pin)) pins.set(keyOf(pin), pin);
    if (isPin(unpin)) pins.delete(keyOf(unpin));
  }
  return [...pins.values()];
}

/** Returns the turn in which a record pins or unpins something; null for other records. */
export function turnOfPin({ pin, unpin }: PinRecord): number | null {
  const named = [pin, unpin].find(isPin);
  return named?.turn ?? null;
}

export function isSamePin(a: Pin, b: Pin): boolean {
  return keyOf(a) === keyOf(b);
}

/**
 * Lists the ids of the events that pins protect, in order of the turns given. A pinned turn protects what a model is sent of
 * it; a pinned call also protects its result, and a result its call, because neither is valid alone.
 */
export function pinnedEvents(pins: readonly Pin[], turns: Iterable<Turn>): readonly string[] {
  if (pins.length === 0) return [];
  const all = [...turns];
  const partners = partnersOf(all);
  const ids = new Set<string>();
  for (const { index, events } of all) {
    const here = pins.filter(({ turn }) => turn === index);
    const isWhole = here.some(({ event }) => event === undefined);
    const named = new Set(here.map(({ event }) => event));
    for (const event of events) {
      if (!(isWhole || named.has(event.id)) || !traitsOf(event).providerVisible) continue;
      ids.add(event.id);
      for (const partner of partners.get(event) ?? []) ids.add(partner.id);
    }
  }
  return [...ids];
}

function partnersOf(turns: readonly Turn[]): ReadonlyMap<Event, readonly Event[]> {
  const partners = new Map<Event, Event[]>();
  const add = (event: Event, partner: Event): void => {
    partners.set(event, [...(partners.get(event) ?? []), partner]);
  };
  for (const [response, request] of pairCalls(turns, () => false)) {
    add(response, request);
    add(request, response);
  }
  return partners;
}

/** Whether a field of a record is a pin. */
export function isPin(value: unknown): value is Pin {
  if (typeof value !== "object" || value === null) return false;
  const { turn, event } = value as { readonly turn?: unknown; readonly event?: unknown };
  return Number.isSafeInteger(turn) && Number(turn) >= 0 && (event === undefined || typeof event === "string");
}

function keyOf({ turn, event }: Pin): string {
  return event === undefined ? String(turn) : `${turn}:${event}`;
}

// What a person says of a conversation in addition to its title: that it is archived, and its labels. Stored in records under
// meta/; the latest of each kind counts.

/** Longest label, characters (code points). */
const LONGEST_LABEL = 50;
/** Labels of one conversation that are shown: more come from elsewhere than jpg. */
const MOST = 50;

/** A record under meta/ as far as marks go. */
export interface MarkRecord {
  readonly archived?: unknown;
  readonly labels?: unknown;
}

interface ConversationMarks {
  readonly archived: boolean;
  /** Each once, ordered by name. */
  readonly labels: readonly string[];
}

/** Returns the marks in force; `records` = all of meta/, oldest first. Skips what is damaged. */
export function marksInForce(records: readonly MarkRecord[]): ConversationMarks {
  let archived = false;
  let labels: readonly string[] = [];
  for (const record of records) {
    if (typeof record.archived === "boolean") archived = record.archived;
    if (Array.isArray(record.labels)) labels = cleanLabels(record.labels);
  }
  return { archived, labels };
}

/** Parses a label that a person typed: one line without commas. Throws `bad_label`. */
export function parseLabel(text: string): string {
  const label = forLine(text).normalize("NFC");
  if (label !== "" && !label.includes(",") && [...label].length <= LONGEST_LABEL) return label;
  throw userError(
    "bad_label",
    `${JSON.stringify(forLine(text, LONGEST_LABEL))} is not a valid label: expected 1 to ${LONGEST_LABEL} characters, no comma.`,
    {
      hints: ["Several labels are several words: jpg label @ parser release"],
    },
  );
}

/** Sorts labels by name, each once. */
export function sortLabels(labels: Iterable<string>): readonly string[] {
  return [...new Set(labels)].sort((a, b) => (a < b ? -1 : 1));
}

function cleanLabels(values: readonly unknown[]): readonly string[] {
  const lines = values.flatMap((value) =>
    typeof value === "string" ? [forLine(value, LONGEST_LABEL).normalize("NFC")] : [],
  );
  return sortLabels(lines.filter((line) => line !== "")).slice(0, MOST);
}

// Comments of people on a turn or an event of it. Each is a record of its own under meta/, so that two people's comments merge
// without a conflict; a comment is removed by a later record that names it, or with its file.

/** Longest comment, characters (code points). */
const LONGEST_COMMENT = 10_000;

export interface Comment {
  /** Of its record. */
  readonly id: string;
  readonly timestamp: string;
  /** Position, 0-based. */
  readonly turn: number;
  /** Id of the event it is about; absent = the whole turn. */
  readonly event?: string;
  readonly text: string;
}

/** A record under meta/ as far as comments go; other records have neither field. */
export interface CommentRecord {
  readonly id: string;
  readonly timestamp: string;
  readonly comment?: unknown;
  /** Id of the record whose comment is removed. */
  readonly uncomment?: unknown;
}

/** Returns the comments in force in the order of the records; skips damaged ones. */
export function commentsInForce(records: readonly CommentRecord[]): readonly Comment[] {
  const removed = new Set(records.map(({ uncomment }) => uncomment));
  return records.flatMap((record) => (removed.has(record.id) ? [] : (commentOf(record) ?? [])));
}

/** Returns the comment in a record; null for other records and damaged ones. */
export function commentOf({ id, timestamp, comment }: CommentRecord): Comment | null {
  if (typeof comment !== "object" || comment === null) return null;
  const { turn, event, text } = comment as {
    readonly turn?: unknown;
    readonly event?: unknown;
    readonly text?: unknown;
  };
  if (!Number.isSafeInteger(turn) || Number(turn) < 0 || typeof text !== "string" || text.trim() === "") return null;
  if (event !== undefined && typeof event !== "string") return null;
  return { id, timestamp, turn: Number(turn), event, text };
}

/** Parses a comment that a person typed: trims its ends, keeps its lines. Throws `bad_comment`. */
export function parseComment(text: string): string {
  const said = text.replace(/\r\n?/g, "\n").trim();
  const { length } = [...said];
  if (length > 0 && length <= LONGEST_COMMENT) return said;
  const what = length === 0 ? "A comment needs a text." : `The comment has ${length} characters.`;
  throw userError("bad_comment", `${what} Expected 1 to ${LONGEST_COMMENT} characters.`, {
    hints: ['jpg comment 3 "Why was this left out?"', "`-` reads it from standard input."],
  });
}
