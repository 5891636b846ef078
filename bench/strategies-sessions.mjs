// The coding sessions of the corpus as the strategies see them: turns, with the agent's own compactions apart, and plans over
// them made as the command makes them.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { findCorpus, lastStates } from "./sessions.mjs";

/** Fewer tool calls make no coding session. */
const LEAST_CALLS = 10;

/** Reads the coding sessions, in the order of their paths; null when this machine has no corpus. */
export function readCodingSessions(library) {
  const corpus = findCorpus();
  if (corpus === null) return null;
  return lastStates(corpus)
    .map((path) => readSession(library, path))
    .filter(({ calls }) => calls.length >= LEAST_CALLS);
}

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

/** The strategies of a call of `compact`, by their names. */
export function chooseStrategies({ choosePipelines, parseTarget }, names, target = "0.5") {
  return choosePipelines(names, {}, parseTarget(target));
}

/**
 * Plans over all but the newest tokens, on top of what is in force. Gives the compaction as one that can be put in force, or
 * null where there is nothing to compact; its gain is not looked at.
 */
export async function planOver(library, turns, { chosen, compactions = [], keep = [], viewTokens }) {
  const { DEFAULT_TOOL_HINTS: hints, PROTECT_TOKENS: protectTokens } = library;
  const { pairs: subsumed } = await library.findSubsumed(library.listToolCalls(turns), { hints, cwd: ".", env: {} });
  const plan = library.planCompaction({
    range: { protectTokens },
    turnCount: turns.length,
    turns: new Map(turns.map((turn) => [turn.index, turn])),
    turnTimes: [],
    compactions,
    now: timeOf(compactions.length),
    policies: {},
    keep,
    strategies: {
      uses: chosen.uses,
      names: chosen.names,
      hints,
      subsumed,
      viewTokens,
      definedTools: library.definedTools(turns),
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

/** The events of a view that a model is sent. */
export function sentEvents({ traitsOf }, { turns }) {
  return turns.flatMap(({ events }) => events.filter((event) => traitsOf(event).providerVisible));
}

/** Tokens of events together. */
export function sumTokens(events, count) {
  return events.reduce((sum, event) => sum + count(event), 0);
}
