// Values whose name says that they are secret: `API_TOKEN=…`, `"password": "…"`, `--api-key …`, a cell of a table, a pair of
// `name` and `value`; in the syntax of every language, shell and file that agents print. What is found is the value alone.
import { isIdOrDigest, isRandom, looksRandom, mayBePassword } from "./likely-secret.ts";
import { randomBits } from "./random-bits.ts";

/** A value in a text, UTF-16 units, `end` exclusive. */
export interface ValueSpan {
  readonly start: number;
  readonly end: number;
}

/** Words that a name of a secret ends in, as beginnings of forms of `createStartFinder`. */
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
];

const WORD =
  /pass(?:word|wd|phrase|code|wort|wrd)?s?|psw?d|pwd|pw|secrets?|tokens?|keys?|cred(?:ential)?s?|auth|pat|jwt|sig(?:nature)?|mnemonic|pin|salt|webhook|seed|dsn/iy;
/** What may follow the word in a name: which one it is, and how it is written. */
const SUFFIX =
  /(?:(?:[_.-]|(?=[A-Z\d]))(?:b64|base64|enc(?:oded)?|prod(?:uction)?|dev(?:elopment)?|staging|stage|test|live|local|ci|value|val|string|str|plain(?:text)?|clear|raw|text|txt|hex|old|new|previous|current|backup|base|primary|secondary|main|default|master|root|admin|user|data|v?\d{1,3}|[a-z]{2}\d)){0,3}/iy;
/** Closes a name: a quote, whatever JSON inside JSON makes of it, the stars of Markdown, a bracket. */
const CLOSE = "(?:\\\\{0,7}[\"'`]|\\*\\*|__)?[\\])]?(?:\\\\{0,7}[\"'`]|\\*\\*|__)?";
const TYPE = "[?!]?:[ \\t]{0,3}[&\\w.<>\\[\\]|' ]{1,40}?[ \\t]{0,2}=(?![=>])";
const GO_TYPE = "[ \\t]{1,8}(?:string|\\*string|\\[\\]byte|[Ss]tr|text)[ \\t]{0,8}=";
const SIGN = "(?::=|=>|->|[!=]={1,2}|[?|&+]{0,2}=|:\\*\\*|::?|\\?:)";
const ASSIGNED = `(?:[ \\t]{0,30}(?:${TYPE}|${SIGN})|${GO_TYPE})(?:\\*\\*|__)?[ \\t]{0,30}(?:![\\w]{2,10} )?(?:[|>][+-]?[ \\t]*\\r?\\n[ \\t]{1,24}|\\r?\\n[ \\t]{1,24}(?=["'\`]))?`;
const PAIRED = "(?:\\\\{0,7}[\"'`])?(?:[ \\t]{0,20},)?\\s{0,40}(?:- )?(?:\\\\{0,7}[\"'`])?(?:value|Value|val|secret|content|default)(?:\\\\{0,7}[\"'`])?[ \\t]{0,8}[:=][ \\t]{0,8}";
const TAGGED = "(?:</(?:key|name|td|th|dt|label|string)>\\s{0,40}<(?:string|value|td|dd)[^>]{0,40}>|(?:\\s[^<>\\n]{0,60})?>(?:<!\\[CDATA\\[)?)";
const CELL = "[ \\t]{0,40}[|│┃][ \\t]{0,20}";
const CALLED = "\\((?=\\\\{0,7}[\"'`])";
const LISTED = "\\\\{0,7}[\"'`]\\)?[ \\t]{0,4},\\s{0,40}(?=\\\\{0,7}[\"'`])";
const SAID = "(?:\\*\\*)?(?: for [\\w@./ -]{1,40}?)?[ \\t](?:is|was|to|are|ist|lautet|es|est)(?: now| set to| called)?:?\\s{1,4}";
const BLANK = "(?:\\\\{0,7}[\"'`])?[ \\t]{1,30}(?:\\\\\\r?\\n\\s{0,20})?";
const ways = { assigned: ASSIGNED, paired: PAIRED, tagged: TAGGED, cell: CELL, called: CALLED, listed: LISTED, said: SAID, blank: BLANK };
type Way = keyof typeof ways;
const WAYS = Object.entries(ways).map(([way, form]) => [way as Way, new RegExp((way === "listed" || way === "blank" ? "" : CLOSE) + form, "y")] as const);

