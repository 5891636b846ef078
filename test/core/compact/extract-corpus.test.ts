// What the extract keeps of real sessions: the figures that it must reach in total, over whole sessions and over all but their
// newest part.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import type { PlacedEvent } from "../../../src/core/compact/event-ledger.ts";
import { extractSummary } from "../../../src/core/compact/extract.ts";
import { checkGrounding } from "../../../src/core/compact/grounding.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { estimateEvents } from "../../../src/core/conversation/token-estimate.ts";
import { readClaudeSession } from "../../../src/formats/claude-code/agent.ts";
import { corpusMissing, readCorpusFile, sharedFolder } from "../../helpers/corpus.ts";

/** Turns, and calls of a session with fewer turns, that are left alone at the end. */
const KEPT_TURNS = 3;
const KEPT_CALLS = 20;
const FILE_KEYS: Readonly<Record<string, string>> = {
  Write: "file_path",
  Edit: "file_path",
  MultiEdit: "file_path",
  NotebookEdit: "notebook_path",
};

function readSessions(): readonly (readonly PlacedEvent[])[] {
  if (corpusMissing !== null) return [];
  const paths = readdirSync(join(sharedFolder, "corpus/claude-code"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".jsonl"))
    .sort();
  return paths.map((path) => {
    const session = readClaudeSession(createBufferSource(readCorpusFile(`claude-code/${path}`)));
    const turns = Array.from({ length: session.turnCount }, (_, turn) => turn);
    return turns.flatMap((turn) => session.readTurn(turn).map((event) => ({ turn, event })));
  });
}

function withoutNewest(events: readonly PlacedEvent[]): readonly PlacedEvent[] {
  const turnCount = (events.at(-1)?.turn ?? -1) + 1;
  if (turnCount > KEPT_TURNS) return events.filter(({ turn }) => turn < turnCount - KEPT_TURNS);
  const calls = events.flatMap(({ event }, at) => (event.type === "tool_call_request" ? [at] : []));
  return events.slice(0, calls.at(-KEPT_CALLS) ?? 0);
}

/** The first 80 characters of a user's own request, blanks made equal; null for other events, and for what an agent put there. */
function startOfRequest(event: Event): string | null {
  if (event.type !== "chat_request" || (event.role ?? "user") !== "user") return null;
  if (event.metadata?.origin !== undefined && event.metadata.origin !== "queued") return null;
  const { content } = event;
  const texts = Array.isArray(content) ? content.map((part) => (part.type === "text" ? part.text : "")) : [content];
  const text = texts.join("\n").trim();
  return /^<(?:command-|local-|system-)/.test(text) ? null : onOneLine(text).slice(0, 80);
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}

function changedFile(event: Event): string | null {
  if (event.type !== "tool_call_request") return null;
  const path = (event.arguments as Record<string, unknown>)[FILE_KEYS[event.name] ?? ""];
  return typeof path === "string" ? path : null;
}

function measure(ranges: readonly (readonly PlacedEvent[])[]) {
  const counts = { requests: 0, shown: 0, files: 0, named: 0, raw: 0, extract: 0 };
  for (const range of ranges.filter((events) => events.length > 0)) {
    const events = range.map(({ event }) => event);
    const { summary } = extractSummary(range);
    const requests = events.map(startOfRequest).filter((start) => start !== null && start !== "");
    const files = [...new Set(events.map(changedFile))].filter((file) => file !== null);
    counts.requests += requests.length;
    counts.shown += requests.filter((start) => onOneLine(summary).includes(start ?? "")).length;
    counts.files += files.length;
    counts.named += files.filter((file) => summary.includes(`- ${file}`)).length;
    counts.raw += estimateEvents(events);
    counts.extract += estimateEvents([{ type: "chat_response", id: "", timestamp: "", message: summary }]);
  }
  const { requests, shown, files, named, raw, extract } = counts;
  return { requests: shown / requests, files: named / files, tokens: extract / raw };
}

const skipped = corpusMissing === null ? "" : ` (skipped: ${corpusMissing})`;

describe.skipIf(corpusMissing !== null)(`the extract of the corpus${skipped}`, () => {
  const sessions = readSessions();

  it("keeps nine tenths of the requests and all changed files at 15 % of the tokens, over whole sessions of the corpus", () => {
    const { requests, files, tokens } = measure(sessions);
    expect(requests).toBeGreaterThanOrEqual(0.9);
    expect(files).toBe(1);
    expect(tokens).toBeLessThanOrEqual(0.15);
  });

  it("keeps as much of all but the newest turns or calls of the corpus", () => {
    const { requests, files, tokens } = measure(sessions.map(withoutNewest));
    expect(requests).toBeGreaterThanOrEqual(0.9);
    expect(files).toBe(1);
    expect(tokens).toBeLessThanOrEqual(0.15);
  });

  it("says nothing that the sessions of the corpus do not", () => {
    for (const session of sessions) {
      const raw = session.map(({ event }) => event);
      expect(checkGrounding(extractSummary(session).summary, raw)).toEqual([]);
    }
  });
});
