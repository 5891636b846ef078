// Finds secrets in a text by jpg's own rules. Linear in the text. First private keys, then everything else.
import { createStartFinder } from "./first-characters.ts";
import { ISSUER_FORMS, type IssuerForms, MIDDLE_FORMS } from "./issuer-forms.ts";
import { decode, isDocumented, isRandom, looksRandom } from "./likely-secret.ts";
import { NAME_WORDS, namedValues } from "./named-values.ts";
import { AFTER_TOKEN, BEFORE_TOKEN, mayBeginToken, PLACE_RULES, type PlaceRule } from "./secret-rules.ts";

/** How a key may begin; each is a form of `createStartFinder`. */
export const KEY_STARTS: readonly string[] = [
  "---- BEGIN",
  "-----BEGIN",
  "Private-Lines",
  // The first bytes of a key without its first line: RSA, any by PKCS 8, EC, Ed25519, OpenSSH.
  "MII[CEJ][A-Za-z0-9+/]{2}IB",
  "MHcCAQEE",
  "MI[GH][A-Za-z0-9+/]AgE[AB]",
  "MC[0-9A-Z]CAQAwBQYDK2V",
  "b3BlbnNzaC1rZXktdjE",
  "LS0tLS1CRUdJTi",
];

const FIRST_LINE =
  /-{4,5} ?BEGIN (?:[A-Z0-9]{2,10} ){0,3}(?:PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1) ?-{4,5}|Private-Lines: \d{1,3}/y;
const FIRST_BYTES =
  /(?:(?<![A-Za-z0-9/+]{2})|(?<=%0[AD]))(?:MII[CEJ][A-Za-z0-9+/]{2}IB(?:AAK[BC][gAC]|ADANBgkqhkiG9w0BAQ)|MHcCAQEE|MI[GH][A-Za-z0-9+/]AgE(?:BB[CEDI]|AMB[AM]GByqGSM4)|MC[0-9A-Z]CAQAwBQYDK2V|b3BlbnNzaC1rZXktdjE|LS0tLS1CRUdJTi)/y;

/** A line end, also as JSON, URLs and XML write it. */
const KEY_BREAK = /\r?\n|(?:\\+r)?\\+n|%0D%0A|%0A|&#(?:10|xA);/.source;
const LINE_END = new RegExp(`${KEY_BREAK}|(?=-{4,5} ?END)`, "y");
/** Characters that a tool, a language or a table puts after a line of a key, and the most that it puts before it. */
const TRAILING = "\t \"'`,;)|<>\\\r";
const LONGEST_PREFIX = 200;
const KEY_CHARACTER = /[A-Za-z0-9+/=]/;
/** A line inside a key without key data: only signs and numbers, or a header such as `Proc-Type: 4,ENCRYPTED`. */
const BETWEEN =
  /^[^A-Za-z=]{0,40}$|^.{0,60}\b(?:Proc-Type|DEK-Info|Version|Comment|Hash|Subject|Private-MAC): .{0,100}$/;
/** A key printed as one line, with blanks in place of line ends. */
const ONE_LINE = /^[\sA-Za-z0-9+/=]{40,}$/;
const MOST_LINES = 400;
/** Longer lines are cut: 4096 bits, twice in base64, have 4400 characters. */
const LONGEST_LINE = 6000;
/** Fewer characters are no key, or too little of one. */
const LEAST_KEY = 40;
/** Fewest characters of a line, except the last. */
const LEAST_LINE = 16;
/** Fewest different characters in the longest line. */
const LEAST_DIFFERENT = 10;

/** The end of the key that begins at a position; -1 where none does. */
export function privateKeyEnd(text: string, at: number): number {
  FIRST_LINE.lastIndex = at;
  if (FIRST_LINE.test(text)) return bodyEnd(text, FIRST_LINE.lastIndex);
  FIRST_BYTES.lastIndex = at;
  if (!FIRST_BYTES.test(text)) return -1;
  const coded = text.startsWith("LS0t", at) && !/PRIVATE KEY/.test(decode(text.slice(at, at + 80)));
  return coded ? -1 : bodyEnd(text, at);
}