const QUOTE = /\\{0,7}(?:["'`])|&quot;|“/y;
const LONGEST = 4000;
/** A value without quotes: up to a blank, or to a sign behind which another name begins. */
const BARE = /(?:(?![;&,|][ \t]?["']?[\w .-]{1,30}["']?[=:])(?!\\+[nrt"'])[^\s"`<>│┃]){1,4000}/y;
/** Ends what a language put behind a value. */
const TAIL = /(?:\*\*|__|[,;.:!?|'\\]|…)+$/;

/** Names of that kind which name no secret. */
const HARMLESS =
  /(?:public|pub|primary|foreign|cach(?:e|ing)|sort|partition|range|index|object|row|group|host|hot|query|lookup|unique|routing|i18n|translation|locale|message|dedup\w*|idempotency|event|map|dict|json|field|column|property|attribute|react|item|storage|state|store|selected|active|parent|child|shortcut|arrow|enter|tab|escape|press|sub|this|meta|context|config|issue|project|board|task|ticket|bundle|s3|file|path|dir|turn|request|response|trace|span|job|node|page|next|prev|continuation|sync|cursor|pagination|cancel\w*|design|max|min|total|input|output|prompt|completion|reasoning|num|count|stop|eos|bos|pad|mask|special|syntax|lexer|param|lookahead|csrf|xsrf|abort|placeholder|known|sstable|by|com|tur|mon|don|hoc|jac)[-_. ]?(?:keys?|tokens?|sig|pat|seed|pin)$|by[-_]?pass$|com-?pass$|(?:^|[-_.])(?:pass|seed|salt|sig|pin)s?$/i;
/** Of names that end in `key` those that are of a secret for certain. */
const KEYS =
  /(?:api|access|private|priv|secret|encrypt(?:ion)?|crypt\w*|decrypt(?:ion)?|sign(?:ing)?|master|auth\w*|service(?:[-_ ]?(?:role|account))?|account|licen[cs]e|deploy|app(?:lication)?|client|consumer|session|cookie|hmac|jwt|jwk|webhook|shared|preshared|psk|ssh|rsa|root|admin|user|server|stripe|openai|org|team|bot|rest|write|ingest|integration|subscription|function|nuget|push|agent|security|hash|vault|kms|aes|data|backup|install|validator|wallet|deployer|maps|search|dev|developer|x)[-_. ]?keys?$/i;

/** Finds the value that a word of a name at a position names; null = it names none, or none that is a secret. */
export function namedValue(text: string, at: number): ValueSpan | null {
  WORD.lastIndex = at;
  if (!WORD.test(text)) return null;
  const wordEnd = WORD.lastIndex;
  SUFFIX.lastIndex = wordEnd;
  SUFFIX.test(text);
  for (const nameEnd of new Set([SUFFIX.lastIndex, wordEnd])) {
    for (const [way, pattern] of WAYS) {
      pattern.lastIndex = nameEnd;
      if (!pattern.test(text)) continue;
      const name = nameBefore(text, at) + text.slice(at, wordEnd);
      const value = valueAt(text, pattern.lastIndex, { way, name, before: text[at - nameBefore(text, at).length - 1] });
      if (value !== null) return value;
    }
  }
  return null;
}

function nameBefore(text: string, at: number): string {
  return /(?:[\w$@.:/-]|[A-Za-z] (?=[A-Za-z]*$)){0,60}$/.exec(text.slice(Math.max(0, at - 60), at))?.[0] ?? "";
}

interface Naming {
  readonly way: Way;
  /** What stands before the value names it, up to the word. */
  readonly name: string;
  readonly before: string | undefined;
}

function valueAt(text: string, at: number, naming: Naming): ValueSpan | null {
  QUOTE.lastIndex = at;
  const quote = QUOTE.exec(text)?.[0];
  if (quote !== undefined) return quotedValue(text, { at: at + quote.length, quote }, naming);
  if (!mayBeBare(naming)) return null;
  BARE.lastIndex = at;
  const run = BARE.exec(text)?.[0] ?? "";
  for (const value of new Set([withoutTail(run), /^[^,;()<>{}[\]&|'\\]*/.exec(run)?.[0] ?? ""]))
    if (isSecret(value, naming)) return { start: at, end: at + value.length };
  return null;
}

/** A value without quotes behind a blank is one only where a command, or a file of passwords, has it so. */
function mayBeBare({ way, name }: Naming): boolean {
  if (way === "called" || way === "listed") return false;
  return way !== "blank" || /^-{1,2}\w|[_-]|[a-z][A-Z]/.test(name) || /^[A-Z_]+$/.test(name) || name === "password" || /\bkey$/i.test(name);
}

function withoutTail(run: string): string {
  let value = run.replace(TAIL, "");
  for (const [open, close] of [["(", ")"], ["[", "]"], ["{", "}"]] as const)
    while (value.endsWith(close) && !value.slice(0, -1).includes(open)) value = value.slice(0, -1).replace(TAIL, "");
  return value;
}

function quotedValue(text: string, { at, quote }: { readonly at: number; readonly quote: string }, naming: Naming): ValueSpan | null {
  const closing = quote === "“" ? "”" : quote;
  const end = text.slice(at, at + LONGEST).indexOf(closing);
  const line = text.slice(at, at + LONGEST).search(/[\r\n]/);
  if (end < 0 || (line >= 0 && line < end)) return null;
  const value = text.slice(at, at + end);
  return isSecret(value, { ...naming }) ? { start: at, end: at + end } : null;
}

/** Words of a name: what it says of how its value looks. */
const IS_PASSWORD = /(?:pass(?:word|wd|phrase|code|wort|wrd)s?|passwd|psw?d|pwd|secrets?|secret[-_ ]?keys?)$/i;
const IS_TOKEN = /(?:tokens?|cred(?:ential)?s?|jwt|[-_.](?:auth|pat|pass|pw))$|^(?:pat|_auth|auth)$/i;

function isSecret(value: string, { way, name }: Naming): boolean {
  if (value.length < 8 || HARMLESS.test(name) && !/pass$/i.test(name)) return false;
  const loose = way === "said" || way === "cell" || way === "blank" || way === "tagged" || way === "called" ? 6 : 0;
  if (IS_PASSWORD.test(name)) return isPassword(value, loose);
  if (/\s/.test(value)) return false;
  if (KEYS.test(name)) return value.length >= 8 && looksRandom(value) && randomBits(value) >= 4 + loose && !isVersionOrPath(value);
  if (IS_TOKEN.test(name)) return looksToken(value, 8 + loose);
  if (/key$/i.test(name)) return looksToken(value, 16 + loose) && !isIdOrDigest(value) && value.length >= 16;
  return looksToken(value, 24 + loose) && !isIdOrDigest(value) && value.length >= 20;
}

function isPassword(value: string, loose: number): boolean {
  if (/\s/.test(value)) return /^(?:[a-z]{4} ){3}[a-z]{4}$/.test(value) && randomBits(value) > 6;
  if (isVersionOrPath(value)) return false;
  return loose === 0 ? looksRandom(value) || isRandom(value, 9) : isRandom(value, loose);
}

function looksToken(value: string, bits: number): boolean {
  return value.length >= 12 && isRandom(value, bits) && !isVersionOrPath(value) && /[A-Za-z]/.test(value);
}

/** A path, an address, an image, a date, a list of words: long enough to look random, and none of it is. */
function isVersionOrPath(value: string): boolean {
  return /^(?:\.{0,2}\/|~\/|[a-z]+:\/\/|[A-Za-z]:\\|data:|\d{4}-\d\d-\d\d|v?\d+\.\d+\.\d+)|[\w-]+\/[\w-]+\.[a-z]{1,4}$|^ssh-(?:rsa|ed25519)|^AAAA[BC]3Nza/.test(value);
}
