// An edited plan: what is to become of each part of a view, as people, programs and reviewers write it. Printed and parsed line by line
// like the list of `git rebase -i`: verb and place count, the rest of a line is for people.
import type { Compaction } from "../conversation/compaction.ts";
import {
  type CutRange,
  type Event,
  formatTurnRange,
  type ProjectedTurn,
  plainText,
  type ToolCallRequest,
  type Turn,
  type TurnRange,
  traitsOf,
  type View,
  wordsOfContent,
} from "../conversation/event.ts";
import type { Pin } from "../conversation/marks.ts";
import { pairCalls } from "../conversation/tool-pairing.ts";
import { nearestName } from "../errors.ts";
import { forLine } from "../safe-text.ts";
import { commandsRun, filesNamed } from "./hidden-content.ts";

/** The branch that a plan was made from. */
export interface PlanBase {
  readonly branch: string;
  /** Id of its tip, at least the first 7 characters. */
  readonly commit: string;
  /** Whether calls have lines of their own. */
  readonly calls: boolean;
}

export interface PlanLine {
  readonly verb: EditVerb;
  /** As `EditItem.place`. */
  readonly place: string;
  /** The rest of the line. */
  readonly about?: string;
  /** Line it was read from, 1-based. */
  readonly line?: number;
}

export interface EditPlan {
  readonly base: PlanBase;
  readonly lines: readonly PlanLine[];
}

export interface PlanProblem {
  /** Line of the text, 1-based. */
  readonly line: number;
  /** A clause. */
  readonly message: string;
}

/** A parsed text; `plan` is null when it asks for nothing, and must not be followed if there are problems. */
interface ParsedPlan {
  readonly plan: EditPlan | null;
  readonly problems: readonly PlanProblem[];
}

/** Begins lines that are ignored. */
const COMMENT = "#";
/** Begins the comments that say what is wrong with the line below. */
const MARK = "# error: ";
const HEAD = "plan";
const CALLS = "calls";
/** Longest word that an error quotes, characters. */
const QUOTED = 30;

/** Prints a plan; `help` = comment lines below it. `parsePlan` reads it back. */
export function printPlan({ base, lines }: EditPlan, help: readonly string[] = []): string {
  const head = [HEAD, base.branch, base.commit, ...(base.calls ? [CALLS] : [])].join(" ");
  const verbs = widest(lines.map(({ verb }) => verb));
  const places = widest(lines.map(({ place }) => place));
  const body = lines.map(({ verb, place, about = "" }) => {
    return `${verb.padEnd(verbs)} ${base.calls ? place.padEnd(places) : place.padStart(places)}  ${about}`.trimEnd();
  });
  const comments = help.map((line) => `${COMMENT} ${line}`.trimEnd());
  return `${[head, ...body, ...(comments.length === 0 ? [] : ["", ...comments])].join("\n")}\n`;
}

function widest(words: readonly string[]): number {
  return words.reduce((width, word) => Math.max(width, word.length), 0);
}

/** Parses the text of a plan. A text without lines, or with only the first one, asks for nothing. */
export function parsePlan(text: string): ParsedPlan {
  const written = text
    .split(/\r?\n/)
    .map((words, at) => ({ line: at + 1, words: words.trim() }))
    .filter(({ words }) => words !== "" && !words.startsWith(COMMENT));
  const [first] = written;
  if (first === undefined) return { plan: null, problems: [] };
  const base = parseHead(first.words);
  if (base === null) {
    const message = `expected \`plan BRANCH COMMIT\`, the first line of what \`jpg edit --emit-plan\` prints, got ${quote(first.words)}`;
    return { plan: null, problems: [{ line: first.line, message }] };
  }
  const problems: PlanProblem[] = [];
  const lines = written.slice(1).flatMap(({ line, words }): PlanLine[] => {
    const [word = "", place, ...about] = words.split(/\s+/);
    const verb = parseVerb(word);
    if (verb === null) problems.push({ line, message: unknownVerb(word) });
    else if (place === undefined) problems.push({ line, message: `\`${verb}\` needs the number of a turn` });
    // If only the verb of a line is wrong, its place still counts, so that other problems are reported too.
    return place === undefined ? [] : [{ verb: verb ?? "keep", place, about: about.join(" "), line }];
  });
  const isEmpty = lines.length === 0 && problems.length === 0;
  return { plan: isEmpty ? null : { base, lines }, problems };
}

function parseHead(words: string): PlanBase | null {
  const [head, branch = "", commit = "", calls, ...more] = words.split(/\s+/);
  if (head !== HEAD || !/^[0-9a-f]{7,64}$/.test(commit) || more.length > 0) return null;
  return calls === undefined || calls === CALLS ? { branch, commit, calls: calls === CALLS } : null;
}

function unknownVerb(word: string): string {
  const nearest = nearestName(word, VERB_WORDS);
  const hint = nearest === undefined ? `expected ${VERB_WORDS.slice(0, -1).join(", ")}` : `did you mean ${nearest}?`;
  return `unknown verb ${quote(word)}: ${hint}`;
}

