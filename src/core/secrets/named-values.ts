// Values whose name says that they are secret: `API_TOKEN=…`, `"password": "…"`, `--api-key …`, a cell of a table, a pair of
// `name` and `value`; in the syntax of every language, shell and file that agents print. Finds the value alone.
import { isIdOrDigest, isRandom, looksRandom, mayBePassword, randomBits } from "./likely-secret.ts";

/** A value in a text, UTF-16 units, `end` exclusive. */
export interface ValueSpan {
  readonly start: number;
  readonly end: number;
}

/** Words at the end of a secret's name, as beginnings of forms of `createStartFinder`. */
export const NAME_WORDS: readonly string[] = [
  "[pP][aA][sS][sS]",
  "[pP][wW][dD]",
  "[pP][sS][wW][dD]",
  "[pP][wW][\"'`: =]",
  "[sS][eE][cC][rR][eE][tT]",
  "[tT][oO][kK][eE][nN]",
  "[kK][eE][yY]",
  "[cC][rR][eE][dD]",
  "[aA][uU][tT][hH]",
  "[pP][aA][tT][\"'`: =]",
  "[jJ][wW][tT]",
  "[sS][iI][gG]",
  "[mM][nN][eE][mM][oO][nN]",
  "[pP][iI][nN][\"'`: =]",
  "[sS][aA][lL][tT]",
  "[wW][eE][bB][hH][oO][oO][kK]",
  "[sS][eE][eE][dD]",
  "[dD][sS][nN]",
  "[pP][sS][kK]",
  "_SESSION",
  "[cC][oO][nN][tT][rR][aA][sS][eE]",
  "[kK][eE][nN][nN][wW][oO][rR][tT]",
  "[sS][eE][nN][hH][aA]",
];

const WORD =
  /_session|pass(?:word|wd|phrase|code|wort|wrd|e)?s?|psk|contrase(?:ñ|\\u00f1|n)a|kennwort|senha|psw?d|pwd|pw|secrets?|tokens?|keys?|cred(?:ential)?s?|auth|pat|jwt|sig|mnemonic|pin|salt|webhook|seed|dsn/iy;
/** Suffixes of the word in a name, e.g. `_prod`, `_base64` or a number. */
const SUFFIX =
  /(?:(?:[_.-]|(?=[A-Z\d]))(?:b64|base64|enc(?:oded)?|prod(?:uction)?|dev(?:elopment)?|staging|stage|test|live|local|ci|value|val|string|str|plain(?:text)?|clear|raw|text|txt|hex|old|new|previous|current|backup|base|primary|secondary|main|default|master|root|admin|user|data|v?\d{1,3}|[a-z]{2}\d)){0,3}/iy;
/** Closes a name: a quote, with any JSON escapes, Markdown stars, a bracket. */
const CLOSE = "(?:\\\\{0,7}[\"'`]|\\*\\*|__)?[\\])]?(?:\\\\{0,7}[\"'`]|\\*\\*|__)?";
const TYPE =
  "(?:[ \\t]{1,4}As String[ \\t]{0,4}=|[ \\t]?\\{ ?get;[^}\\n]{0,20}\\}[ \\t]?=)|[?!]?:[ \\t]{0,3}[&\\w.<>\\[\\]|' ]{1,40}?[ \\t]{0,2}=(?![=>])";
const GO_TYPE = "[ \\t]{1,8}(?:string|\\*string|\\[\\]byte|[Ss]tr|text)[ \\t]{0,8}=";
const SIGN = "(?::[-=?+](?=\\S)|:=|=>|->|<-|[!=]={1,2}|[?|&+]{0,2}=|:\\*\\*|::?|\\?:|\\|\\||\\?\\?| or (?=[\"']))";
const ASSIGNED = `(?: for [\\w@.-]{1,40})?(?:[ \\t]{0,30}(?:${TYPE}|${SIGN})|${GO_TYPE})(?:\\*\\*|__)?[ \\t]{0,30}(?:![\\w]{2,10} |&\\w{1,20} )?(?:[|>][+-]?[ \\t]*\\r?\\n[ \\t]{1,24}|\\r?\\n[ \\t]{1,24}(?=["'\`]))?`;
const PAIRED =
  '(?:\\\\{0,7}["\'`])?(?:[ \\t]{0,4}\\{(?:\\s{1,40}\\w{1,30}[ \\t]{0,20}=[ \\t]{0,4}(?:\\w{1,30}|"[^"\\n]{0,200}")){0,4}\\s{1,40})?(?:[ \\t]{0,20},)?\\s{0,40}(?:- )?(?:\\\\{0,7}["\'`])?(?:value|Value|val|secret|content|default)(?:\\\\{0,7}["\'`])?[ \\t]{0,8}[:=][ \\t]{0,8}';
