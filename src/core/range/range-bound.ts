// What a person writes to say where a range begins or ends: a position, a time ago, or `last`. It is resolved once into
// turn positions (bound-resolution.ts) when the compaction is made.
import { type Calendar, isTime, parseTime } from "../calendar-time.ts";
import { type JpgError, userError } from "../errors.ts";

export type RangeBound =
  /** `5`: that turn, 0-based. */
  | { readonly type: "turn"; readonly turn: number }
  /** `5:EVENT`: up to that event of the turn, or from it on; an event id or a unique prefix of one. */
  | { readonly type: "event"; readonly turn: number; readonly event: string }
  /** `-3`: three turns before the last; `turns` >= 0. */
  | { readonly type: "before_last"; readonly turns: number }
  /** `5h`, `2d 3h`: that long ago, in milliseconds. */
  | { readonly type: "ago"; readonly ms: number }
  /** `yesterday`, `2026-11-22`, `2026-11-22 10:30`: a day from its first moment to its last, or a moment. Milliseconds since 1970. */
  | { readonly type: "time"; readonly fromMs: number; readonly untilMs: number }
  /** `last`: where the compaction that reaches furthest ended. */
  | { readonly type: "last" }
  /** The same among the compactions that stand for turns by a summary; nobody types it. */
  | { readonly type: "last_summary" };

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Milliseconds of each unit; months and years are left out because their length varies. */
const UNITS: Readonly<Record<string, number>> = {
  s: SECOND,
  sec: SECOND,
  second: SECOND,
  m: MINUTE,
  min: MINUTE,
  minute: MINUTE,
  h: HOUR,
  hr: HOUR,
  hour: HOUR,
  d: DAY,
  day: DAY,
  w: 7 * DAY,
  week: 7 * DAY,
};

/** Longest time ago that means something, milliseconds: 1000 years. */
const MAX_AGO = 365_250 * DAY;

const LIKE_A_DATE = /^\d{4}-\d{1,2}-\d{1,2}(?:[T ].*)?$/;

/** The forms of a bound, for help and errors. */
const FORMS = [
  "5         turn 5, counted from 0",
  "5:EVENT   that event of turn 5",
  "-3        three turns before the last",
  "5h        a time ago: 90m, 5h, 2d 3h, 1w",
  "today     a day: today, yesterday, 2026-11-22",
  "2026-11-22T10:30  a moment, in your time zone unless it names one (Z, +01:00)",
  "last      where the last compaction ended",
];

/** How many of the forms name one turn. */
const TURN_FORMS = 3;

/** Parses a bound; days and moments need a calendar. Throws `bad_bound` listing the forms. */
export function parseBound(text: string, calendar?: Calendar): RangeBound {
  const bound = readBound(text.trim()) ?? readTime(text.trim(), calendar);
  if (bound !== null) return bound;
  throw badBound(text);
}

/** The error of a word that is no bound; `hints` stand below the forms of a bound. */
export function badBound(text: string, hints: readonly string[] = []): JpgError {
  return userError(
    "bad_bound",
    `"${text}" is not a range bound: expected a turn, an event of a turn, a time or "last".`,
    {
      data: { bound: text },
      hints: [...FORMS, ...hints],
    },
  );
}

/** A bound that names one turn, or an event of it. */
export type TurnBound = Extract<RangeBound, { readonly type: "turn" | "event" | "before_last" }>;

/** Parses what names one turn, or an event of it. Throws `bad_bound` listing the forms. */
export function parseTurnBound(text: string): TurnBound {
  const bound = readTurn(text.trim());
  if (bound === null) throw badTurnBound(text);
  return bound;
}

/** The error of a word that names no turn; `hints` stand below the forms. */
export function badTurnBound(text: string, hints: readonly string[] = []): JpgError {
  return userError("bad_bound", `"${text}" is not a turn: expected a turn's number, or an event of a turn.`, {
    data: { bound: text },
    hints: [...FORMS.slice(0, TURN_FORMS), ...hints],
  });
}

/** Gives the bound of a turn, or of an event inside it. */
export function boundAt(turn: number, event?: string): RangeBound {
  return event === undefined ? { type: "turn", turn } : { type: "event", turn, event };
}

/** Parses a day, a moment or a time ago: from when on, milliseconds since 1970; null when it is none of these. */
export function parseSince(text: string, calendar: Calendar, nowMs: number): number | null {
  const ago = readDuration(text.trim());
  return ago === null ? (parseTime(text.trim(), calendar)?.fromMs ?? null) : nowMs - ago;
}

/** Whether a word is meant as a bound, so that `--from` may take it. A date that does not exist is one: its error says what may be. */
export function isBound(text: string): boolean {
  return readBound(text.trim()) !== null || isTime(text.trim()) || LIKE_A_DATE.test(text.trim());
}

function readTime(text: string, calendar: Calendar | undefined): RangeBound | null {
  const span = calendar === undefined ? null : parseTime(text, calendar);
  return span === null ? null : { type: "time", ...span };
}

function readBound(text: string): RangeBound | null {
  if (text === "last") return { type: "last" };
  const ms = readDuration(text);
  return ms === null ? readTurn(text) : { type: "ago", ms };
}

function readTurn(text: string): TurnBound | null {
  if (/^\d{1,9}$/.test(text)) return { type: "turn", turn: Number(text) };
  if (/^-\d{1,9}$/.test(text)) return { type: "before_last", turns: Number(text.slice(1)) };
  const event = /^(\d{1,9}):(\S+)$/.exec(text);
  return event?.[2] === undefined ? null : { type: "event", turn: Number(event[1]), event: event[2] };
}

/** Reads `2d 3h`, `90m`, `1 week`; null when it is no duration. */
function readDuration(text: string): number | null {
  if (!/^(\d{1,9}\s*[a-z]+\s*)+$/i.test(text)) return null;
  let total = 0;
  for (const [, amount, name = ""] of text.matchAll(/(\d+)\s*([a-z]+)/gi)) {
    const unit = unitOf(name.toLowerCase());
    if (unit === undefined) return null;
    total += Number(amount) * unit;
  }
  return total <= MAX_AGO ? total : null;
}

function unitOf(name: string): number | undefined {
  if (Object.hasOwn(UNITS, name)) return UNITS[name];
  const singular = name.length > 2 && name.endsWith("s") ? name.slice(0, -1) : name;
  return Object.hasOwn(UNITS, singular) ? UNITS[singular] : undefined;
}
