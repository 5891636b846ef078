// Makes foreign text fit for a terminal, one line, Markdown, a commit message or JSON. The result cannot steer a terminal,
// change the direction of text, or end a line that jpg began.

/** C0 without tab and line feed, DEL, C1, and the marks that change the direction of text. */
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** Those of UNSAFE that JSON.stringify does not escape. */
const UNSAFE_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const DIRECTION_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** White space, including line separators, and control characters. */
const BLANKS = /[\s\u0000-\u001f\u007f-\u009f]+/g;
/** Whole sequences that colour text or move the cursor (ECMA-48 §5.4). */
const CONTROL_SEQUENCE = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]/g;
const LONE_SURROGATE = /\p{Cs}/gu;
/** A whole escape in JSON text: an escaped backslash before `u` is not taken for one. */
const JSON_ESCAPE = /\\(?:u[0-9a-fA-F]{4}|.)/g;
const REPLACEMENT = "\ufffd";

declare const checked: unique symbol;

/** Text that is safe to print: made by this module from foreign text, or jpg's own words. */
export type SafeText = (string & { readonly [checked]: true }) | "";

/** What a `safe` template takes: safe text, numbers, and literals from jpg's own source (string literal types). */
type Piece<Value> = Value extends SafeText | number
  ? Value
  : Value extends string
    ? Record<never, never> extends Record<Value, 1>
      ? SafeText
      : Value
    : SafeText;

/** Joins jpg's own words with safe text, as a template: safe`turn ${turn} of ${forTerminalLine(branch)}`. */
export function safe<const Values extends readonly (string | number)[]>(
  words: TemplateStringsArray,
  ...values: { readonly [Index in keyof Values]: Piece<Values[Index]> }
): SafeText {
  // A list of ten thousand conversations calls this thirty thousand times: String.raw takes three times as long.
  let text = words[0] ?? "";
  for (let index = 0; index < values.length; index++) text += `${values[index]}${words[index + 1]}`;
  return text as SafeText;
}

/** Formats a number with a fixed count of decimals. */
export function decimal(value: number, decimals: number): SafeText {
  return value.toFixed(decimals) as SafeText;
}

/** Joins safe texts with a literal. */
export function joinSafe<const Separator extends string>(
  texts: readonly SafeText[],
  separator: Separator & Piece<Separator>,
): SafeText {
  return texts.join(separator) as SafeText;
}

/** Joins safe lines, without a line feed at the end. */
export function joinLines(lines: readonly SafeText[]): SafeText {
  return lines.join("\n") as SafeText;
}

/** Splits a safe text into its lines. */
export function linesOf(text: SafeText): SafeText[] {
  return text.split("\n") as SafeText[];
}

/** Makes unsafe characters visible, one for one; tabs and line feeds stay. */
export function forTerminal(text: string): SafeText {
  return text.replace(UNSAFE, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : REPLACEMENT;
  }) as SafeText;
}

/** Makes a text safe and splits it into lines. */
export function linesForTerminal(text: string): SafeText[] {
  return forTerminal(text).split("\n") as SafeText[];
}

/** Makes a text one trimmed line with unsafe characters visible; each run of white space becomes a blank. */
export function forTerminalLine(text: string): SafeText {
  return forTerminal(text.replace(/\s+/g, " ").trim());
}

/**
 * Makes a text one clean, trimmed line, for titles and subjects: removes unsafe characters, replaces runs of white space by a
 * blank. Cuts the line after `limit` characters (code points).
 */
export function forLine(text: string, limit: number = Number.POSITIVE_INFINITY): string {
  // Only the start of a long text can be in the result; no text has longer runs of white space.
  const start = limit === Number.POSITIVE_INFINITY ? text : text.trimStart().slice(0, limit * 100);
  const line = start
    .replace(CONTROL_SEQUENCE, "")
    .replace(DIRECTION_MARKS, "")
    .replace(BLANKS, " ")
    .replace(LONE_SURROGATE, REPLACEMENT)
    .trim();
  return limit === Number.POSITIVE_INFINITY ? line : [...line].slice(0, limit).join("").trimEnd();
}

/** Makes a rendered document safe: removes colours, makes other unsafe characters visible. */
export function forMarkdown(text: string): string {
  return forTerminal(text.replace(CONTROL_SEQUENCE, ""));
}

/**
 * Makes JSON text safe: escapes what JSON.stringify leaves raw, which changes no value; half surrogate pairs, which other
 * readers of JSON refuse, become U+FFFD.
 */
