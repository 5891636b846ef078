// Finds secrets in a text by jpg's own rules, private keys among them. Linear in the text.
import { createStartFinder } from "./first-characters.ts";
import { ISSUER_FORMS, type IssuerForms, MIDDLE_FORMS } from "./issuer-forms.ts";
import { decode, isDocumented, isRandom, looksRandom } from "./likely-secret.ts";
import { NAME_WORDS, namedValues } from "./named-values.ts";
import { AFTER_TOKEN, BEFORE_TOKEN, mayBeginToken, PLACE_RULES, type PlaceRule } from "./secret-rules.ts";

/** How a key may begin; each is the beginning of a form of `createStartFinder`. */
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

/** What parts lines: also as JSON, addresses and XML write it. */
const KEY_BREAK = /\r?\n|(?:\\+r)?\\+n|%0D%0A|%0A|&#(?:10|xA);/.source;
const LINE_END = new RegExp(`${KEY_BREAK}|(?=-{4,5} ?END)`, "y");
/** What a tool, a language or a table puts behind the characters of a key in a line, and how much before them. */
const BEHIND = "\t \"'`,;)|<>\\\r";
const LONGEST_PREFIX = 200;
const KEY_CHARACTER = /[A-Za-z0-9+/=]/;
/** Blank but for signs and numbers, or a header such as `Proc-Type: 4,ENCRYPTED`. */
const BETWEEN =
  /^[^A-Za-z=]{0,40}$|^.{0,60}\b(?:Proc-Type|DEK-Info|Version|Comment|Hash|Subject|Private-MAC): .{0,100}$/;
/** A key printed as one line, blanks for the ends of its lines. */
const ONE_LINE = /^[\sA-Za-z0-9+/=]{40,}$/;
const MOST_LINES = 400;
/** Longer ones are cut: 4096 bits, twice in base64, have 4400 characters. */
const LONGEST_LINE = 6000;
/** Fewer characters are no key, or too little of one. */
const LEAST_KEY = 40;
/** A line in the middle has more; the last may have fewer. */
const LEAST_LINE = 16;
/** Different characters that its longest line has at least. */
const LEAST_DIFFERENT = 10;

/** Where the key ends that begins at a position; -1 where none does. */
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

/** The lines of a key that have some of its characters, up to its last line or to what is no line of one. */
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

/** The characters of a key in a line, behind whatever a tool put before them; null where there are none. */
function charactersOf(line: string): string | null {
  const last = lastIndexOf(line, line.length, (sign) => !BEHIND.includes(sign));
  const first = lastIndexOf(line, last + 1, (sign) => !KEY_CHARACTER.test(sign));
  const run = line.slice(first + 1, last + 1);
  if (
    first <= LONGEST_PREFIX &&
    (run.length >= LEAST_LINE || (run !== "" && !/[A-Za-z]/.test(line.slice(0, first + 1))))
  )
    return run;
  return ONE_LINE.test(line) ? line.replace(/\s+/g, "") : null;
}

/** The last place before `end` that a sign of some kind has; -1 = none. */
function lastIndexOf(line: string, end: number, isIt: (sign: string) => boolean): number {
  let at = end - 1;
  while (at >= 0 && !isIt(line[at] ?? "")) at--;
  return at;
}

// Finds secrets in a text by jpg's own rules. Linear in the text: one pass that looks for beginnings, and a bounded look from each.

/** A secret in a text. */
export interface FoundSecret {
  /** Its kind, e.g. `stripe`. */
  readonly rule: string;
  /** Positions in UTF-16 units, 0-based; `end` is behind the last. */
  readonly start: number;
  readonly end: number;
}

/** Looks at one position; what it finds may begin further on. */
type Look = (text: string, at: number) => readonly FoundSecret[];

/** What is looked for, and how it begins. */
interface Place {
  readonly start: string;
  readonly look: Look;
}

/** Which forms there are, by issuer, one by one. */
const FORMS = ISSUER_FORMS.flatMap((issuer) => Object.keys(issuer.forms).map((form) => ({ issuer, form })));
/** Bits that a value has whose form says little. */
const VAGUE_BITS = 14;

