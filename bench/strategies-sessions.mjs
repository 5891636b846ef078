// What the benchmarks of the strategies work on: the tree's own code, bundled as the command is; the coding sessions of the
// corpus as turns, with the agent's own compactions apart; plans over them made as the command makes them; and published rules
// of other agents, replayed mechanically over the events that a model is sent.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { lastStates, listSessions } from "./sessions.mjs";

/**
 * Loads what plans and projects in memory. Its `count` gives an event's estimated tokens, each worked out once.
 * @typedef {import("./sandbox.mjs").Library & { count: (event: import("../src/core/conversation/event.ts").Event) => number }} Counting
 * @param {import("./sandbox.mjs").Sandbox} sandbox
 * @returns {Promise<Counting>}
 */
export async function loadCounting(sandbox) {
  const library = await sandbox.library();
  return { ...library, count: remember(library.estimateEvent) };
}

function remember(count) {
  const known = new WeakMap();
  return (event) => {
    const tokens = known.get(event) ?? count(event);
    known.set(event, tokens);
    return tokens;
  };
}

/** Fewer tool calls make no coding session. */
const LEAST_CALLS = 10;

/**
 * Reads the coding sessions of a corpus, in the order of their paths; null when it has none.
 * @param {Counting} library
 */
export function readCodingSessions(library, corpus) {
  const paths = listSessions(corpus);
  if (paths === null) return null;
  return lastStates(paths)
    .map((path) => readSession(library, path))
    .filter(({ calls }) => calls.length >= LEAST_CALLS);
}

/** @param {Counting} library */
function readSession(library, path) {
  const { turnCount, readTurn, compactions } = library.readClaudeSession(
    library.createBufferSource(readFileSync(path)),
  );
  const turns = Array.from({ length: turnCount }, (_, index) => ({ index, events: readTurn(index) }));
  const events = turns.flatMap((turn) => turn.events);
  return {
    name: basename(path, ".jsonl"),
    path,
    turns,
    events,
    calls: library.listToolCalls(turns),
    /** Those that the agent made. */
    compactions,
    tokens: sumTokens(events, library.count),
  };
}

/**
 * The strategies of a call of `compact`, by their names.
 * @param {Counting} library
 */
export function chooseStrategies({ choosePipelines, parseTarget }, names, target = "0.5") {
  return choosePipelines(names, {}, parseTarget(target));
}

/**
 * Plans over all but the newest tokens, on top of what is in force. Gives the compaction as one that can be put in force, or
 * null where there is nothing to compact; its gain is not looked at.
 * @param {Counting} library
 * @param {readonly any[]} turns
 * @param {{ chosen: ReturnType<typeof chooseStrategies>, compactions?: readonly any[], keep?: readonly string[], viewTokens: number }} how
 */
export async function planOver(library, turns, { chosen, compactions = [], keep = [], viewTokens }) {
  const { DEFAULT_TOOL_HINTS: hints, PROTECT_TOKENS } = library;
  const { protectTokens = PROTECT_TOKENS } = chosen;
  const { pairs: subsumed } = await library.findSubsumed(library.listToolCalls(turns), { hints, cwd: ".", env: {} });
  const plan = library.planCompaction({
    range: { keep: 0, protectTokens },
    turnCount: turns.length,
    turns: new Map(turns.map((turn) => [turn.index, turn])),
    turnTimes: [],
    compactions,
    now: timeOf(compactions.length),
    policies: {},
    keep,
    hints,
    strategies: chosen,
    known: {
      subsumed,
      viewTokens,
      definedTools: library.toolsDefinedIn(turns.flatMap(({ events }) => events)),
    },
  });
  if (library.isNothing(plan)) return null;
  const number = compactions.length;
  return { ...plan.compaction, id: `compaction-${String(number).padStart(4, "0")}`, timestamp: timeOf(number) };
}

/** Later than any session, each a second after the one before. */
function timeOf(number) {
  return new Date(Date.UTC(2100, 0, 1) + number * 1000).toISOString();
}

/**
 * The events of a view that a model is sent.
 * @param {Counting} library
 */
export function sentEvents({ traitsOf }, { turns }) {
  return turns.flatMap(({ events }) => events.filter((event) => traitsOf(event).providerVisible));
}

/** Tokens of events together. */
export function sumTokens(events, count) {
  return events.reduce((sum, event) => sum + count(event), 0);
}

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