const TAGGED =
  "(?:</(?:key|name|td|th|dt|label|string)>\\s{0,40}<(?:string|value|td|dd)[^>]{0,40}>|(?:\\s[^<>\\n]{0,60})?>(?:<!\\[CDATA\\[)?)";
const CELL = "[ \\t]{0,40}[|│┃][ \\t]{0,20}";
const CALLED = "\\((?=\\\\{0,7}[\"'`])";
const LISTED = "\\\\{0,7}[\"'`]\\)?[ \\t]{0,4},\\s{0,40}(?=\\\\{0,7}[\"'`])";
const SAID =
  "(?:\\*\\*)?(?: for [\\w@./ -]{1,40}?)?[ \\t](?:is|was|to|are|ist|lautet|es|est)(?: now| set to| called)?:?\\s{1,4}";
const BLANK = "(?:\\\\{0,7}[\"'`])?[ \\t]{1,30}(?:\\\\\\r?\\n\\s{0,20})?(?:--?(?:body|value|b|v)[= ])?";
const ways = {
  assigned: ASSIGNED,
  paired: PAIRED,
  tagged: TAGGED,
  cell: CELL,
  called: CALLED,
  listed: LISTED,
  said: SAID,
  blank: BLANK,
};
type Way = keyof typeof ways;
const WAYS = Object.entries(ways).map(
  ([way, form]) => [way as Way, new RegExp((way === "listed" || way === "blank" ? "" : CLOSE) + form, "y")] as const,
);