export function forJson(json: string): string {
  const whole = json.includes("\\ud") ? json.replace(JSON_ESCAPE, wholeEscape) : json;
  return whole.replace(UNSAFE_IN_JSON, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** JSON.stringify escapes surrogates only where their other half is missing. */
function wholeEscape(found: string): string {
  return /^\\ud[89a-f]/.test(found) ? REPLACEMENT : found;
}

export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Quotes a word for a shell only when it has to be. */
export function shellWord(word: string): string {
  return /^[\w./:@=-]+$/.test(word) ? word : quoteForShell(word);
}

// Makes foreign text fit for git hosts. GitHub, GitLab, Gitea and the trackers connected to them act on commit messages and
// read them raw: neither backticks nor a fence keep `fixes #1` from closing an issue. So a blank is put after each sign that
// they act on: it is visible, in every font, and does not break searches.

/** Signs that begin a reference, each up to where the blank goes. */
const REFERENCES: readonly string[] = [
  // @name, @group/team, and commits of other repositories: group/project@0123abc.
  String.raw`(?<![A-Za-z0-9_])@(?=[\w.-])|@(?=[0-9a-f]{7})`,
  // #1, group/project#1, AB#1; !1 and &1 of GitLab, but for a shell's 2>&1.
  String.raw`#(?=\d)|!(?=\d)|(?<![>\w])&(?=\d)`,
  String.raw`\bG[HL]-(?=\d)`,
  // [issue:1] of GitLab.
  String.raw`\[(?=[a-z_]+:[\w./-]+\])`,
  // Addresses of issues, requests and commits are references too.
  String.raw`\/(?:issues|pulls?|merge_requests|work_items|epics|discussions|commits?)\/(?=[0-9a-f])`,
];
/** [skip ci], [no ci], [ci skip] and their like, ***NO_CI***. */
const CI: readonly string[] = [String.raw`\[(?=(?:skip|no)[ _-]\w+\]|\w+[ _-]skip\])`, String.raw`\*\*\*(?=NO_CI)`];
const SIGNS = new RegExp([...REFERENCES, ...CI].join("|"), "gi");
/** Keys of issue trackers, which act after a word that closes issues, or before a command: `ABC-1 #close`. */
const TRACKER_KEYS =
  /\b(?:[Cc]los(?:e[sd]?|ing)|[Ff]ix(?:e[sd]|ing)?|[Rr]esolv(?:e[sd]?|ing)|[Ii]mplement(?:s|ed|ing)?):?[ \t]+(?:issues?[ \t]+)?[A-Z][A-Z0-9_]+-(?=\d)|\b[A-Z][A-Z0-9_]+-(?=\d+[ \t]+#[a-z])/g;
/** The beginning of an address, up to where the blank goes. */
const ADDRESS = /\b[a-z][a-z0-9+.-]{0,20}:(?=\/\/)/gi;

/** A fence is longer than the longest run of backticks inside it. */
const LONG_RUN = /`{20}(?=`)/g;
const LINE_ENDS = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;

/** Puts a blank after each sign that a host would act on. Idempotent. */
export function forHost(text: string): string {
  return text.replace(SIGNS, "$& ").replace(TRACKER_KEYS, "$& ");
}

/** Like forHost, for a line outside a fence: also keeps addresses from becoming links. */
export function forHostLine(line: string): string {
  return forHost(line).replace(ADDRESS, "$& ");
}

/** Makes the lines of a foreign text fit for a fence, each by `hostLine`. */
export function hostLines(text: string): string[] {
  return text.split(LINE_ENDS).map(hostLine);
}

/**
 * Makes a line fit for a fence: breaks signs, removes colours and tabs, makes other control characters visible, limits runs of
 * backticks.
 */
export function hostLine(line: string): string {
  const whole = line.replace(LONE_SURROGATE, "\ufffd").replaceAll("\t", "  ");
  return forHost(forMarkdown(whole)).replace(LONG_RUN, "$& ").trimEnd();
}

/** A line of a fence: `text` is from `hostLines`; `mark` is jpg's own and precedes it, so that no foreign text begins a line. */
export interface FencedLine {
  readonly mark: "@@ " | "- " | "+ " | "  " | "    ";
  readonly text: string;
}

/**
 * Puts lines into a code fence that none of them can end. Nothing in it is rendered as Markdown or HTML; no line can pass for a
 * trailer, a command to a host, a git comment or the beginning of a patch. `language` colours it on some hosts.
 */
export function fence(lines: readonly FencedLine[], language: "" | "diff" = ""): string {
  const longest = lines.reduce((most, { text }) => Math.max(most, longestRun(text)), 2);
  const marker = "`".repeat(longest + 1);
  const inside = lines.map(({ mark, text }) => (text === "" ? mark.trimEnd() : mark + text));
  return [marker + language, ...inside, marker].join("\n");
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
