// Which words are numbers worth remembering: three digits or more, or fewer with a unit. Line numbers of listings and
// timestamps are none.

const NUMBER = /^[-+~]?(\d{1,20}(?:[,_]\d{3}){0,6}(?:\.\d{1,20})?)(%|[A-Za-z]{1,5})?$/;
const UNITS: ReadonlySet<string> = new Set(
  "% ns us ms s sec secs min mins h hrs b kb mb gb tb kib mib gib tib k m g px em rem x hz khz mhz ghz fps".split(" "),
);
/** Units that stand behind a blank; `s` and `x` alone would be words. */
const UNIT_WORDS: ReadonlySet<string> = new Set(
  (
    "ns ms sec secs second seconds min mins minute minutes hour hours day days bytes kb mb gb tb kib mib gib tib " +
    "tokens percent px hz khz mhz ghz fps"
  ).split(" "),
);
/** Longest number with its unit, characters. */
const LONGEST = 48;
/** Fewest digits of a number without a unit, leading zeros apart. */
const FEWEST_DIGITS = 3;
/** Seconds and milliseconds since 1970, of this quarter of a century. */
const TIMESTAMP = /^1[5-9]\d{8}(?:\d{3})?$/;

/** A number as it is compared: digits without groups, and its unit in small letters. */
export interface NumberWord {
  /** Without sign and group marks, e.g. `1234.5`. */
  readonly digits: string;
  /** Empty = none. */
  readonly unit: string;
}

/** Gives the number that `text.slice(start, end)` is, with a unit behind it or in the next word; null when it is none. */
export function numberAt(text: string, start: number, end: number): NumberWord | null {
  if (end - start > LONGEST || !mayBeNumber(text.charCodeAt(start))) return null;
  const match = NUMBER.exec(text.slice(start, end));
  if (match === null) return null;
  const [, written = "", attached = ""] = match;
  const unit = attached === "" ? unitAfter(text, end) : attached.toLowerCase();
  if (attached !== "" && !UNITS.has(unit)) return null;
  const digits = match[0].length > FEWEST_DIGITS ? written.replace(/[,_]/g, "") : written;
  if (unit !== "") return { digits, unit };
  const tooFew = digits.replace(".", "").replace(/^0+/, "").length < FEWEST_DIGITS;
  return tooFew || TIMESTAMP.test(digits) || isLineNumber(text, start, end) ? null : { digits, unit };
}

/** Writes a number as a fact: `1234`, `45%`, `12 ms`, `3x`; read again it gives itself. */
export function formatNumber({ digits, unit }: NumberWord): string {
  return UNIT_WORDS.has(unit) ? `${digits} ${unit}` : `${digits}${unit}`;
}

/** A digit, or a sign before one. */
function mayBeNumber(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x7e;
}

function unitAfter(text: string, end: number): string {
  if (text.charCodeAt(end) !== 0x20) return "";
  let stop = end + 1;
  while (stop < end + 10 && isLetter(text.charCodeAt(stop))) stop += 1;
  const word = text.slice(end + 1, stop).toLowerCase();
  return UNIT_WORDS.has(word) ? word : "";
}

function isLetter(code: number): boolean {
  return (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
}

/** At the start of a line and followed by what listings put between number and text. */
function isLineNumber(text: string, start: number, end: number): boolean {
  const next = text[end];
  if (next !== "→" && next !== "\t" && next !== "|" && next !== "│" && next !== ":") return false;
  let before = start - 1;
  while (before >= start - 12 && text.charCodeAt(before) === 0x20) before -= 1;
  return before < 0 || text.charCodeAt(before) === 0x0a;
}
