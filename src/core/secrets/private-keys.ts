// Private keys, whole, as tools and agents print them: with line numbers, the signs of `diff`, `>` or the place that `grep -n`
// gives before each line, in a line of JSON, without their first line, or coded once more in base64.
import { decode } from "./likely-secret.ts";

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
const BREAK = /\r?\n|(?:\\+r)?\\+n|%0D%0A|%0A|&#(?:10|xA);/.source;
const LINE_END = new RegExp(`${BREAK}|(?=-{4,5} ?END)`, "y");
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
const LINE_ENDS = new RegExp(`${BREAK}|-{4,5} ?END `, "g");

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
