// What the strategies do to a session. How large a view each leaves when it is run once, at the end, against the agent's own
// view and against published rules; whether what must stay visible under `auto` does; and what the session's own requests would
// have cost with a prompt cache: a request is one assistant message and sends everything before it. What begins like the request
// before is read from the cache, the rest is written to it. Answers cost the same under every policy and are left out, as are
// system prompt, tools and the cache's lifetime.
import { chooseStrategies, planOver, RULES, readCleared, sentEvents, sumTokens } from "./strategies-sessions.mjs";

/** Strategies that need a person or a model to say what goes. */
const NOT_MECHANICAL = ["classify-tangents", "summarize"];

/**
 * Measures a session. Gives the tokens of its view by what was done to it, and what `auto` and the agent lost.
 * @param {import("./strategies-sessions.mjs").Counting} library
 */
export async function measureViews(library, session) {
  const { turns, compactions, tokens } = session;
  const sent = sentEvents(library, { turns });
  const agent = sentEvents(library, library.projectTurns(turns, compactions));
  const sizes = { raw: tokens, "agent itself": sumTokens(agent, library.count) };
  for (const { name } of library.STRATEGIES.filter((strategy) => !NOT_MECHANICAL.includes(strategy.name)))
    sizes[name] = (await runOnce(library, session, { names: [name] })).size;
  const keep = listPins(library, session);
  const auto = await runOnce(library, session, { names: ["auto"], keep });
  sizes.auto = auto.size;
  for (const target of ["0.5", "0.25"])
    sizes[`tiered ${target}`] = (await runOnce(library, session, { names: ["tiered"], target })).size;
  for (const [name, rule] of Object.entries(RULES))
    sizes[name] = sumTokens(readCleared(sent, rule(library, sent, new Map())), library.count);
  return {
    sizes,
    lost: findLost(library, session, { shown: auto.shown, keep }),
    lostByAgent: findLost(library, session, { shown: agent, keep }),
  };
}

/**
 * Runs strategies over all but the newest tokens; `size` is that of the raw view where the gain is not worth a batch.
 * @param {import("./strategies-sessions.mjs").Counting} library
 * @param {{ turns: readonly any[], tokens: number }} session
 * @param {{ names: readonly string[], target?: string, keep?: readonly string[] }} how
 */
async function runOnce(library, { turns, tokens }, { names, target, keep = [] }) {
  const chosen = chooseStrategies(library, names, target);
  const compaction = await planOver(library, turns, { chosen, keep, viewTokens: tokens });
  const shown = sentEvents(library, library.projectTurns(turns, compaction === null ? [] : [compaction]));
  const size = sumTokens(shown, library.count);
  return { shown, size: tokens - size < (chosen.minGainTokens ?? 0) ? tokens : size };
}

/**
 * Pins three results, at a quarter, the middle and three quarters of the session, each with its call.
 * @param {import("./strategies-sessions.mjs").Counting} library
 */
function listPins(library, { turns, calls }) {
  const answered = calls.filter(({ response }) => response !== null);
  const pins = [0.25, 0.5, 0.75].map((share) => {
    const { response, turn, responseTurn = turn } = answered[Math.floor(answered.length * share)];
    return { turn: responseTurn, event: response.id };
  });
  return library.pinnedEvents(pins, turns);
}

/**
 * What of the user's requests, of the paths of written and edited files, and of the pins is not shown, as lists of words.
 * @param {import("./strategies-sessions.mjs").Counting} library
 * @param {{ events: readonly any[], calls: readonly any[] }} session
 * @param {{ shown: readonly any[], keep?: readonly string[] }} view
 */
export function findLost(library, { events, calls }, { shown, keep = [] }) {
  const shownEvents = new Set(shown);
  const requests = events.filter(({ type, role = "user" }) => type === "chat_request" && role === "user");
  const pinned = new Set(keep);
  const texts = shown.flatMap(textsOf).join("\n");
  const paths = calls.flatMap(({ request }) => {
    const { kind, path, paths = [path] } = library.callFacts(request);
    if (kind !== "write" && kind !== "edit") return [];
    return paths.filter((name) => name !== undefined).map((name) => ({ path: name, request }));
  });
  return {
    requests: requests.filter((event) => !shownEvents.has(event)).map(({ id }) => id),
    paths: paths
      .filter(({ path }) => !texts.includes(path))
      .map(({ path, request }) => `${path} (${request.name} ${request.id})`),
    pins: events.filter((event) => pinned.has(event.id) && !shownEvents.has(event)).map(({ id }) => id),
    of: { requests: requests.length, paths: new Set(paths.map(({ path }) => path)).size, pins: pinned.size },
  };
}

/** What calls, answers and requests say; results are left out: a path in a listing does not say that the file was changed. */
function textsOf(event) {
  if (event.type === "tool_call_request") return stringsIn(event.arguments);
  if (event.type === "chat_request") return stringsIn(event.content);
  return event.type === "chat_response" ? stringsIn(event.message) : [];
}

