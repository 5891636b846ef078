// The index of what a view hides, made by rule: files with what was done to them, commands with their outcome, error lines, SHAs, defined
// names; newest first, without anything the view still shows. A view alone does not show what it hides; the index says it in a few hundred
// words.
import type { HiddenIndex } from "../conversation/compaction.ts";
import { type Event, type Turn, traitsOf } from "../conversation/event.ts";
import { proseChars } from "../conversation/text-tokens.ts";
import { estimateEvent } from "../conversation/token-estimate.ts";
import { errorLines } from "./facts.ts";
import { commandsRun, textsOf } from "./hidden-content.ts";
import { definedNames } from "./summary-answer.ts";
import { callFacts, listToolCalls, type ToolCall } from "./tool-call.ts";

/** Largest size of the index: this share of the hidden tokens, and this many tokens. */
const SHARE = 0.02;
const MOST_TOKENS = 1500;
/** A smaller index would say too little to be worth a line. */
const LEAST_TOKENS = 60;
/** Characters per token of English prose; other scripts take more tokens. */
const CHARS_PER_TOKEN = 4;
const HEADING = "[Index of what is left out above, made by rule, newest first]";
const SEPARATOR = "; ";
/** Replaces the separator inside an entry, so that a list can be read back. */
const INNER = ";";

interface IndexRequest {
  /** The raw turns to index, in order; those that an older compaction hides may be left to `former`. */
  readonly turns: readonly Turn[];
  /** The events of the view without any index. */
  readonly shown: readonly Event[];
  /** Text of the index that it replaces: its entries from outside `turns` are appended to the new ones. */
  readonly former?: string;
}

/** Creates the index; null if too little is hidden, or nothing that an index could name. */
export function indexHidden({ turns, shown, former = "" }: IndexRequest): HiddenIndex | null {
  const shownEvents = new Set(shown);
  const hidden = turns.flatMap(({ events }) =>
    events.filter((event) => traitsOf(event).providerVisible && !shownEvents.has(event)),
  );
  const room = Math.min(MOST_TOKENS, SHARE * tokensGone(hidden, shown) + proseChars(former) / CHARS_PER_TOKEN);
  if (room < LEAST_TOKENS) return null;
  const isGone = (event: Event | null): boolean => event !== null && !shownEvents.has(event);
  const calls = listToolCalls(turns).filter(({ request, response }) => isGone(request) || isGone(response));
  const text = withoutSeparators(shown.flatMap(textsOf).join("\n"));
  const lists = listEntries(hidden.toReversed(), calls.toReversed());
  const kept = lists.map((list) => ({
    ...list,
    entries: appendFormer(list.entries, formerEntries(former, list.title)),
  }));
  return writeIndex(kept, createNameLookup(text), Math.floor(room * CHARS_PER_TOKEN));
}

/** Returns a function that says whether a text contains a name. A single word is looked up in the text's distinct words. */
function createNameLookup(text: string): (name: string) => boolean {
  let words: string | null = null;
  return (name) => {
    if (!/^\w+$/.test(name)) return text.includes(name);
    words ??= [...new Set(text.match(/\w+/g))].join(" ");
    return words.includes(name);
  };
}

/** Yields the entries, then those of an older list that name something else. */
function* appendFormer(entries: Iterable<IndexEntry>, former: readonly IndexEntry[]): Generator<IndexEntry> {
  const names = new Set<string>();
  for (const entry of entries) {
    names.add(nameIn(withoutSeparators(entry.text)));
    yield entry;
  }
  for (const entry of former) if (!names.has(entry.name)) yield entry;
}

/** Reads one list of an index back. */
function formerEntries(text: string, title: string): readonly IndexEntry[] {
  const line = text.split("\n").find((candidate) => candidate.startsWith(`${title}: `)) ?? "";
  const texts = line.slice(title.length + 2).split(SEPARATOR);
  return texts.flatMap((entry) => (entry === "" ? [] : { name: nameIn(entry), text: entry }));
}

/** The name in an entry, as far as it is written: everything before what was done with it. */
function nameIn(entry: string): string {
  return entry.replace(/ (?:\([^()]*\)|→ .*)$/, "").replace(/^…|…$/g, "");
}

function withoutSeparators(text: string): string {
  return text.replaceAll(SEPARATOR, INNER);
}

/** Tokens of hidden events, less those of what replaces them. */
function tokensGone(hidden: readonly Event[], shown: readonly Event[]): number {
  const ids = new Set(hidden.map(({ id }) => id));
  const sum = (events: readonly Event[]): number => events.reduce((tokens, event) => tokens + estimateEvent(event), 0);
  return sum(hidden) - sum(shown.filter(({ id }) => ids.has(id)));
}

