// What a person writes for an end of a range: a position, a time ago, or `last`. Resolved once into turn positions
// (bound-resolution.ts), when the compaction is made.
import { type JpgError, userError } from "../errors.ts";
import { joinRuns, type TurnRange } from "./event.ts";

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
  /** Like `last`, among compactions that replace turns; nobody types it. */
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

/** Longest time ago that is accepted, milliseconds: 1000 years. */
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

/** The first so many forms name one turn. */
const TURN_FORMS = 3;

/** Parses a bound; days and moments need a calendar. Throws `bad_bound` listing the forms. */
export function parseBound(text: string, calendar?: Calendar): RangeBound {
  const bound = readBound(text.trim()) ?? readTime(text.trim(), calendar);
  if (bound !== null) return bound;
  throw badBound(text);
}

/** The error of a word that is no bound; `hints` follow the forms of a bound. */
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

/** The error of a word that names no turn; `hints` follow the forms. */
export function badTurnBound(text: string, hints: readonly string[] = []): JpgError {
  return userError("bad_bound", `"${text}" is not a turn: expected a turn's number, or an event of a turn.`, {
    data: { bound: text },
    hints: [...FORMS.slice(0, TURN_FORMS), ...hints],
  });
}

/** A range as a person writes it: `3..7`, `..7`, `3..`, `5h..1h`, or `5` for that turn alone. An end that is left out is open. */
export interface WrittenRange {
  readonly text: string;
  readonly from?: RangeBound;
  readonly to?: RangeBound;
}

/** Between the ends of a range. */
const BETWEEN = "..";

/** Whether a word has two bounds, or one and an open end; a single bound is no range by its looks. */
export function isRange(word: string): boolean {
  const ends = splitRange(word);
  return ends?.some((end) => end !== "") === true && ends.every((end) => end === "" || isBound(end));
}

/** Whether a word is a range, or a turn that stands for a range of one. */
export function isTurnsOrRange(word: string): boolean {
  return isRange(word) || readTurn(word)?.type === "turn" || readTurn(word)?.type === "before_last";
}

/** Parses a range, or a turn alone. Throws `bad_bound` listing the forms of its ends. */
export function parseRange(text: string, calendar?: Calendar): WrittenRange {
  const ends = splitRange(text);
  if (ends === null) {
    const bound = readTurn(text.trim());
    if (bound === null) throw badBound(text);
    return { text, from: bound, to: bound };
  }
  if (ends.every((end) => end === "")) throw badBound(text);
  const [from, to] = ends.map((end) => (end === "" ? undefined : parseBound(end, calendar)));
  return { text, from, to };
}

/** The two sides of `A..B`; null without the dots. */
function splitRange(text: string): readonly [string, string] | null {
  const at = text.indexOf(BETWEEN);
  return at < 0 ? null : [text.slice(0, at).trim(), text.slice(at + BETWEEN.length).trim()];
}

/** Creates the bound of a turn, or of an event inside it. */
export function boundAt(turn: number, event?: string): RangeBound {
  return event === undefined ? { type: "turn", turn } : { type: "event", turn, event };
}

/** Parses the start given by a day, a moment or a time ago, milliseconds since 1970; null when it is none of these. */
export function parseSince(text: string, calendar: Calendar, nowMs: number): number | null {
  const ago = readDuration(text.trim());
  return ago === null ? (parseTime(text.trim(), calendar)?.fromMs ?? null) : nowMs - ago;
}

/** Whether a word has the form of a bound, so that `--from` may take it. A date that does not exist counts: its error lists the forms. */
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

// Days and moments as a person writes them: `today`, `yesterday`, an ISO date, an ISO date with a time. Without a zone they are
// in the person's time zone, which only the calendar knows.

/** The user's calendar. */
export interface Calendar {
  /** The first moment of a day: 0 = today, 1 = yesterday. */
  startOfDay(daysAgo: number): Date;
  /** A moment in the user's time zone; months count from 1. Fields that are too large overflow into the next. */
  localTime(fields: LocalTime): Date;
}

interface LocalTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hours?: number;
  readonly minutes?: number;
  readonly seconds?: number;
}

/** A period, or a moment when both are equal; milliseconds since 1970, `untilMs` is the first outside. */
interface TimeSpan {
  readonly fromMs: number;
  readonly untilMs: number;
}

const FORM = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/i;
const DAYS: Readonly<Record<string, number>> = { today: 0, yesterday: 1 };

/** Whether a text names a day or a moment. */
export function isTime(text: string): boolean {
  return Object.hasOwn(DAYS, text) || readFields(text) !== null;
}

/** Parses a day or a moment; null when the text names none. */
export function parseTime(text: string, calendar: Calendar): TimeSpan | null {
  const daysAgo = Object.hasOwn(DAYS, text) ? DAYS[text] : undefined;
  if (daysAgo !== undefined)
    return { fromMs: calendar.startOfDay(daysAgo).getTime(), untilMs: calendar.startOfDay(daysAgo - 1).getTime() };
  const read = readFields(text);
  if (read === null) return null;
  const { fields, zoneMinutes } = read;
  if (fields.hours === undefined) {
    const next = calendar.localTime({ ...fields, day: fields.day + 1 });
    return { fromMs: calendar.localTime(fields).getTime(), untilMs: next.getTime() };
  }
  const ms = zoneMinutes === null ? calendar.localTime(fields).getTime() : utcOf(fields) - zoneMinutes * 60_000;
  return { fromMs: ms, untilMs: ms };
}

/** The fields of a date that exists, and its zone in minutes east of UTC; null when the text is none. */
function readFields(text: string): { readonly fields: LocalTime; readonly zoneMinutes: number | null } | null {
  const match = FORM.exec(text);
  if (match === null) return null;
  const [year = 0, month = 0, day = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1, 7)
    .map((word) => Number(word ?? 0));
  const isReal =
    month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month) && hours < 24 && minutes < 60 && seconds < 60;
  if (!isReal) return null;
  const fields = { year, month, day, ...(match[4] === undefined ? {} : { hours, minutes, seconds }) };
  return { fields, zoneMinutes: match[7] === undefined ? null : minutesOf(match[7]) };
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** `Z`, `+01:00` or `+0100`. */
function minutesOf(zone: string): number {
  const match = /^([+-])(\d\d):?(\d\d)$/.exec(zone);
  if (match === null) return 0;
  return (Number(match[2]) * 60 + Number(match[3])) * (match[1] === "-" ? -1 : 1);
}

function utcOf({ year, month, day, hours = 0, minutes = 0, seconds = 0 }: LocalTime): number {
  return Date.UTC(year, month - 1, day, hours, minutes, seconds);
}

/** Parses a list of turns into runs, 0-based, inclusive, ascending and apart from each other. Throws `bad_turns`. */
export function parseTurnList(text: string): readonly TurnRange[] {
  return joinRuns(text.split(",").map((word) => parseRun(word.trim(), text)));
}

function parseRun(word: string, text: string): TurnRange {
  const match = /^(\d{1,9})(?:(?:-|\.\.)(\d{1,9}))?$/.exec(word);
  const from = Number(match?.[1]);
  const to = match?.[2] === undefined ? from : Number(match[2]);
  if (match !== null && from <= to) return { from, to };
  throw userError("bad_turns", `A list of turns is turn positions like 3,5-7; got "${text}".`, {
    hints: ["`jpg print` shows the turns."],
  });
}
