// Published rules of other agents, replayed mechanically over the events that a model is sent: which results they clear.
import { sumTokens } from "./strategies-sessions.mjs";

/** What stands in a cleared result's place. */
const CLEARED = "[Old tool result content cleared]";
/** Observation masking: all results but the newest ten. */
const MASK_NEWEST = 10;
/** Anthropic's context editing (clear_tool_uses): above 100,000 tokens all results but the newest three. */
const CLEAR_ABOVE = 100_000;
const CLEAR_NEWEST = 3;
/** OpenCode: the newest 40,000 tokens of results stay, older ones go when that gains at least 20,000. Its two turns are left out. */
const PROTECTED_RESULTS = 40_000;
const PRUNE_GAIN = 20_000;

/**
 * The rules by name. Each is given the events so far and those it has cleared by now (event -> what stands in its place), and
 * gives what is cleared from now on.
 */
export const RULES = {
  "newest 10": (_library, events) => clear(listResults(events).slice(0, -MASK_NEWEST), new Map()),
  "clear at 100k": ({ count }, events, cleared) =>
    sumTokens(readCleared(events, cleared), count) <= CLEAR_ABOVE
      ? cleared
      : clear(listResults(events).slice(0, -CLEAR_NEWEST), cleared),
  "protect 40k": ({ count }, events, cleared) => {
    let left = PROTECTED_RESULTS;
    const old = listResults(events)
      .reverse()
      .filter((event) => {
        left -= cleared.has(event) ? 0 : count(event);
        return left < 0 && !cleared.has(event);
      });
    return sumTokens(old, count) < PRUNE_GAIN ? cleared : clear(old, cleared);
  },
};

/** The events as they are sent under a rule. */
export function readCleared(events, cleared) {
  return cleared.size === 0 ? events : events.map((event) => cleared.get(event) ?? event);
}

function listResults(events) {
  return events.filter(({ type }) => type === "tool_call_response");
}

function clear(results, cleared) {
  return new Map([...cleared, ...results.map((event) => [event, cleared.get(event) ?? stubOf(event)])]);
}

const stubs = new WeakMap();

/** The same object each time, so that a prefix that stays is seen to stay. */
function stubOf(event) {
  const stub = stubs.get(event) ?? { ...event, content: CLEARED };
  stubs.set(event, stub);
  return stub;
}
