// The requests that a provider counted, listed from the facts of turns: an answer may go on in the next turn that holds answers,
// and what of it was written last counts.
import { appendAll } from "../append-all.ts";
import type { AnswerFacts, TurnFacts } from "./turn-facts.ts";
import { fromUsageRow, isCounted, type Usage } from "./usage.ts";

/** One request that the provider counted, among all turns at hand. Tokens are of their facts. */
export interface RecordedRequest {
  readonly usage: Usage;
  readonly model?: string | undefined;
  /** Tokens of all events before the answer. */
  readonly before: number;
  /** Which of the facts at hand it begins in, 0-based. */
  readonly at: number;
  /** Position of the turn in which it begins, 0-based. */
  readonly turn: number;
  /** What else is known of the answer; always of the newest request's. */
  readonly answer?: Answered;
}

/** The answer of a counted request. */
export interface Answered {
  /** When it began. */
  readonly time: string;
  /** Tokens of all events up to its end. */
  readonly through: number;
}

/** An answer with all that was written of it. */
export interface MergedAnswer extends Omit<AnswerFacts, "reach" | "turn"> {
  /** Position of the turn in which it begins. */
  readonly turn: number;
  /** Which of the facts it begins in, and which hold the last of it. */
  readonly at: number;
  readonly lastAt: number;
}

type Written = { -readonly [Key in keyof MergedAnswer]: MergedAnswer[Key] };

/** Lists the counted requests of turns in order, oldest first. */
export function recordedRequests(turns: readonly TurnFacts[]): readonly RecordedRequest[] {
  return walkAnswers(turns).flatMap((one): readonly RecordedRequest[] => {
    if (!("message" in one)) return [one];
    if (!isCounted(one)) return [];
    const { usage, model, before, at, turn, time, through } = one;
    return [{ usage, model, before, at, turn, answer: { time, through } }];
  });
}

/** Lists the answers of single turns in order, those too that nobody counted. */
export function mergeAnswers(turns: readonly TurnFacts[]): readonly MergedAnswer[] {
  return walkAnswers(turns).flatMap((one) => ("message" in one ? [one] : []));
}

/** Lists the answers in the order in which they begin, and between them what a stretch keeps of requests that nothing goes on with. */
function walkAnswers(turns: readonly TurnFacts[]): readonly (MergedAnswer | RecordedRequest)[] {
  const found: (MergedAnswer | RecordedRequest)[] = [];
  let open: OpenAnswers = new Map();
  let passed = 0;
  for (const [at, { index, answers, tokens, stretch }] of turns.entries()) {
    const place = { passed, at, index };
    const { front, behind, next } = takeAnswers(answers, place, open);
    appendAll(found, front);
    if (stretch !== undefined) appendAll(found, innerRequests(stretch, place));
    appendAll(found, behind);
    if (answers.length > 0) open = next;
    passed += tokens;
  }
  return found;
}

/** Answers of the last facts that hold any, by message. */
type OpenAnswers = ReadonlyMap<string | null, Written>;

/** Goes on with open answers; gives those that begin here, and those that are open from now on. */
function takeAnswers(
  answers: readonly AnswerFacts[],
  place: Place,
  open: OpenAnswers,
): { readonly front: readonly Written[]; readonly behind: readonly Written[]; readonly next: OpenAnswers } {
  const next = new Map<string | null, Written>();
  const [front, behind]: [Written[], Written[]] = [[], []];
  for (const answer of answers) {
    const known = goesBack(answer) ? open.get(answer.message) : undefined;
    const written = goOn(known ?? begin(answer, place), answer, place);
    if (goesOn(answer)) next.set(answer.message, written);
    if (known === undefined) (isBehindInner(answer) ? behind : front).push(written);
  }
  return { front, behind, next };
}

function isBehindInner({ reach }: AnswerFacts): boolean {
  return reach === "on" || reach === "none";
}

/** Where facts stand: the tokens before them, and which they are of those at hand. */
interface Place {
  readonly passed: number;
  readonly at: number;
  /** Position of their first turn. */
  readonly index: number;
}

function goesBack({ message, reach }: AnswerFacts): boolean {
  return message !== null && (reach === undefined || reach === "back");
}

function goesOn({ message, reach }: AnswerFacts): boolean {
  return message !== null && (reach === undefined || reach === "on");
}

function innerRequests(
  { inner: { before, turns, usage, models } }: NonNullable<TurnFacts["stretch"]>,
  { passed, at, index }: Place,
): readonly RecordedRequest[] {
  const names = models.flatMap(([model, count]) => Array.from({ length: count }, () => model ?? undefined));
  return before.map((tokens, place) => ({
    usage: fromUsageRow(usage[place] ?? []),
    model: names[place],
    before: passed + tokens,
    at,
    turn: index + (turns[place] ?? 0),
  }));
}

function begin({ message, time, before, turn = 0 }: AnswerFacts, { passed, at, index }: Place): Written {
  return { message, usage: null, time, before: passed + before, through: 0, at, turn: index + turn, lastAt: at };
}

/** What was written last of an answer counts. */
function goOn(written: Written, { through, usage, model }: AnswerFacts, { passed, at }: Place): Written {
  written.through = passed + through;
  written.usage = usage ?? written.usage;
  written.lastAt = at;
  if (model !== undefined) written.model = model;
  return written;
}
