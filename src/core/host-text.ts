// Text of strangers made fit for hosts of git. GitHub, GitLab, Gitea and what is coupled to them act on what a commit message
// says, and they read it raw: neither backticks nor a fence keep `fixes #1` from closing an issue. So each sign that they act on
// gets a blank behind it. A blank is seen, is in every font, and hides nothing from whoever searches.
import { forMarkdown } from "./safe-text.ts";

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
/** Keys of issue trackers act where a word before them closes issues, or where a command follows: `ABC-1 #close`. */
const TRACKER_KEYS =
  /\b(?:[Cc]los(?:e[sd]?|ing)|[Ff]ix(?:e[sd]|ing)?|[Rr]esolv(?:e[sd]?|ing)|[Ii]mplement(?:s|ed|ing)?):?[ \t]+(?:issues?[ \t]+)?[A-Z][A-Z0-9_]+-(?=\d)|\b[A-Z][A-Z0-9_]+-(?=\d+[ \t]+#[a-z])/g;
/** The beginning of an address, up to where the blank goes. */
const ADDRESS = /\b[a-z][a-z0-9+.-]{0,20}:(?=\/\/)/gi;

/** A fence is longer than the longest run in it, at both ends. */
const LONG_RUN = /`{20}(?=`)/g;
const LONE_SURROGATE = /\p{Cs}/gu;
const LINE_ENDS = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;

/** Puts a blank behind each sign that a host would act on. Doing it again changes nothing. */
export function forHost(text: string): string {
  return text.replace(SIGNS, "$& ").replace(TRACKER_KEYS, "$& ");
}

/** The same for a line that stands in no fence, where no address becomes a link either. */
export function forHostLine(line: string): string {
  return forHost(line).replace(ADDRESS, "$& ");
}

/** Makes the lines of a foreign text fit for a fence, each by `hostLine`. */
export function hostLines(text: string): string[] {
  return text.split(LINE_ENDS).map(hostLine);
}

/** Makes a line fit for a fence: signs broken, colours gone, other control characters visible, no tabs, no endless run of backticks. */
export function hostLine(line: string): string {
  const whole = line.replace(LONE_SURROGATE, "\ufffd").replaceAll("\t", "  ");
  return forHost(forMarkdown(whole)).replace(LONG_RUN, "$& ").trimEnd();
}

/** A line of a fence: `text` is one that `hostLines` gave; `mark` is jpg's own and stands before it, so that no text begins a line. */
export interface FencedLine {
  readonly mark: "@@ " | "- " | "+ " | "  " | "    ";
  readonly text: string;
}

/**
 * Puts lines into a code fence that none of them can end. Nothing in it is rendered as Markdown or HTML; no line of it can pass
 * for a trailer, a command to a host, a comment of git's or the beginning of a patch. `language` colours it on some hosts.
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
