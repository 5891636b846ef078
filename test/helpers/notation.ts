// A conversation in one line: "U A | U R T t A". Turns are split by `|`, one letter is one event; turn_starts are implied.
// Ids are `e<turn>.<n>` with n = 0 for the turn_start, call ids repeat in every turn (`c1`, `c2` …), times rise.
import type { Content, Event, ProjectedTurn, Turn, View } from "../../src/core/conversation/event.ts";

/**
 * Letters: U user request · Q queued request · S harness's system request · A message · R reasoning · D data · T tool
 * call (`T:name`, default `tool`) · t result of the earliest unanswered call of the turn (`t!` = error) · N note ·
 * X event of an unknown kind. A first turn that begins with `^` has no turn_start.
 */
export function parseConversation(notation: string): Turn[] {
  if (notation.trim() === "") return [];
  return notation.split("|").map((words, index) => ({ index, events: parseTurn(words.trim(), index) }));
}

function parseTurn(words: string, turn: number): Event[] {
  const tokens = words.split(/\s+/).filter((token) => token !== "");
  const start: Event = { type: "turn_start", id: `e${turn}.0`, timestamp: timeOf(turn, 0) };
  const events: Event[] = tokens[0] === "^" ? [] : [start];
  const open: string[] = [];
  let calls = 0;
  for (const [at, token] of tokens.filter((word) => word !== "^").entries()) {
    const n = at + 1;
    const base = { id: `e${turn}.${n}`, timestamp: timeOf(turn, n) };
    if (token.startsWith("T")) {
      calls += 1;
      open.push(`c${calls}`);
      const name = token.split(":")[1] ?? "tool";
      const call_id = `c${calls}`;
      events.push({ type: "tool_call_request", ...base, call_id, name, arguments: { input: `in ${base.id}` } });
    } else if (token === "t" || token === "t!") {
      const call_id = open.shift() ?? "c0";
      const content = `first line of ${base.id}\nsecond line of ${base.id}`;
      events.push({ type: "tool_call_response", ...base, call_id, content, is_error: token === "t!" });
    } else events.push(createPlainEvent(token, base));
  }
  return events;
}

function createPlainEvent(letter: string, base: { readonly id: string; readonly timestamp: string }): Event {
  const { id } = base;
  switch (letter) {
    case "U":
      return { type: "chat_request", ...base, content: `ask ${id}` };
    case "Q":
      return { type: "chat_request", ...base, content: `also ${id}`, metadata: { origin: "queued" } };
    case "S":
      return { type: "chat_request", ...base, role: "system", content: `mind ${id}`, metadata: { origin: "harness" } };
    case "A":
      return { type: "chat_response", ...base, message: `say ${id}` };
    case "R":
      return { type: "chat_response", ...base, reasoning: `think ${id}` };
    case "D":
      return { type: "chat_response", ...base, data: { of: id } };
    case "N":
      return { type: "note", ...base, kind: "progress", data: { of: id } };
    case "X":
      return { type: "future_kind", ...base, anything: 1 } as unknown as Event;
    default:
      throw new Error(`notation: "${letter}" is no event letter (known: U Q S A R D T t N X)`);
  }
}

/** By seconds: laws ask for the same ones all the time. */
const times = new Map<number, string>();

/** Time of the n-th event of a turn: one hour a turn, one second an event. */
function timeOf(turn: number, n: number): string {
  const seconds = 3600 * turn + n;
  const time = times.get(seconds) ?? new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();
  times.set(seconds, time);
  return time;
}

/** Prints raw turns so that `parseConversation` reads them back. */
export function printConversation(turns: readonly Turn[]): string {
  return turns.map(({ events }) => printEvents(events)).join(" | ");
}

function printEvents(events: readonly Event[]): string {
  const start = events[0]?.type === "turn_start" ? [] : ["^"];
  return [...start, ...events.filter(({ type }) => type !== "turn_start").map(printEvent)].join(" ");
}

/**
 * Prints a view: an injected turn as `<id>` (`<id:request>`, `<id:system>` for the other forms, `<id:U A>` for a
 * replacement), a part of a turn with `+` before it, stripped events with `-`, truncated ones with `~`.
 */
export function printView(view: View): string {
  return view.turns.map(printProjectedTurn).join(" | ");
}

function printProjectedTurn({ origin, events }: ProjectedTurn): string {
  const rest = events.filter(({ type }) => type !== "turn_start");
  if (origin.kind === "kept") return [...(origin.part ? ["+"] : []), ...rest.map(printShown)].join(" ");
  if (origin.kind === "replacement") return `<${origin.compaction}:${rest.map(printShown).join(" ")}>`;
  if (rest.length === 2) return `<${origin.compaction}>`;
  const isSystem = rest[0]?.type === "chat_request" && rest[0].role === "system";
  return `<${origin.compaction}:${isSystem ? "system" : "request"}>`;
}

function printShown(event: Event): string {
  if (event.type === "tool_call_request" && Object.keys(event.arguments as object).length === 0) return "T-";
  if (event.type === "tool_call_response") {
    const text = textOf(event.content);
    if (text.startsWith("[compacted]")) return "t-";
    if (text.includes("[compacted:")) return "t~";
  }
  return printEvent(event);
}

function textOf(content: Content): string {
  return typeof content === "string" ? content : JSON.stringify(content);
}

function printEvent(event: Event): string {
  switch (event.type) {
    case "chat_request":
      if (event.metadata?.origin === "harness") return "S";
      return event.metadata?.origin === "queued" ? "Q" : "U";
    case "chat_response":
      if (event.reasoning !== undefined) return "R";
      return event.data === undefined ? "A" : "D";
    case "tool_call_request":
      return event.name === "tool" ? "T" : `T:${event.name}`;
    case "tool_call_response":
      return event.is_error ? "t!" : "t";
    case "note":
      return "N";
    default:
      return "X";
  }
}