const QUOTE = /\\{0,7}(?:["'`])|&quot;|“|\[\[/y;
const CLOSING: Readonly<Record<string, string>> = { "“": "”", "[[": "]]" };
const LONGEST = 1200;
/** A value without quotes: up to a blank, or to a separator that another name follows. */
const BARE = /(?:(?![;&,|][ \t]?["']?[\w .-]{1,30}["']?[=:])(?!\\+[nrt"'])[^\s"`<>│┃]){1,1200}/y;
/** Google's app passwords, as Google shows them. */
const APP_PASSWORD = /(?:[a-z]{4} ){3}[a-z]{4}(?![a-z ])/y;
/** Punctuation that a language puts after a value. */
const TAIL = /(?:\*\*|__|[,;.:!?|'\\]|…)+$/;

/** Names of that kind that are no secret's. */
const HARMLESS =
  /(?<![a-z])(?:public|pub|primary|foreign|cach(?:e|ing)|sort|partition|range|index|object|row|group|host|hot|query|lookup|unique|routing|i18n|translation|locale|message|dedup\w*|idempotency|event|map|dict|json|field|column|property|attribute|react|item|storage|state|store|selected|active|parent|child|shortcut|arrow|enter|tab|escape|press|sub|this|meta|context|issue|project|board|task|ticket|bundle|s3|file|path|dir|turn|request|response|trace|span|job|node|page|next|prev|continuation|sync|cursor|pagination|cancel\w*|design|max|min|total|input|output|prompt|completion|reasoning|num|count|stop|eos|bos|pad|mask|special|syntax|lexer|param|lookahead|csrf|xsrf|abort|placeholder|known|web_?socket)[-_. ]?(?:keys?|tokens?|sig|pat|seed|pin)$|(?:lib(?:secret|pass\w*)|by[-_]?pass|com-?pass|monkey|turkey|donkey|hockey|keys|seeds?|salt|sigs?|pin)$/;
/** Names ending in `key` that certainly are a secret's. */
const KEYS =
  /(?:api|access|private|priv|secret|encrypt(?:ion)?|crypt\w*|decrypt(?:ion)?|sign(?:ing)?|master|auth\w*|role|account|licen[cs]e|deploy|app(?:lication)?|client|consumer|session|cookie|hmac|jwt|jwk|webhook|shared|ssh|rsa|root|admin|user|server|org|team|bot|rest|write|ingest|integration|subscription|function|push|agent|security|hash|vault|kms|aes|data|backup|install|validator|wallet|deployer|maps|search|dev|developer|(?<![a-z])x)[-_. ]?keys?$/;

/** Finds the values that belong to a name with a word at a position; empty when it is no secret's name. */
export function namedValues(text: string, at: number): readonly ValueSpan[] {
  WORD.lastIndex = at;
  if (!WORD.test(text)) return [];
  const wordEnd = WORD.lastIndex;
  SUFFIX.lastIndex = wordEnd;
  SUFFIX.test(text);
  // A longer word, such as `keyboard`.
  if (SUFFIX.lastIndex === wordEnd && /[a-z]/.test(text[wordEnd] ?? "")) return [];
  const written = nameBefore(text, at) + text.slice(at, wordEnd);
  const named = { written, name: inSmallWords(written) };
  const afterName = valueAfterName(text, wordEnd, named);
  if (afterName !== null) return [afterName];
  const below = [...valuesBelow(text, at, named), ...valuesInserted(text, wordEnd, named)];
  return below.length > 0 ? below : valueNear(text, wordEnd, named);
}

function valueAfterName(text: string, wordEnd: number, named: Omit<Naming, "way">): ValueSpan | null {
  SUFFIX.lastIndex = wordEnd;
  SUFFIX.test(text);
  for (const nameEnd of new Set([SUFFIX.lastIndex, wordEnd])) {
    for (const [way, pattern] of WAYS) {
      pattern.lastIndex = nameEnd;
      if (!pattern.test(text)) continue;
      const value = valueAt(text, pattern.lastIndex, { way, ...named });
      if (value !== null) return value;
    }
  }
  return null;
}

/** What precedes a word in a name: the rest of an identifier, or the words of a name with blanks. */
function nameBefore(text: string, at: number): string {
  const last = text[at - 1] ?? "";
  if (last === " ") return WORDS_BEFORE.exec(text.slice(Math.max(0, at - LONGEST_WORDS), at))?.[0] ?? "";
  let start = at;
  while (start > at - LONGEST_NAME && NAME_CHARACTER.test(text[start - 1] ?? "")) start--;
  return text.slice(start, at);
}

const LONGEST_NAME = 60;
const LONGEST_WORDS = 34;
const NAME_CHARACTER = /[\w$@.:/-]/;
const WORDS_BEFORE = /(?:[A-Za-z]{2,16} ){1,2}$/;

interface Naming {
  readonly way: Way;
  /** The name up to its word, as it is written, and in small letters with an underscore between words. */
  readonly written: string;
  readonly name: string;
}

function inSmallWords(name: string): string {
  return name.replace(/([a-z\d])([A-Z])/g, "$1_$2").toLowerCase();
}

function valueAt(text: string, at: number, naming: Naming): ValueSpan | null {
  QUOTE.lastIndex = at;
  const quote = QUOTE.exec(text)?.[0];
  if (quote !== undefined) return quotedValue(text, { at: at + quote.length, quote }, naming);
  if (!mayBeBare(naming)) return null;
  APP_PASSWORD.lastIndex = at;
  if (IS_PASSWORD.test(naming.name) && APP_PASSWORD.test(text)) return { start: at, end: APP_PASSWORD.lastIndex };
  BARE.lastIndex = at;
  const whole = BARE.exec(text)?.[0] ?? "";
  const run = naming.way === "cell" ? whole.replace(/\|.*/, "") : whole;
  for (const value of new Set([withoutTail(run), /^[^,;()<>{}[\]&|'\\]*/.exec(run)?.[0] ?? ""]))
    if (isSecret(value, naming)) return { start: at, end: at + value.length };
  return null;
}

/** An unquoted value after a blank counts only in a command or a file of passwords. */
function mayBeBare({ way, written, name }: Naming): boolean {
  if (way === "called" || way === "listed") return false;
  return way !== "blank" || /[_-]/.test(name) || /^[A-Z]+$/.test(written) || /(?:^|\s)password$|\bkey$/.test(name);
}

function withoutTail(run: string): string {
  let value = run.replace(TAIL, "");
  for (const [open, close] of [
    ["(", ")"],
    ["[", "]"],
    ["{", "}"],
  ] as const)
    while (value.endsWith(close) && !value.slice(0, -1).includes(open)) value = value.slice(0, -1).replace(TAIL, "");
  return value;
}

function quotedValue(
  text: string,
  { at, quote }: { readonly at: number; readonly quote: string },
  naming: Naming,
): ValueSpan | null {
  const closing = CLOSING[quote] ?? quote;
  const end = text.slice(at, at + LONGEST).indexOf(closing);
  const value = text.slice(at, at + Math.max(0, end));
  if (end < 0 || /[\r\n]/.test(value)) return null;
  return isSecret(value, { ...naming }) ? { start: at, end: at + end } : null;
}

/** Most rows of a table below its head. */
const MOST_ROWS = 30;
const LONGEST_ROW = 2000;
const LONGEST_HEAD = 40;

/** The cells of a column whose head is the name, in Markdown, CSV and the like (commas, semicolons or tabs). */
function valuesBelow(text: string, at: number, named: Omit<Naming, "way">): readonly ValueSpan[] {
  const from = Math.max(0, at - LONGEST_ROW);
  const before = text.slice(from, at).lastIndexOf("\n");
  if (before < 0 && from > 0) return [];
  const start = from + before + 1;
  const head = rowAt(text, start);
  const separator = /^[^\w]*[\w .-]{1,40}[^\w\n]{0,4}([|,;\t])/.exec(head)?.[1];
  if (separator === undefined || !/^[\w .\-|,;\t"`*→:]+$/.test(head)) return [];
  const cells = head.split(separator);
  const column = text.slice(start, at).split(separator).length - 1;
  if ((cells[column] ?? "").trim().length > LONGEST_HEAD) return [];
  const found: ValueSpan[] = [];
  let next = start + head.length + 1;
  for (let row = 0; row < MOST_ROWS && next < text.length; row++) {
    const line = rowAt(text, next);
    const values = line.split(separator);
    if (values.length !== cells.length) break;
    const left = values.slice(0, column).reduce((sum, cell) => sum + cell.length + 1, 0);
    const cell = values[column] ?? "";
    const opened = cell.replace(/^[\s"'`*]+/, "");
    const first = next + left + cell.length - opened.length;
    const value = /^[^\s"'`*]*/.exec(opened)?.[0] ?? "";
    if (isSecret(value, { way: "cell", ...named })) found.push({ start: first, end: first + value.length });
    next += line.length + 1;
  }
  return found;
}

function rowAt(text: string, start: number): string {
  const row = text.slice(start, start + LONGEST_ROW);
  const end = row.indexOf("\n");
  return end < 0 ? row : row.slice(0, end);
}

const INSERTED = /[^()\n;]{0,300}\)\s{0,20}values?\s{0,20}\(([^()\n]{1,1000})\)/iy;

/** The value of a column in an SQL INSERT. */
function valuesInserted(text: string, wordEnd: number, named: Omit<Naming, "way">): readonly ValueSpan[] {
  INSERTED.lastIndex = wordEnd;
  const [all, values] = INSERTED.exec(text) ?? [];
  if (all === undefined || values === undefined) return [];
  const open =
    text.slice(Math.max(0, wordEnd - LONGEST_ROW), wordEnd).lastIndexOf("(") + Math.max(0, wordEnd - LONGEST_ROW);
  const column = text.slice(open, wordEnd).split(",").length - 1;
  const cell = values.split(",")[column] ?? "";
  const value = /^\s*[N]?["']([^"']*)["']\s*$/.exec(cell)?.[1] ?? "";
  const start = text.indexOf(cell, wordEnd + all.length - values.length - 1) + cell.indexOf(value);
  return isSecret(value, { way: "called", ...named }) ? [{ start, end: start + value.length }] : [];
}

/** Words near which a random word is a secret, and the distance, characters: on the same line, or on the next. */
const SAYS_SECRET =
  /(?:pass(?:word|phrase|code)|secret|token|api[-_ ]?key|access[-_ ]?key|private[-_ ]?key|license[-_ ]?key|credentials?)$/;
const NEAR = 100;
const RANDOM_WORD = /(?<![\w/.+@#]|[^:]-)[A-Za-z0-9][A-Za-z0-9_+/-]{19,200}={0,2}(?![\w/.+@-])/;
const LEAST_NEAR = 45;

/** The only entropy rule: a random word of small letters, capitals and digits near a word for a secret. */
function valueNear(text: string, wordEnd: number, { name }: Omit<Naming, "way">): readonly ValueSpan[] {
  if (!SAYS_SECRET.test(name) || HARMLESS.test(name)) return [];
  const near = /^[^\n]*(?:\n[ \t>]*){0,2}[^\n]*/.exec(text.slice(wordEnd, wordEnd + NEAR))?.[0] ?? "";
  const match = RANDOM_WORD.exec(near);
  if (match === null || match.index + match[0].length >= NEAR) return [];
  const value = match[0];
  const isMixed = /[a-z]/.test(value) && /[A-Z]/.test(value) && /\d/.test(value);
  if (!isMixed || !isRandom(value, LEAST_NEAR) || isIdOrDigest(value) || isPath(value)) return [];
  const start = wordEnd + match.index;
  return [{ start, end: start + value.length }];
}

/** Kinds of names, by what they say of the value's form. */
const IS_PASSWORD =
  /(?:pass(?:word|wd|phrase|code|wort|wrd|e)s?|psw?d|pwd|psk|kennwort|senha|contrase\W?\w{0,5}a|secrets?|secret[-_ ]?keys?)$/;
const IS_TOKEN =
  /(?:tokens?|cred(?:ential)?s?|jwt|[-_.](?:auth|pat|pass|pw|pin|webhook))$|^(?:pat|_auth|auth|pass|pw)$/;
/** Contexts in which ordinary words may follow a name too. */
const LOOSE: ReadonlySet<Way> = new Set(["said", "cell", "blank", "tagged", "called", "listed"]);

function isSecret(value: string, naming: Naming): boolean {
  const { way, name } = naming;
  if (value.length < 8 || HARMLESS.test(name) || (way === "cell" && /tokens$/.test(name))) return false;
  const loose = looseBits(value, naming);
  return IS_PASSWORD.test(name) ? isPassword(value, loose) : !/\s/.test(value) && isNamedToken(value, naming, loose);
}

/** Additional bits that a value needs where ordinary words may occur. */
function looseBits(value: string, { way, name }: Naming): number {
  if (!LOOSE.has(way)) return 0;
  if (/[_-]/.test(name) && (way === "listed" || way === "blank" || way === "tagged")) return 2;
  if (way === "listed") return 14;
  return /\d/.test(value) ? 6 : 16;
}

function isNamedToken(value: string, { name, written }: Naming, loose: number): boolean {
  if (KEYS.test(name) || /^[A-Z\d]+(?:_[A-Z\d]+)*_KEYS?$/.test(written))
    return looksToken(value, (looksRandom(value) ? 4 : 20) + loose) || isHexKey(value);
  if (IS_TOKEN.test(name) || written.endsWith("_SESSION")) return looksToken(value, 8 + loose) || isHexKey(value);
  const [length, bits] = /key$/.test(name) ? [16, 16] : [20, 24];
  return value.length >= length && looksToken(value, bits + loose) && !isIdOrDigest(value);
}

function isPassword(value: string, loose: number): boolean {
  if (/\s/.test(value) || isPath(value)) return false;
  return loose === 0 ? looksRandom(value) || isRandom(value, 9) : isRandom(value, loose);
}

function looksToken(value: string, bits: number): boolean {
  return (
    value.length >= 8 &&
    isRandom(value, value.length < 12 ? bits + 8 : bits) &&
    !isPath(value) &&
    /[A-Za-z]/.test(value)
  );
}

/** Hexadecimal digits under the name of a key; runs of digits would make many look less random than they are. */
function isHexKey(value: string): boolean {
  return /^(?:0x)?[0-9a-f]{32,}$/i.test(value) && mayBePassword(value) && new Set(value.slice(2)).size >= 8;
}

/** A path, URL, image, date or version: long enough to look random. */
function isPath(value: string): boolean {
  if (/^(?:[a-z]+:\/\/|[A-Za-z]:\\|data:|\d{4}-\d\d-\d\d|v?\d+\.\d+\.\d+|ssh-(?:rsa|ed25519)|AAAA[BC]3Nza)/.test(value))
    return true;
  return /^(?:\.{0,2}\/|~\/)|[\w-]\/[\w-]+\.[a-z]{1,4}$/.test(value) && randomBits(value) < value.length;
}
