// The grounding check: what a summary quotes or names that is nowhere in the events it was written from. Such a name was made up, or
// mistyped.
import type { FactKind } from "../conversation/compaction.ts";
import { type Event, fieldsOf } from "../conversation/event.ts";
import { lastAtMost } from "../lists.ts";
import { factsOf, factsOfText, pathEnds, pathOf, scanLines } from "./facts.ts";
import { commandLineOf, stringsIn, textsOf } from "./hidden-content.ts";
import { indexText } from "./words.ts";

/** Something in a summary that the events do not support. */
export interface Ungrounded {
  readonly kind: "quote" | "path" | "sha" | "number" | "issue" | "url";
  /** As the summary has it; numbers without group marks. */
  readonly text: string;
}

/** Most unmatched claims of a kind that are searched for: each costs a pass over all events. */
const MOST_SEARCHED = 500;
/** Most places listed for each fact. */
const MOST_PLACES = 3;
/** Most mentions examined to find these: one event may say a thing a million times. */
const MOST_LOOKED_AT = 1000;

/** The kinds of facts that are checked, with the names of the findings. */
const CHECKED = [
  ["files", "path"],
  ["shas", "sha"],
  ["numbers", "number"],
  ["issues", "issue"],
  ["urls", "url"],
] as const satisfies readonly (readonly [FactKind, Ungrounded["kind"]])[];

/**
 * Lists what a summary says and the covered raw events do not, by kind, each once: quotations of 8 characters or more (white space and `…`
 * aside), file paths (their base name is enough), SHAs, numbers (`1,234` is `1234`; rounded ones such as `1.2k` are skipped), issue numbers
 * and URLs.
 */
export function checkGrounding(summary: string, raw: readonly Event[]): readonly Ungrounded[] {
  const source = createSource(raw);
  return listClaims(summary, source).filter((claim) => !source.holds(claim) && !isMentioned(source, claim));
}

/** A claim of a summary, and where it was said before. */
export interface SourcedFact extends Ungrounded {
  /** Positions among the raw events, 0-based, ascending: the first few that say it; empty = none. */
  readonly places: readonly number[];
}

/** Lists what `checkGrounding` looks up, with the first events that say it: those without one are its findings, in its order. */
export function sourceFacts(summary: string, raw: readonly Event[]): readonly SourcedFact[] {
  const source = createSource(raw);
  return listClaims(summary, source)
    .filter(({ kind, text }) => kind !== "quote" || quotedParts(text).length > 0)
    .map((claim) => ({ ...claim, places: firstPlaces(source, claim) }));
}

/** The claims to look up in a summary: of each kind all that are facts of the events, and as many others as may be searched for. */
function listClaims(summary: string, source: Source): readonly Ungrounded[] {
  const said = factsOfText(summary);
  const words = new Set(CHECKED.flatMap(([kind]) => [...(said.get(kind) ?? [])]));
  const quotes = [...new Set(listQuotes(summary))].filter((quote) => !words.has(quote)).slice(0, MOST_SEARCHED);
  const claims: Ungrounded[] = quotes.map((text) => ({ kind: "quote", text }));
  for (const [fact, kind] of CHECKED) {
    let searched = 0;
    for (const text of said.get(fact) ?? []) {
      const isHeld = source.holds({ kind, text });
      if (!isHeld) searched += 1;
      if (isHeld || (searched <= MOST_SEARCHED && !isRounded(kind, text))) claims.push({ kind, text });
    }
  }
  return claims;
}

function isMentioned(source: Source, claim: Ungrounded): boolean {
  if (claim.kind === "quote" && quotedParts(claim.text).length === 0) return true;
  return source.mentions(claim).next().done === false;
}

function firstPlaces(source: Source, claim: Ungrounded): readonly number[] {
  const places = new Set<number>();
  let looked = 0;
  for (const place of source.mentions(claim)) {
    places.add(place);
    looked += 1;
    if (places.size === MOST_PLACES || looked === MOST_LOOKED_AT) break;
  }
  for (const place of source.heldBy(claim)) places.add(place);
  return [...places].sort((a, b) => a - b).slice(0, MOST_PLACES);
}

interface Source {
  /** Whether the claim is one of the events' own facts. */
  readonly holds: (claim: Ungrounded) => boolean;
  /** The first events of which it is a fact. */
  readonly heldBy: (claim: Ungrounded) => readonly number[];
  /** The events whose texts contain the claim, or enough of it; ascending, an event once per occurrence. */
  readonly mentions: (claim: Ungrounded) => Generator<number>;
}

/** Events that no model is sent have no texts, so they support nothing. */
function createSource(events: readonly Event[]): Source {
  const known = new Map<string, number[]>();
  // Joined by a character that no quotation contains.
  const texts: string[] = [];
  const starts: number[] = [];
  const owners: number[] = [];
  let length = 0;
  for (const [index, event] of events.entries()) {
    recordFacts(known, event, index);
    for (const spoken of writtenTexts(event)) {
      const text = normalBlanks(spoken);
      texts.push(text);
      starts.push(length);
      owners.push(index);
      length += text.length + 1;
    }
  }
  const joined = texts.join("\u0000");
  const heldBy = ({ kind, text }: Ungrounded): readonly number[] => known.get(`${kind} ${text}`) ?? [];
  return {
    holds: (claim) => heldBy(claim).length > 0,
    heldBy,
    *mentions(claim) {
      for (const at of offsetsOf(joined, claim)) yield owners[lastAtMost(starts, at)] ?? 0;
    },
  };
}