function quote(text: string): string {
  const line = forLine(text, QUOTED + 1);
  return JSON.stringify([...line].length > QUOTED ? `${[...line].slice(0, QUOTED).join("")}…` : line);
}

/** Removes the marks from a plan's text. */
export function withoutMarks(text: string): string {
  return text
    .split("\n")
    .filter((line) => !line.startsWith(MARK))
    .join("\n");
}

/** Marks lines of a plan's text with what is wrong with them, in comments above; older marks are removed. */
export function markPlan(text: string, problems: readonly PlanProblem[]): string {
  const lines = text.split("\n");
  const marked = lines.flatMap((words, at) => {
    const wrong = problems.filter(({ line }) => line === at + 1).map(({ message }) => `${MARK}${forLine(message)}`);
    return words.startsWith(MARK) ? wrong : [...wrong, words];
  });
  return marked.join("\n");
}

/** What becomes of the subject of a line. */
export type EditVerb = "keep" | "strip" | "truncate" | "omit" | "summarise" | "pin";

/** Longest result that `truncate` leaves whole, characters. */
export const TRUNCATED_CHARS = 2000;

interface VerbWords {
  readonly letter: string;
  /** What it does, for the help below a plan. */
  readonly does: string;
}

/** The verbs, in the order of the help. */
export const EDIT_VERBS: Readonly<Record<EditVerb, VerbWords>> = {
  keep: { letter: "k", does: "leave it as it is" },
  strip: { letter: "s", does: "leave out reasoning, and the arguments and results of calls" },
  truncate: { letter: "t", does: `shorten results of calls to ${TRUNCATED_CHARS} characters` },
  omit: { letter: "o", does: "leave it out" },
  summarise: { letter: "u", does: "replace it with a summary; consecutive lines share one" },
  pin: { letter: "p", does: "keep it through later compactions; any other verb unpins" },
};

const WORDS: ReadonlyMap<string, EditVerb> = new Map<string, EditVerb>([
  ...Object.entries(EDIT_VERBS).flatMap(([verb, { letter }]): [string, EditVerb][] => [
    [verb, verb as EditVerb],
    [letter, verb as EditVerb],
  ]),
  ["summarize", "summarise"],
]);

/** The words that `parseVerb` knows, without letters. */
const VERB_WORDS: readonly string[] = [...WORDS.keys()].filter((word) => word.length > 1);

function parseVerb(word: string): EditVerb | null {
  return WORDS.get(word) ?? null;
}

// What a plan has lines for: the parts of the view, in its order, and, if asked for, the calls in them. Each has a place, by which it is
// written, and the stretch of the conversation that it represents.

/** The subject of one line. */
export interface EditItem {
  /** As a plan writes it: `5`, `0..12`, `5:EVENT`; unique in its plan. */
  readonly place: string;
  readonly kind: "turn" | "summary" | "call";
  /** Raw turns and events that it represents. */
  readonly range: CutRange;
  /** Of a call: the id of its request. */
  readonly call?: string;
  /** Of a summary: its compaction. */
  readonly compaction?: string;
  /** Its present state: a line with this verb changes nothing. */
  readonly verb: Extract<EditVerb, "keep" | "pin">;
  /** Tokens of it in the view, not rounded. */
  readonly tokens: number;
  /** Of its first event; "" when that has none. */
  readonly time: string;
  /** Its first words, on one line. */
  readonly words: string;
}

interface ItemFacts {
  /** Without its index, which has no line. */
  readonly view: View;
  readonly turns: ReadonlyMap<number, Turn>;
  /** Those in force. */
  readonly compactions: readonly Compaction[];
  readonly pins: readonly Pin[];
  /** Tokens of an event, not rounded. */
  readonly count: (event: Event) => number;
  /** Whether calls have lines of their own. */
  readonly calls: boolean;
}

/** Longest words of an item, characters. */
const ITEM_WORDS = 120;
/** Least characters of an event's id in a place. */
const PREFIX = 8;

/** Lists what a plan of a view has lines for, in order. */
export function itemsOf(facts: ItemFacts): readonly EditItem[] {
  const taken = new Set<string>();
  return facts.view.turns.flatMap((projected) => {
    const item = itemOf(projected, facts);
    const place = freePlace(item.place, item.range, taken);
    taken.add(place);
    return [{ ...item, place }, ...(facts.calls ? callsOf(projected, facts) : [])];
  });
}

function itemOf(projected: ProjectedTurn, { compactions, pins, count, turns }: ItemFacts): EditItem {
  const { origin, events } = projected;
  const common = {
    tokens: events.reduce((sum, event) => sum + count(event), 0),
    time: events[0]?.timestamp ?? "",
  };
  if (origin.kind !== "kept") {
    const compaction = compactions.find(({ id }) => id === origin.compaction);
    const range = summaryRange(origin, compaction ?? {}, turns);
    const text = compaction?.summary?.summary;
    const words = `[${origin.kind}] ${text === undefined ? wordsOf(events.findLast(isVisible)) : forLine(text, ITEM_WORDS)}`;
    const place = formatTurnRange({ from: origin.from, to: origin.to });
    return { place, kind: "summary", range, compaction: origin.compaction, verb: "keep", ...common, words };
  }
  const { turn } = origin;
  const isPinned = pins.some((pin) => pin.turn === turn && pin.event === undefined);
  return {
    place: String(turn),
    kind: "turn",
    range: origin.part === true ? partRange(turn, events, turns) : { from: turn, to: turn },
    verb: isPinned ? "pin" : "keep",
    ...common,
    words: wordsOf(events.find(isAsked) ?? events.find(isVisible)),
  };
}

