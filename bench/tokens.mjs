// Token counts against the usage that providers recorded: calibrated on the first half of each session's requests, the size
// of every request of the second half is predicted.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { median } from "./measure.mjs";
import { createRow, skipWithoutCorpus } from "./row.mjs";
import { lastStates, listSessions } from "./sessions.mjs";

/** Fewer requests cannot be halved and still be calibrated on. */
const LEAST_REQUESTS = 10;

/** Measures the error of predicted request sizes: a row per session, and the median over sessions. */
export async function benchTokens(sandbox, { corpus }) {
  const sessions = listSessions(corpus);
  if (sessions === null) return [skipWithoutCorpus("tokens", "error of predicted request sizes", corpus)];
  const library = await sandbox.library();
  const files = [];
  for (const path of lastStates(sessions)) {
    const errors = await measureFile(library, path);
    if (errors !== null) files.push({ name: basename(path, ".jsonl"), ...errors });
  }
  const over = (key) => median(files.map((file) => file[key]));
  const detail = `${files.length} sessions; from the last size known ${percent(over("within"))}, uncalibrated ${percent(over("plain"))}`;
  return [
    createRow("tokens", "median error of predicted request sizes, median over sessions", {
      value: over("calibrated") * 100,
      unit: "%",
      limit: { atMost: 10 },
      detail,
    }),
    ...files.map((file) =>
      createRow(`tokens-${file.name}`, "the same, one session", {
        value: file.calibrated * 100,
        unit: "%",
        detail: [
          `from the last size known ${percent(file.within)}`,
          `uncalibrated ${percent(file.plain)}`,
          `uncalibrated + overhead ${percent(file.shifted)}`,
          `worst ${percent(file.worst)}`,
          `${file.requests} requests, factor ${file.factor.toFixed(2)}, overhead ${file.overhead}`,
        ].join("; "),
      }),
    ),
  ];
}

/**
 * A session's requests, and their sizes.
 * @param {import("./sandbox.mjs").Library} library
 */
function requestsOf(library, turns) {
  const facts = turns.map((turn) => library.turnFacts(turn));
  const records = library.recordedRequests(facts);
  return { records, sizes: library.requestSizes(records, facts) };
}

/**
 * Errors over the second half of a session's requests as shares of their sizes; null when there are too few requests.
 * @param {import("./sandbox.mjs").Library} library
 */
async function measureFile(library, path) {
  const session = library.readClaudeSession(library.createBufferSource(readFileSync(path)));
  const turns = Array.from({ length: session.turnCount }, (_, index) => ({ index, events: session.readTurn(index) }));
  const events = turns.flatMap((turn) => turn.events);
  const requests = library.listAnswers(events).filter(library.isCounted);
  if (requests.length < LEAST_REQUESTS) return null;
  const half = Math.floor(requests.length / 2);
  const { records, sizes } = requestsOf(library, turns);
  const { calibration } = library.fitLine({
    records: records.slice(0, half),
    requests: sizes.slice(0, half),
    tokenizer: 1,
  });
  if (calibration === null) return null;
  const estimate = remember(library.estimateEvent);
  const points = requests.map((request) => {
    const shown = shownBefore(library, { turns, events, compactions: session.compactions }, request.position);
    return { size: library.sizeOf(request.usage), estimate: sum(shown, estimate) };
  });
  const first = points.slice(0, half);
  const shift = median(first.map(({ size, estimate }) => size - estimate));
  const errors = (predict) => points.slice(half).map((point) => Math.abs(predict(point) - point.size) / point.size);
  const stretchStart = (at) => sizes.findIndex(({ stretch }) => stretch === sizes[at].stretch);
  const within = sizes.slice(half).flatMap((request, at) => {
    const start = Math.max(half - 1, stretchStart(half + at));
    if (start === half + at) return [];
    const { size, estimate } = sizes[start];
    return Math.abs(size + calibration.factor * (request.estimate - estimate) - request.size) / request.size;
  });
  const calibrated = errors((point) => (calibration.overhead ?? 0) + calibration.factor * point.estimate);
  return {
    calibrated: median(calibrated),
    worst: Math.max(...calibrated),
    within: median(within),
    plain: median(errors((point) => point.estimate)),
    shifted: median(errors((point) => shift + point.estimate)),
    requests: requests.length,
    factor: calibration.factor,
    overhead: calibration.overhead ?? 0,
  };
}

/**
 * What the agent sent with the request answered at a position: what stands before it, under its own compactions of then.
 * @param {import("./sandbox.mjs").Library} library
 */
function shownBefore(library, { turns, events, compactions }, position) {
  const time = events[position].timestamp;
  const then = compactions.filter((compaction) => library.compareTimestamps(compaction.timestamp, time) <= 0);
  const before = [];
  let left = position;
  for (const turn of turns) {
    if (left <= 0) break;
    before.push({ index: turn.index, events: turn.events.slice(0, left) });
    left -= turn.events.length;
  }
  return library.projectTurns(before, then).turns.flatMap((turn) => turn.events);
}

function remember(count) {
  const known = new Map();
  return (event) => {
    if (!known.has(event)) known.set(event, count(event));
    return known.get(event);
  };
}

function sum(events, count) {
  return events.reduce((total, event) => total + count(event), 0);
}

function percent(share) {
  return `${(share * 100).toFixed(1)}%`;
}
