// What the extract, the summary without a model, keeps of real sessions and what it costs: over whole sessions, and over all but
// their newest turns (or calls).
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { interleave } from "./measure.mjs";
import { createRow, skipWithoutCorpus } from "./row.mjs";
import { listSessions } from "./sessions.mjs";

/** The end of a session that is left alone: turns, or calls where there are no more turns. */
const KEPT_TURNS = 3;
const KEPT_CALLS = 20;
const START_CHARS = 80;
const FILE_KEYS = { Write: "file_path", Edit: "file_path", MultiEdit: "file_path", NotebookEdit: "notebook_path" };

/** Measures requests and changed files kept, tokens taken, and the time against parsing the same events. */
export async function benchExtract(sandbox, { rounds, corpus }) {
  const paths = listSessions(corpus);
  if (paths === null) return [skipWithoutCorpus("extract", "what the extract keeps", corpus)];
  const library = await sandbox.library();
  const sessions = paths.map((path) => ({ name: basename(path, ".jsonl"), events: readEvents(library, path) }));
  const rows = [];
  for (const { id, range, cut } of [
    { id: "extract", range: "whole sessions", cut: (events) => events },
    { id: "extract-older", range: "all but the newest turns or calls", cut: withoutNewest },
  ]) {
    const measured = sessions
      .map(({ name, events }) => ({ name, events: cut(events) }))
      .filter(({ events }) => events.length > 0)
      .map(({ name, events }) => ({ name, ...measureSession(library, events) }));
    rows.push(...totalRows(id, range, measured), ...(id === "extract" ? measured.map(sessionRow) : []));
  }
  return [...rows, await timeRow(library, sessions, rounds)];
}

/** @param {import("./sandbox.mjs").Library} library */
function readEvents(library, path) {
  const session = library.readClaudeSession(library.createBufferSource(readFileSync(path)));
  const turns = Array.from({ length: session.turnCount }, (_, turn) => turn);
  return turns.flatMap((turn) => session.readTurn(turn).map((event) => ({ turn, event })));
}

function withoutNewest(events) {
  const turnCount = (events.at(-1)?.turn ?? -1) + 1;
  if (turnCount > KEPT_TURNS) return events.filter(({ turn }) => turn < turnCount - KEPT_TURNS);
  const calls = events.flatMap(({ event }, at) => (event.type === "tool_call_request" ? [at] : []));
  return events.slice(0, calls.at(-KEPT_CALLS) ?? 0);
}

/** @param {import("./sandbox.mjs").Library} library */
function measureSession(library, placed) {
  const events = placed.map(({ event }) => event);
  const { summary } = library.extractSummary(placed);
  const flat = summary.replace(/\s+/g, " ");
  const requests = events.map(startOfRequest).filter((start) => start !== null && start !== "");
  const files = [...new Set(events.map(changedFile))].filter((file) => file !== null);
  return {
    requests: requests.length,
    shown: requests.filter((start) => flat.includes(start)).length,
    files: files.length,
    named: files.filter((file) => summary.includes(`- ${file}`)).length,
    raw: library.estimateEvents(events),
    tokens: library.estimateEvents([{ type: "chat_response", id: "summary", timestamp: "", message: summary }]),
    ungrounded: library.checkGrounding(summary, events).length,
  };
}

function startOfRequest({ type, role = "user", content, metadata }) {
  if (type !== "chat_request" || role !== "user") return null;
  if (metadata?.origin !== undefined && metadata.origin !== "queued") return null;
  const texts = Array.isArray(content) ? content.map((part) => (part.type === "text" ? part.text : "")) : [content];
  return texts.join("\n").trim().replace(/\s+/g, " ").slice(0, START_CHARS);
}

function changedFile({ type, name, arguments: args }) {
  const path = type === "tool_call_request" ? args?.[FILE_KEYS[name]] : undefined;
  return typeof path === "string" ? path : null;
}

function totalRows(id, range, measured) {
  const sum = (key) => measured.reduce((total, session) => total + session[key], 0);
  const share = (part, whole) => (100 * sum(part)) / sum(whole);
  return [
    createRow(`${id}-requests`, `user requests in the extract (first ${START_CHARS} characters), ${range}`, {
      value: share("shown", "requests"),
      unit: "%",
      limit: { atLeast: 90 },
      detail: `${sum("shown")} of ${sum("requests")} in ${measured.length} sessions`,
    }),
    createRow(`${id}-files`, `changed files in the extract, ${range}`, {
      value: share("named", "files"),
      unit: "%",
      limit: { atLeast: 100 },
      detail: `${sum("named")} of ${sum("files")}`,
    }),
    createRow(`${id}-tokens`, `tokens of the extract ÷ those of its events, ${range}`, {
      value: share("tokens", "raw"),
      unit: "%",
      limit: { atMost: 15 },
      detail: `${sum("tokens")} of ${sum("raw")}, estimated; ${sum("ungrounded")} statements without a source`,
    }),
  ];
}

function sessionRow({ name, requests, shown, files, named, raw, tokens }) {
  return createRow(`extract-${name}`, "tokens, one session", {
    value: (100 * tokens) / raw,
    unit: "%",
    detail: `${tokens} of ${raw}; requests ${shown}/${requests}, changed files ${named}/${files}`,
  });
}

/**
 * The largest session: extracting ÷ parsing its event lines.
 * @param {import("./sandbox.mjs").Library} library
 */
async function timeRow(library, sessions, rounds) {
  const { name, events } = sessions.reduce((most, session) =>
    session.events.length > most.events.length ? session : most,
  );
  const lines = events.map(({ event }) => JSON.stringify(event));
  const times = await interleave(rounds, {
    // What is known of a call is remembered by the call: new ones each time.
    extract: () => {
      const fresh = lines.map((line, at) => ({ turn: events[at].turn, event: JSON.parse(line) }));
      const start = performance.now();
      library.extractSummary(fresh);
      return performance.now() - start;
    },
    parse: () => {
      for (const line of lines) JSON.parse(line);
    },
  });
  return createRow("extract-time", "extracting the longest session ÷ JSON.parse of its events", {
    value: times.extract.median / times.parse.median,
    detail: `${times.extract.median.toFixed(0)} ms; ${name}, ${events.length} events`,
  });
}