/** Fills the room list by list; what one leaves of its share, the next may take. */
function writeIndex(lists: readonly IndexList[], isShown: (name: string) => boolean, room: number): HiddenIndex | null {
  const chars = room - HEADING.length;
  const lines = [HEADING];
  let unused = 0;
  let count = 0;
  for (const { title, share, entries } of lists) {
    let left = share * chars + unused - title.length - 3;
    // By name: of a command that ran repeatedly, the newest outcome.
    const taken = new Map<string, string>();
    for (const entry of entries) {
      const [name, text] = [withoutSeparators(entry.name), withoutSeparators(entry.text)];
      const size = proseChars(text) + SEPARATOR.length;
      if (left < size) break;
      if (taken.has(name) || isShown(name)) continue;
      taken.set(name, text);
      left -= size;
    }
    unused = Math.max(0, taken.size === 0 ? left + title.length + 3 : left);
    count += taken.size;
    if (taken.size > 0) lines.push(`${title}: ${[...taken.values()].join(SEPARATOR)}`);
  }
  return count === 0 ? null : { text: lines.join("\n"), entries: count };
}

// What an index can name, list by list, newest first. Each list is read only as far as there is room for it.

/** One entry; left out if the view shows its name. */
interface IndexEntry {
  readonly name: string;
  readonly text: string;
}

/** The entries of one kind, and the share of the room that they may take. */
interface IndexList {
  readonly title: string;
  readonly share: number;
  readonly entries: Iterable<IndexEntry>;
}

/** Longest entry, characters. */
const ENTRY_CHARS = 120;
/** Characters at the start and end of a result in which its exit code is looked for. */
const STATUS_CHARS = 200;
const EXIT_CODE = /\bexit(?:ed with)?(?: code| status)?[: ]{1,3}(\d{1,3})\b/i;
const SHA = /\b[0-9a-f]{7,40}\b/g;
/** What a call did to a file, by its kind. */
const ACTS: Readonly<Record<string, string>> = { write: "written", edit: "changed", read: "read" };

/** Lists what events and calls contain, both newest first. */
function listEntries(events: readonly Event[], calls: readonly ToolCall[]): readonly IndexList[] {
  return [
    { title: "Files", share: 0.35, entries: files(calls) },
    { title: "Commands", share: 0.25, entries: commands(calls) },
    { title: "Errors", share: 0.15, entries: lines(events) },
    { title: "SHAs", share: 0.05, entries: names(events, shasIn) },
    { title: "Names", share: 0.2, entries: names(events, definedNames) },
  ];
}

function files(calls: readonly ToolCall[]): readonly IndexEntry[] {
  const done = new Map<string, Set<string>>();
  for (const { request, response } of calls) {
    const { kind, path, paths = path === undefined ? [] : [path] } = callFacts(request);
    const act = response?.is_error === true ? "failed" : (ACTS[kind] ?? "named");
    for (const name of paths) done.set(name, (done.get(name) ?? new Set()).add(act));
  }
  return [...done].map(([name, acts]) => {
    const act = ` (${[...acts].join(", ")})`;
    return { name, text: `${shortenPath(name, ENTRY_CHARS - act.length)}${act}` };
  });
}

/** The end of a path says more than its beginning. */
function shortenPath(path: string, limit: number): string {
  const line = path.replace(/\s+/g, " ").trim();
  return line.length <= limit ? line : `…${line.slice(1 - limit).replace(/^[\udc00-\udfff]/, "")}`;
}

function* commands(calls: readonly ToolCall[]): Generator<IndexEntry> {
  for (const call of calls)
    for (const command of commandsRun(call.request.arguments)) {
      const text = shorten(command);
      yield { name: text.replace(/…$/, ""), text: `${text} → ${endingOf(call)}` };
    }
}

/** How a call ended: its exit code if its result names one other than 0. */
function endingOf({ response }: ToolCall): string {
  if (response === null) return "no result";
  const text = textsOf(response).join("\n");
  const code = (EXIT_CODE.exec(text.slice(0, STATUS_CHARS)) ?? EXIT_CODE.exec(text.slice(-STATUS_CHARS)))?.[1];
  if (code !== undefined && code !== "0") return `exit ${code}`;
  return response.is_error ? "failed" : "ok";
}

function* lines(events: readonly Event[]): Generator<IndexEntry> {
  for (const event of events)
    for (const line of errorLines(event)) {
      const text = shorten(line);
      yield { name: text.replace(/…$/, ""), text };
    }
}

function* names(events: readonly Event[], namesIn: (text: string) => Iterable<string>): Generator<IndexEntry> {
  for (const event of events)
    for (const text of textsOf(event)) for (const name of namesIn(text)) yield { name, text: name };
}

function shasIn(text: string): readonly string[] {
  return (text.match(SHA) ?? []).filter(isMixed);
}

/** Neither a number nor a word. */
function isMixed(name: string): boolean {
  return /\d/.test(name) && /[a-f]/.test(name);
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= ENTRY_CHARS) return line;
  return `${line.slice(0, ENTRY_CHARS - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