function bodyEnd(text: string, from: number): number {
  let end = -1;
  let [length, different] = [0, 0];
  for (const { at, line, characters } of linesFrom(text, from)) {
    length += characters.length;
    different = Math.max(different, new Set(characters).size);
    end = at + line.trimEnd().length;
    if (characters.length < LEAST_LINE) break;
  }
  return length >= LEAST_KEY && different >= LEAST_DIFFERENT ? end : -1;
}

/** The lines of a key that hold key data, up to its last line or the first line that cannot belong to it. */
function* linesFrom(text: string, from: number): Generator<{ at: number; line: string; characters: string }> {
  let at = from;
  for (let count = 0; count < MOST_LINES && at < text.length && !LAST_LINE.test(text.slice(at, at + 8)); count++) {
    const close = lineEnd(text, at);
    const line = text.slice(at, close);
    const isBetween = BETWEEN.test(line);
    const characters = isBetween ? null : charactersOf(line);
    if (characters === null && !isBetween) return;
    if (characters !== null) yield { at, line, characters };
    LINE_END.lastIndex = close;
    if (!LINE_END.test(text) || LINE_END.lastIndex <= at) return;
    at = LINE_END.lastIndex;
  }
}

const LAST_LINE = /^-{4,5} ?END/;
const LINE_ENDS = new RegExp(`${KEY_BREAK}|-{4,5} ?END `, "g");

function lineEnd(text: string, at: number): number {
  const line = text.slice(at, at + LONGEST_LINE);
  LINE_ENDS.lastIndex = 0;
  const found = LINE_ENDS.exec(line);
  return found === null ? at + line.length : at + found.index;
}

/** The key data in a line, after whatever a tool put before it; null when there is none. */
function charactersOf(line: string): string | null {
  const last = lastIndexOf(line, line.length, (sign) => !TRAILING.includes(sign));
  const first = lastIndexOf(line, last + 1, (sign) => !KEY_CHARACTER.test(sign));
  const run = line.slice(first + 1, last + 1);
  if (
    first <= LONGEST_PREFIX &&
    (run.length >= LEAST_LINE || (run !== "" && !/[A-Za-z]/.test(line.slice(0, first + 1))))
  )
    return run;
  return ONE_LINE.test(line) ? line.replace(/\s+/g, "") : null;
}

/** The last position before `end` whose character satisfies a predicate; -1 = none. */
function lastIndexOf(line: string, end: number, isIt: (sign: string) => boolean): number {
  let at = end - 1;
  while (at >= 0 && !isIt(line[at] ?? "")) at--;
  return at;
}

// One pass looks for beginnings, and each starts a bounded look.