/** The range that a summary replaces, cut where it is cut; as in a projection, an end that does not exist is ignored. */
function summaryRange(
  { from, to }: TurnRange,
  { from_event, to_event }: Pick<Compaction, "from_event" | "to_event">,
  turns: ReadonlyMap<number, Turn>,
): CutRange {
  const isThere = (turn: number, event: string): boolean =>
    turns.get(turn)?.events.some(({ id }) => id === event) !== false;
  const isFrom = from_event !== undefined && isThere(from, from_event);
  return {
    from: from_event === undefined || isFrom ? from : Math.min(from + 1, to),
    ...(isFrom ? { fromEvent: from_event } : {}),
    to,
    ...(to_event !== undefined && isThere(to, to_event) ? { toEvent: to_event } : {}),
  };
}

/** What is shown of a turn, from its first event to its last; ends that are the turn's own are not named. */
function partRange(turn: number, events: readonly Event[], turns: ReadonlyMap<number, Turn>): CutRange {
  const raw = turns.get(turn)?.events.filter(isVisible) ?? [];
  const shown = events.filter(isVisible);
  const [first, last] = [shown[0]?.id, shown.at(-1)?.id];
  return {
    from: turn,
    ...(first === undefined || first === raw[0]?.id ? {} : { fromEvent: first }),
    to: turn,
    ...(last === undefined || last === raw.at(-1)?.id ? {} : { toEvent: last }),
  };
}

/** The calls that are shown of a turn, each with its result. */
function callsOf({ origin, events }: ProjectedTurn, { turns, pins, count }: ItemFacts): readonly EditItem[] {
  if (origin.kind !== "kept") return [];
  const { turn } = origin;
  const ids = (turns.get(turn)?.events ?? events).map(({ id }) => id);
  const pairs = pairCalls([{ index: turn, events }], () => false);
  const answers = new Map([...pairs].map(([answer, call]) => [call, answer] as const));
  const calls = events.filter((event) => event.type === "tool_call_request");
  return calls.map((call, at): EditItem => {
    const answer = answers.get(call);
    return {
      place: `${turn}:${shortId(call.id, ids, at)}`,
      kind: "call",
      range: { from: turn, fromEvent: call.id, to: turn, toEvent: answer?.id ?? call.id },
      call: call.id,
      verb: pins.some((pin) => pin.turn === turn && pin.event === call.id) ? "pin" : "keep",
      tokens: count(call) + (answer === undefined ? 0 : count(answer)),
      time: call.timestamp,
      words: callWords(call),
    };
  });
}

/** The shortest prefix of an id that no other has; where ids cannot be written in a plan, the number of the call, 0-based. */
function shortId(id: string, all: readonly string[], at: number): string {
  if (!/^[\w.:-]+$/.test(id)) return `#${at}`;
  const others = all.filter((other) => other !== id && other.startsWith(id.slice(0, PREFIX)));
  let length = PREFIX;
  while (length < id.length && others.some((other) => other.startsWith(id.slice(0, length)))) length += 1;
  return id.slice(0, length);
}

/** Names a turn that has several lines by the event at which each later one begins. */
function freePlace(place: string, { fromEvent }: CutRange, taken: ReadonlySet<string>): string {
  if (!taken.has(place)) return place;
  if (fromEvent !== undefined && /^[\w.:-]+$/.test(fromEvent)) {
    for (let length = PREFIX; length < fromEvent.length + PREFIX; length++) {
      const named = `${place}@${fromEvent.slice(0, length)}`;
      if (!taken.has(named)) return named;
    }
  }
  let number = 2;
  while (taken.has(`${place}@${number}`)) number += 1;
  return `${place}@${number}`;
}

function isVisible(event: Event): boolean {
  return traitsOf(event).providerVisible;
}

function isAsked(event: Event): boolean {
  return event.type === "chat_request" && (event.role ?? "user") === "user";
}

function callWords({ name, arguments: args }: ToolCallRequest): string {
  const [subject = ""] = [...commandsRun(args), ...filesNamed(args)];
  return forLine(`${name} ${subject}`, ITEM_WORDS);
}

function wordsOf(event: Event | undefined): string {
  switch (event?.type) {
    case "chat_request":
      return forLine(wordsOfContent(event.content), ITEM_WORDS);
    case "chat_response":
      return forLine(
        event.message === undefined ? plainText(event.reasoning ?? "") : wordsOfContent(event.message),
        ITEM_WORDS,
      );
    case "tool_call_request":
      return callWords(event);
    case "tool_call_response":
      return forLine(wordsOfContent(event.content), ITEM_WORDS);
    default:
      return "";
  }
}
