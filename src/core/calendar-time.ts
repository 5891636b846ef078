// Days and moments as a person writes them: `today`, `yesterday`, an ISO date, an ISO date with a time. Without a zone they are
// meant where the person is; only the calendar knows where that is.

/** The user's calendar. */
export interface Calendar {
  /** The first moment of a day: 0 = today, 1 = yesterday. */
  startOfDay(daysAgo: number): Date;
  /** A moment in the user's time zone; months count from 1. Fields that are too large go over into the next. */
  localTime(fields: LocalTime): Date;
}

export interface LocalTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hours?: number;
  readonly minutes?: number;
  readonly seconds?: number;
}

/** A stretch of time, or a moment when both are equal; milliseconds since 1970, `untilMs` is the first that is outside. */
export interface TimeSpan {
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

/** The fields of a date that is in the calendar, and its zone in minutes east of UTC; null when the text is none. */
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