export interface FoundSecret {
  /** Its kind, e.g. `stripe`. */
  readonly rule: string;
  /** Positions in UTF-16 units, 0-based; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
}

/** Checks one position; what it finds may begin later. */
type Look = (text: string, at: number) => readonly FoundSecret[];

/** A pattern to look for, and its beginning. */
interface Place {
  readonly start: string;
  readonly look: Look;
}

/** The forms, one by one, with their issuers. */
const FORMS = ISSUER_FORMS.flatMap((issuer) => Object.keys(issuer.forms).map((form) => ({ issuer, form })));
/** Bits of randomness that a value with a vague form needs. */
const VAGUE_BITS = 14;

const PLACES: readonly Place[] = [
  ...KEY_STARTS.map((start) => ({ start, look: lookForKey })),
  ...MIDDLE_FORMS.flatMap((issuer) =>
    issuer.marks.map((mark) => ({ start: inAnyCase(mark), look: lookAround(issuer) })),
  ),
  ...PLACE_RULES.flatMap((rule) => rule.starts.map((start) => ({ start: inAnyCase(start), look: lookForPlace(rule) }))),
  ...NAME_WORDS.map((start) => ({ start, look: lookForNamed })),
];
/** The check for each pattern number: forms of issuers first. */
const LOOKS: readonly Look[] = [...FORMS.map(lookForToken), ...PLACES.map(({ look }) => look)];
const nextStart = createStartFinder([...FORMS.map(({ form }) => form), ...PLACES.map(({ start }) => start)], {
  tokens: FORMS.length,
  mayBegin: mayBeginToken,
});

/** Lists what the rules find, in order; of two that overlap the first and longer. */
export function findSecrets(text: string): readonly FoundSecret[] {
  const found: FoundSecret[] = [];
  const seen: Seen = { tokenEnd: 0, keyEnd: 0 };
  for (let start = nextStart(text, 0); start !== null; start = nextStart(text, start.at + 1))
    for (const pattern of start.patterns)
      for (const secret of lookAt(text, start.at, pattern, seen)) found.push(secret);
  return withoutOverlaps(found);
}

/** Where the last token and the last key end: what was found whole is not searched again. */
interface Seen {
  tokenEnd: number;
  keyEnd: number;
}

function lookAt(text: string, at: number, pattern: number, seen: Seen): readonly FoundSecret[] {
  const isToken = pattern < FORMS.length;
  if (at < (isToken ? seen.tokenEnd : seen.keyEnd)) return NOTHING;
  const secrets = LOOKS[pattern]?.(text, at) ?? NOTHING;
  for (const { rule, end } of secrets)
    if (isToken) seen.tokenEnd = end;
    else if (rule === "private-key") seen.keyEnd = end;
  return secrets;
}

function lookForToken({ issuer, form }: (typeof FORMS)[number]): Look {
  const pattern = new RegExp(`${BEFORE_TOKEN}(?:${form})${AFTER_TOKEN}`, "y");
  return (text, at) => {
    if (!mayBeginToken(text, at)) return NOTHING;
    pattern.lastIndex = at;
    const end = pattern.test(text) ? pattern.lastIndex : -1;
    if (end < 0) return lookForWrapped(issuer, pattern, { text, at });
    return isIssued(issuer, text, at, end) ? [{ rule: issuer.id, start: at, end }] : NOTHING;
  };
}

/** Where a terminal or a mail breaks a line: a real or JSON-escaped line end, followed by quotation marks of mail. */
const BREAK = /[\w+/.-]{12,200}(=?(?:\\r|\r)?(?:\\n|\n)[ \t>|+]{0,20})(?=[\w+/.-])/y;
const BEGINNING = new RegExp(BEFORE_TOKEN, "y");
/** Fewest characters of a line that is broken in the middle of a word. */
const SHORTEST_WRAPPED = 60;
/** Most characters of a token after the break. */
const LONGEST_REST = 1200;

/** A token that contains the break of a long line; its form says where it ends. */
function lookForWrapped(
  issuer: IssuerForms,
  pattern: RegExp,
  { text, at }: { readonly text: string; readonly at: number },
): readonly FoundSecret[] {
  BEGINNING.lastIndex = at;
  BREAK.lastIndex = at;
  const [whole = "", lineEnd = ""] = issuer.isVague === true ? [] : (BREAK.exec(text) ?? []);
  const head = whole.length - lineEnd.length;
  if (head <= 0 || !BEGINNING.test(text) || !isLongLine(text, at + head)) return NOTHING;
  const joined = text.slice(at, at + head) + text.slice(at + whole.length, at + whole.length + LONGEST_REST);
  pattern.lastIndex = 0;
  const end = pattern.test(joined) ? pattern.lastIndex : -1;
  const isWrapped = end > head && isIssued(issuer, joined, 0, end);
  return isWrapped ? [{ rule: issuer.id, start: at, end: at + end + lineEnd.length }] : NOTHING;
}

function isLongLine(text: string, end: number): boolean {
  return !/\n|\\n/.test(text.slice(Math.max(0, end - SHORTEST_WRAPPED), end)) && end >= SHORTEST_WRAPPED;
}

const NOTHING: readonly FoundSecret[] = [];

/** Whether a value with an issuer's form may be real. */
function isIssued({ isVague }: IssuerForms, text: string, start: number, end: number): boolean {
  const value = text.slice(start, end);
  if (isDocumented(value)) return false;
  // A part of base64 may have any form.
  const isPart = /[+/]/.test(text[start - 1] ?? "") || /[+/=]/.test(text[end] ?? "");
  return isVague !== true || (!isPart && isRandom(value, VAGUE_BITS));
}

function lookForKey(text: string, start: number): readonly FoundSecret[] {
  const end = privateKeyEnd(text, start);
  return end < 0 ? NOTHING : [{ rule: "private-key", start, end }];
}

function lookForNamed(text: string, at: number): readonly FoundSecret[] {
  return namedValues(text, at).map((value) => ({ rule: "assigned", ...value }));
}

function lookForPlace({ id, form, isLikely }: PlaceRule): Look {
  const pattern = new RegExp(form, "dyi");
  return (text, at) => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    const [start, end] = match?.indices?.[1] ?? [0, 0];
    const value = match?.[1] ?? "";
    return value !== "" && isLikely(value) ? [{ rule: id, start, end }] : NOTHING;
  };
}