function stringsIn(value) {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

/**
 * Simulates a session under every policy. Gives by its name the cost (tokens at the price of plain input), how often more
 * than what was new had to be written (`breaks`), and the last request itself.
 * `before` is what stands before that request, with its calls.
 * @param {import("./strategies-sessions.mjs").Counting} library
 */
export async function simulateCosts(library, session) {
  const positions = listRequests(session.events);
  const policies = {
    none: neverCompact,
    auto: autoInBatches(library, session),
    "agent itself": agentsOwn(library, session),
    "sliding mask": followRule(library, RULES["newest 10"]),
    "clear at 100k": followRule(library, RULES["clear at 100k"]),
    "protect 40k": followRule(library, RULES["protect 40k"]),
  };
  const costs = {};
  for (const [name, policy] of Object.entries(policies))
    costs[name] = await simulate(library, session, positions, policy);
  const before = turnsBefore(session.turns, positions.at(-1) ?? 0);
  return {
    requests: positions.length,
    costs,
    before: { events: before.flatMap(({ events }) => events), calls: library.listToolCalls(before) },
  };
}

/** Positions of the first events of assistant messages. */
function listRequests(events) {
  const seen = new Set();
  return [...events.keys()].filter((position) => {
    const id = events[position].metadata?.message_id;
    if (typeof id !== "string" || seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}

/** @param {import("./strategies-sessions.mjs").Counting} library */
async function simulate(library, { events }, positions, policy) {
  const { count, traitsOf, CACHE_READ, CACHE_WRITE } = library;
  const result = { cost: 0, breaks: 0, last: [] };
  let sent = [];
  let at = 0;
  for (const position of positions) {
    const fresh = events.slice(at, position).filter((event) => traitsOf(event).providerVisible);
    at = position;
    sent = [...sent, ...fresh];
    const next = await policy({ sent, fresh, position });
    const same = countSame(result.last, next);
    const kept = sumTokens(next.slice(0, same), count);
    const written = sumTokens(next.slice(same), count);
    if (same < result.last.length) result.breaks += 1;
    result.cost += CACHE_READ * kept + CACHE_WRITE * written;
    result.last = next;
  }
  return result;
}

/** How many events two requests have in common at their beginning. */
function countSame(before, after) {
  let same = 0;
  while (same < before.length && same < after.length && isSame(before[same], after[same])) same += 1;
  return same;
}

/** Projections write their stubs and summaries anew. */
function isSame(a, b) {
  return a === b || (a.id === b.id && JSON.stringify(a) === JSON.stringify(b));
}

function neverCompact({ sent }) {
  return sent;
}

/**
 * Replays a rule at every request; what it has cleared stays cleared.
 * @param {import("./strategies-sessions.mjs").Counting} library
 */
function followRule(library, rule) {
  let cleared = new Map();
  return ({ sent }) => {
    cleared = rule(library, sent, cleared);
    return readCleared(sent, cleared);
  };
}

/**
 * The compactions that the agent made, each from its time on. The requests that wrote its summaries are not counted.
 * @param {import("./strategies-sessions.mjs").Counting} library
 */
function agentsOwn(library, { turns, events, compactions }) {
  return ({ position }) => {
    const { timestamp } = events[position];
    const then = compactions.filter((compaction) => library.compareTimestamps(compaction.timestamp, timestamp) <= 0);
    return sentEvents(library, library.projectTurns(turnsBefore(turns, position), then));
  };
}

/**
 * Plans `auto` at every request where it may gain enough, and puts it in force when it does; compactions stack.
 * @param {import("./strategies-sessions.mjs").Counting} library
 */
function autoInBatches(library, { turns }) {
  const { count, projectTurns, MIN_GAIN_TOKENS } = library;
  const chosen = chooseStrategies(library, ["auto"]);
  let compactions = [];
  let view = [];
  /** Tokens that no batch has covered: a batch gains hardly more than these. */
  let uncovered = 0;
  return async ({ fresh, position }) => {
    view = [...view, ...fresh];
    uncovered += sumTokens(fresh, count);
    if (uncovered < MIN_GAIN_TOKENS) return view;
    const before = turnsBefore(turns, position);
    const viewTokens = sumTokens(view, count);
    const compaction = await planOver(library, before, { chosen, compactions, viewTokens });
    if (compaction === null) return view;
    const next = sentEvents(library, projectTurns(before, [...compactions, compaction]));
    if (viewTokens - sumTokens(next, count) < MIN_GAIN_TOKENS) return view;
    compactions = [...compactions, compaction];
    uncovered = sumTokens(eventsAfter(before, compaction), count);
    view = next;
    return view;
  };
}

/**
 * The events after the end of a compaction.
 * @param {readonly any[]} turns
 * @param {import("../src/core/conversation/compaction.ts").Compaction} compaction
 */
function eventsAfter(turns, { to_turn, to_event }) {
  return turns.flatMap(({ index, events }) => {
    if (index !== to_turn) return index < to_turn ? [] : events;
    return to_event === undefined ? [] : events.slice(events.findIndex(({ id }) => id === to_event) + 1);
  });
}

/** The conversation as it was before an event, by its position among all events. */
function turnsBefore(turns, position) {
  const before = [];
  let left = position;
  for (const { index, events } of turns) {
    if (left <= 0) break;
    before.push({ index, events: events.slice(0, left) });
    left -= events.length;
  }
  return before;
}