const PLACES: readonly Place[] = [
  ...KEY_STARTS.map((start) => ({ start, look: lookForKey })),
  ...MIDDLE_FORMS.flatMap((issuer) =>
    issuer.marks.map((mark) => ({ start: inAnyCase(mark), look: lookAround(issuer) })),
  ),
  ...PLACE_RULES.flatMap((rule) => rule.starts.map((start) => ({ start: inAnyCase(start), look: lookForPlace(rule) }))),
  ...NAME_WORDS.map((start) => ({ start, look: lookForNamed })),
];
/** What is tried at a position, by the number of the pattern that begins there: forms of issuers first. */
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

/** Where the last token and the last key end: nothing is looked for within what was found whole. */
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

/** What a terminal or a mail breaks a line at: as it is, or as JSON has it; the signs of a quotation stand behind it. */
const BREAK = /[\w+/.-]{12,200}(=?(?:\\r|\r)?(?:\\n|\n)[ \t>|+]{0,20})(?=[\w+/.-])/y;
const BEGINNING = new RegExp(BEFORE_TOKEN, "y");
/** Characters of a line before it is broken in the middle of a word. */
const SHORTEST_WRAPPED = 60;
/** Characters of a token behind the break, at most. */
const LONGEST_REST = 1200;

/** A token in which a long line was broken; its form says where it ends. */
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

/** Whether what has an issuer's form may be of that issuer. */
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

/** Characters before a mark in the middle of a token, at most. */
const BEFORE_MARK = 90;

function lookAround(issuer: IssuerForms): Look {
  const pattern = new RegExp(`${BEFORE_TOKEN}(?:${Object.keys(issuer.forms).join("|")})${AFTER_TOKEN}`, "y");
  return (text, at) => {
    const before = /[\w.~+/-]*$/.exec(text.slice(Math.max(0, at - BEFORE_MARK), at))?.[0] ?? "";
    // The end of an escape may stand before it.
    for (let start = at - before.length; start < at; start++) {
      pattern.lastIndex = start;
      const end = mayBeginToken(text, start) && pattern.test(text) ? pattern.lastIndex : -1;
      if (end > at && isIssued(issuer, text, start, end)) return [{ rule: issuer.id, start, end }];
    }
    return NOTHING;
  };
}

/** A text as the source of a regular expression, small letters as capitals. */
function inAnyCase(text: string): string {
  return text.replace(/[^0-9]/g, (sign) =>
    /[a-z]/i.test(sign)
      ? `[${sign.toLowerCase()}${sign.toUpperCase()}]`
      : `[${/[\\^\]]/.test(sign) ? "\\" : ""}${sign}]`,
  );
}

/** What says least of its issuer, and so counts last of what is found at one place. */
const LEAST_TELLING: ReadonlySet<string> = new Set(["assigned", "authorization", "bearer", "url-token"]);

function rankOf({ rule }: FoundSecret): number {
  return LEAST_TELLING.has(rule) ? 1 : 0;
}

/** Keeps of finds that overlap the one that begins first, of those that begin together the longest. */
export function withoutOverlaps(found: readonly FoundSecret[]): readonly FoundSecret[] {
  const kept: FoundSecret[] = [];
  const ordered = [...found].sort((a, b) => a.start - b.start || b.end - a.end || rankOf(a) - rankOf(b));
  for (const secret of ordered) if (secret.start >= (kept.at(-1)?.end ?? 0)) kept.push(secret);
  return kept;
}

/** Characters from which on the last word of a text that was cut may be the beginning of a token. */
const LEAST_CUT_TOKEN = 12;

/** Leaves secrets out of a text, and a last word that was cut ("…") where it looks like the beginning of one. */
export function clearOfSecrets(text: string): string {
  let left = text;
  for (const { start, end } of findSecrets(text).toReversed()) left = `${left.slice(0, start)} ${left.slice(end)}`;
  return left.replace(/\S+…$/, (word) => (isCutToken(word.slice(0, -1)) ? "" : word));
}

function isCutToken(word: string): boolean {
  return word.length >= LEAST_CUT_TOKEN && looksRandom(word);
}