/** Most characters before a mark in the middle of a token. */
const BEFORE_MARK = 90;

function lookAround(issuer: IssuerForms): Look {
  const pattern = new RegExp(`${BEFORE_TOKEN}(?:${Object.keys(issuer.forms).join("|")})${AFTER_TOKEN}`, "y");
  return (text, at) => {
    const before = /[\w.~+/-]*$/.exec(text.slice(Math.max(0, at - BEFORE_MARK), at))?.[0] ?? "";
    // An escape's last character may precede it.
    for (let start = at - before.length; start < at; start++) {
      pattern.lastIndex = start;
      const end = mayBeginToken(text, start) && pattern.test(text) ? pattern.lastIndex : -1;
      if (end > at && isIssued(issuer, text, start, end)) return [{ rule: issuer.id, start, end }];
    }
    return NOTHING;
  };
}

/** A text as the source of a case-insensitive regular expression. */
function inAnyCase(text: string): string {
  return text.replace(/[^0-9]/g, (sign) =>
    /[a-z]/i.test(sign)
      ? `[${sign.toLowerCase()}${sign.toUpperCase()}]`
      : `[${/[\\^\]]/.test(sign) ? "\\" : ""}${sign}]`,
  );
}

/** Generic kinds, which count last among finds at one place. */
const GENERIC_RULES: ReadonlySet<string> = new Set(["assigned", "authorization", "bearer", "url-token"]);

function rankOf({ rule }: FoundSecret): number {
  return GENERIC_RULES.has(rule) ? 1 : 0;
}

/** Of overlapping finds, keeps the one that begins first; of those that begin together, the longest. */
export function withoutOverlaps(found: readonly FoundSecret[]): readonly FoundSecret[] {
  const kept: FoundSecret[] = [];
  const ordered = [...found].sort((a, b) => a.start - b.start || b.end - a.end || rankOf(a) - rankOf(b));
  for (const secret of ordered) if (secret.start >= (kept.at(-1)?.end ?? 0)) kept.push(secret);
  return kept;
}

/** Shortest last word of a cut text that may be the beginning of a token, characters. */
const LEAST_CUT_TOKEN = 12;

/** Removes secrets from a text, and a last word that was cut ("…") if it looks like the beginning of one. */
export function clearOfSecrets(text: string): string {
  let left = text;
  for (const { start, end } of findSecrets(text).toReversed()) left = `${left.slice(0, start)} ${left.slice(end)}`;
  return left.replace(/\S+…$/, (word) => (isCutToken(word.slice(0, -1)) ? "" : word));
}

function isCutToken(word: string): boolean {
  return word.length >= LEAST_CUT_TOKEN && looksRandom(word);
}
