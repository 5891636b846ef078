// The grounding check: what a summary quotes or names that stands nowhere in the events it was written from. A name that is
// not there was made up, or mistyped.
import type { FactKind } from "../compaction/loss-receipt.ts";
import type { Event } from "../event/event.ts";
import { fieldsOf } from "../event/fields.ts";
import { stringsIn, textsOf } from "./event-texts.ts";
import { factsOf, factsOfText } from "./facts.ts";
import { pathEnds } from "./path-word.ts";
import { listQuotes, normalBlanks, quotedParts } from "./quotes.ts";

/** Something in a summary that the events do not bear out. */
export interface Ungrounded {
  readonly kind: "quote" | "path" | "sha" | "number" | "issue" | "url";
  /** As the summary has it; numbers without group marks. */
  readonly text: string;
}

/** Most findings of a kind that are searched for: each costs a look through all events. */
const MOST_SEARCHED = 500;

/** The kinds of facts that are checked, with the names of the findings. */
const CHECKED = [
  ["files", "path"],
  ["shas", "sha"],
  ["numbers", "number"],
  ["issues", "issue"],
  ["urls", "url"],
] as const satisfies readonly (readonly [FactKind, Ungrounded["kind"]])[];

/**
 * Lists what a summary says and the covered raw events do not, by kind, each once: quotations of 8 characters or more (white
 * space and `…` aside), file paths (their base name is enough), SHAs, numbers (`1,234` is `1234`; rounded ones such as
 * `1.2k` are passed over), issue numbers and URLs.
 */
export function checkGrounding(summary: string, raw: readonly Event[]): readonly Ungrounded[] {
  const source = createSource(raw);
  const said = factsOfText(summary);
  const words = new Set(CHECKED.flatMap(([kind]) => [...(said.get(kind) ?? [])]));
  const findings: Ungrounded[] = [...new Set(listQuotes(summary))]
    .filter((quote) => !words.has(quote))
    .slice(0, MOST_SEARCHED)
    .filter((quote) => !source.quotes(quote))
    .map((text) => ({ kind: "quote", text }));
  for (const [kind, name] of CHECKED) {
    const facts = [...(said.get(kind) ?? [])].filter((text) => !source.holds(kind, text));
    for (const text of facts.slice(0, MOST_SEARCHED)) {
      if (!isRounded(kind, text) && !source.mentions(kind, text)) findings.push({ kind: name, text });
    }
  }
  return findings;
}

interface Source {
  /** Whether the parts of a quotation stand there in its order. */
  readonly quotes: (quote: string) => boolean;
  /** Whether the fact is one of the events' own. */
  readonly holds: (kind: FactKind, text: string) => boolean;
  /** Whether the fact, or what is enough of it, stands anywhere in the texts. */
  readonly mentions: (kind: FactKind, text: string) => boolean;
}

/** What no model is sent has no texts, and so bears nothing out. */
function createSource(events: readonly Event[]): Source {
  const known = new Map<FactKind, Set<string>>();
  for (const event of events) {
    for (const [kind, facts] of factsOf(event)) {
      const all = known.get(kind) ?? new Set();
      known.set(kind, all);
      for (const fact of facts) all.add(fact);
    }
  }
  // Between texts stands what no quotation holds.
  const text = normalBlanks(events.flatMap(spokenTexts).join("\u0000"));
  return {
    quotes: (quote) => standsIn(text, quote),
    holds: (kind, fact) => known.get(kind)?.has(fact) === true,
    mentions: (kind, fact) => {
      if (kind === "numbers") return hasNumber(text, fact);
      return text.includes(fact) || (kind === "files" && text.includes(pathEnds(fact).at(-1) ?? fact));
    },
  };
}

/** All that is written in an event: also the names of tools and of arguments. */
function spokenTexts(event: Event): readonly string[] {
  if (event.type !== "tool_call_request") return textsOf(event);
  return [event.name, ...Object.keys(fieldsOf(event.arguments)), ...stringsIn(event.arguments)];
}

function standsIn(text: string, quote: string): boolean {
  let from = 0;
  for (const part of quotedParts(quote)) {
    const call = part.endsWith("()") ? part.slice(0, -1) : part;
    const at = text.indexOf(call, from);
    if (at < 0) return false;
    from = at + call.length;
  }
  return true;
}

/** `1.2k`, `3M`, `2x`: nobody can look these up. */
function isRounded(kind: FactKind, text: string): boolean {
  return kind === "numbers" && /\d[kmgx]$/.test(text);
}

/** Whether the digits of a number stand somewhere as a number of their own, with whatever unit. */
function hasNumber(text: string, fact: string): boolean {
  const digits = /^[\d.]+/.exec(fact)?.[0] ?? fact;
  const [whole = "", ...rest] = digits.split(".");
  const grouped = [whole.replace(/\B(?=(?:\d{3})+$)/g, ","), ...rest].join(".");
  return [...new Set([digits, grouped])].some((written) => standsAlone(text, written));
}

function standsAlone(text: string, digits: string): boolean {
  for (let at = text.indexOf(digits); at >= 0; at = text.indexOf(digits, at + 1)) {
    if (!isDigit(text[at - 1]) && !isDigit(text[at + digits.length])) return true;
  }
  return false;
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= "0" && character <= "9";
}