/** Records the first events of each fact that is checked. */
function recordFacts(known: Map<string, number[]>, event: Event, index: number): void {
  const facts = factsOf(event);
  for (const [fact, kind] of CHECKED)
    for (const text of facts.get(fact) ?? []) {
      const key = `${kind} ${text}`;
      const places = known.get(key);
      if (places === undefined) known.set(key, [index]);
      else if (places.length < MOST_PLACES) places.push(index);
    }
}

/** Offsets of a claim in a text, ascending. */
function* offsetsOf(text: string, { kind, text: wanted }: Ungrounded): Generator<number> {
  if (kind === "quote") yield* quoteOffsets(text, wanted);
  else if (kind === "number") yield* numberOffsets(text, wanted);
  else if (kind === "path" && !text.includes(wanted)) yield* wholeOffsets(text, pathEnds(wanted).at(-1) ?? wanted);
  else yield* wholeOffsets(text, wanted);
}

function* wholeOffsets(text: string, wanted: string): Generator<number> {
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) yield at;
}

/** All text of an event, including the names of tools and of arguments. */
function writtenTexts(event: Event): readonly string[] {
  if (event.type !== "tool_call_request") return textsOf(event);
  return [event.name, ...Object.keys(fieldsOf(event.arguments)), ...stringsIn(event.arguments)];
}

/** Offsets of a quotation whose parts occur in order: each place of its first part that the others follow. */
function* quoteOffsets(text: string, quote: string): Generator<number> {
  const [first, ...others] = quotedParts(quote).map((part) => (part.endsWith("()") ? part.slice(0, -1) : part));
  if (first === undefined) return;
  for (const start of wholeOffsets(text, first)) {
    let end = start + first.length;
    for (const part of others) {
      const at = text.indexOf(part, end);
      // What does not follow here follows nowhere later.
      if (at < 0) return;
      end = at + part.length;
    }
    yield start;
  }
}

/** `1.2k`, `3M`, `2x`: these cannot be looked up. */
function isRounded(kind: Ungrounded["kind"], text: string): boolean {
  return kind === "number" && /\d[kmgx]$/.test(text);
}

/** Offsets where the digits are a whole number, not part of a longer one, with any unit. */
function* numberOffsets(text: string, fact: string): Generator<number> {
  const digits = /^[\d.]+/.exec(fact)?.[0] ?? fact;
  const [whole = "", ...rest] = digits.split(".");
  const grouped = [whole.replace(/\B(?=(?:\d{3})+$)/g, ","), ...rest].join(".");
  const ways = [...new Set([digits, grouped])].map((written) => wholeNumberOffsets(text, written));
  const next = ways.map((way) => way.next());
  for (;;) {
    const open = next.flatMap((one, index) => (one.done === true ? [] : [{ index, at: one.value }]));
    const [first] = open.sort((a, b) => a.at - b.at);
    if (first === undefined) return;
    yield first.at;
    next[first.index] = (ways[first.index] as Generator<number>).next();
  }
}

function* wholeNumberOffsets(text: string, digits: string): Generator<number> {
  for (const at of wholeOffsets(text, digits))
    if (!isDigit(text[at - 1]) && !isDigit(text[at + digits.length])) yield at;
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= "0" && character <= "9";
}

// The quotations in a text: between "…", “…” or backticks within one line. One pass over each line.

/** Shortest and longest quotation that is looked up, characters. */
const SHORTEST = 8;
const LONGEST = 1000;
/** Opening marks and what closes them. */
const MARKS: Readonly<Partial<Record<string, string>>> = { '"': '"', "“": "”", "`": "`" };

/** Returns the quotations of at least 8 characters, in order, without their marks; nested ones are not listed. */
export function listQuotes(text: string): readonly string[] {
  const quotes: string[] = [];
  scanLines(text, (start, end) => {
    for (const quote of quotesInLine(text.slice(start, end)))
      if (quote.trim().length >= SHORTEST && quote.length <= LONGEST) quotes.push(quote);
  });
  return quotes;
}

function quotesInLine(line: string): readonly string[] {
  const quotes: string[] = [];
  // Marks that are not closed on the rest of the line.
  const alone = new Set<string>();
  for (let at = 0; at < line.length; at += 1) {
    const closing = MARKS[line[at] as string];
    if (closing === undefined || alone.has(closing)) continue;
    const close = line.indexOf(closing, at + 1);
    if (close < 0) alone.add(closing);
    else {
      quotes.push(line.slice(at + 1, close));
      at = close;
    }
  }
  return quotes;
}

/** Returns the parts of a quotation that must be found: it may be cut by `…` or `...`, and end in marks of the sentence around it. */
export function quotedParts(quote: string): readonly string[] {
  return normalBlanks(quote)
    .split(/…|\[…\]|\.\.\./)
    .map((part) => part.replace(/^[\s[\]]+|[\s[\].,;:!?]+$/g, ""))
    .filter((part) => part.length > 2);
}

/** Replaces each run of white space by one blank and typographic quotation marks by plain ones. */
export function normalBlanks(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[“”]/g, '"').replace(/[‘’]/g, "'");
}

/** Whether the summary contains a fact of a kind. */
export type HoldsFact = (kind: FactKind, text: string) => boolean;

/** Indexes the text of a summary; undefined = there is none. A command counts by its line, not its outcome. */
export function indexSummary(summary: string | undefined): HoldsFact {
  if (summary === undefined) return () => false;
  const facts = factsOfText(summary);
  const holds = indexText(summary);
  return (kind, text) => {
    if (facts.get(kind)?.has(text) === true) return true;
    switch (kind) {
      case "commands":
        return holds(commandLineOf(text));
      case "errors":
      case "requests":
      case "pins":
        return holds(text);
      case "files":
        // A name that only the arguments of a call show to be a file, such as Makefile.
        return pathOf(text) !== text && holds(text);
      default:
        return false;
    }
  };
}
