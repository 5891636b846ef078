// What a session's own requests would have cost with a prompt cache under several policies: a request is one assistant message
// and sends everything before it. What begins like the request before is read from the cache, the rest is written to it.
// Answers cost the same under every policy and are left out, as are system prompt, tools and the cache's lifetime.
import { RULES, readCleared } from "./strategies-rules.mjs";
import { chooseStrategies, planOver, sentEvents, sumTokens } from "./strategies-sessions.mjs";

/**
 * Simulates a session under every policy. Gives by its name the cost (tokens at the price of plain input), the size of the
 * largest request, how often more than what was new had to be written (`breaks`), and the last request itself.
 * `before` is what stands before that request, with its calls.
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

async function simulate(library, { events }, positions, policy) {
  const { count, traitsOf, CACHE_READ, CACHE_WRITE } = library;
  const result = { cost: 0, breaks: 0, largest: 0, last: [] };
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
    result.largest = Math.max(result.largest, kept + written);
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

/** Replays a rule at every request; what it has cleared stays cleared. */
function followRule(library, rule) {
  let cleared = new Map();
  return ({ sent }) => {
    cleared = rule(library, sent, cleared);
    return readCleared(sent, cleared);
  };
}

/** The compactions that the agent made, each from its time on. The requests that wrote its summaries are not counted. */
function agentsOwn(library, { turns, events, compactions }) {
  return ({ position }) => {
    const { timestamp } = events[position];
    const then = compactions.filter((compaction) => library.compareTimestamps(compaction.timestamp, timestamp) <= 0);
    return sentEvents(library, library.projectTurns(turnsBefore(turns, position), then));
  };
}

/** Plans `auto` at every request where it may gain enough, and puts it in force when it does; compactions stack. */
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

/** The events after the end of a compaction. */
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
