// How far estimates are off where no usage is recorded: real sessions with their usage hidden, against the usage.

import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import type { Event, Turn } from "../../../src/core/conversation/event.ts";
import { recordedRequests, requestSizes } from "../../../src/core/model/calibration.ts";
import { createFactsMeter } from "../../../src/core/model/token-meter.ts";
import { turnFacts } from "../../../src/core/model/usage.ts";
import { readClaudeSession, typicalClaudeOverhead } from "../../../src/formats/claude-code/agent.ts";
import { corpusMissing, GROWTH_SERIES, listGoldens, readCorpusFile } from "../../helpers/corpus.ts";
import { createTokenMeter } from "../../helpers/token-meter.ts";

/** Less growth than this shows hidden reminders rather than text. Tokens. */
const LEAST_GROWTH = 2000;

/** One state of each session. */
const FILES = listGoldens("claude-code")
  .map(({ file }) => file)
  .filter((file) => !GROWTH_SERIES.slice(0, -1).includes(file));

function turnsOf(file: string): Turn[] {
  const session = readClaudeSession(createBufferSource(readCorpusFile(file)));
  return Array.from({ length: session.turnCount }, (_, index) => ({ index, events: session.readTurn(index) }));
}

const withoutUsage = (turns: readonly Turn[]): Turn[] =>
  turns.map(({ index, events }) => ({
    index,
    events: events.map((event) => {
      const { usage: _, ...metadata } = event.metadata ?? {};
      return { ...event, metadata } as Event;
    }),
  }));

/** The counted requests, with the plain estimate of everything before each. */
function requestsOf(turns: readonly Turn[]) {
  const facts = turns.map((turn) => turnFacts(turn));
  return requestSizes(recordedRequests(facts), facts);
}

/** Error of the growth of the longest stretch in which the context only grew: the conversation alone. Null = too short. */
function growthError(turns: readonly Turn[]): number | null {
  const requests = requestsOf(turns);
  const { factor } = createTokenMeter(withoutUsage(turns));
  const stretches = [...new Set(requests.map(({ stretch }) => stretch))].map((stretch) => {
    const own = requests.filter((request) => request.stretch === stretch);
    const [first, last] = [own[0]!, own.at(-1)!];
    const growth = last.size - first.size;
    return { growth, error: (factor * (last.estimate - first.estimate)) / growth - 1 };
  });
  const [longest] = stretches.sort((a, b) => b.growth - a.growth);
  return longest === undefined || longest.growth < LEAST_GROWTH ? null : longest.error;
}

/** Error of the last whole request of a context that nothing fell out of, system prompt and tools included. */
function requestError(file: string, turns: readonly Turn[]): number | null {
  const request = requestsOf(turns).findLast(({ isUnbroken }) => isUnbroken);
  if (request === undefined) return null;
  const typicalOverhead = typicalClaudeOverhead(readCorpusFile(file).toString()) ?? 0;
  const hidden = withoutUsage(turns);
  const facts = hidden.map((turn) => turnFacts(turn));
  const { factor, overhead } = createFactsMeter({ facts, turns: new Map(), typicalOverhead });
  return (overhead + factor * request.estimate) / request.size - 1;
}

const medianOf = (errors: readonly (number | null)[]): number => {
  const sizes = errors
    .filter((error) => error !== null)
    .map(Math.abs)
    .sort((a, b) => a - b);
  return sizes[Math.floor(sizes.length / 2)] ?? Number.NaN;
};

describe.skipIf(corpusMissing !== null)(
  `estimates without usage${corpusMissing === null ? "" : ` (skipped: ${corpusMissing})`}`,
  () => {
    const sessions = FILES.map((file) => ({ file, turns: turnsOf(file) }));

    it("miss the conversation alone by no more than 8 % in the median", () => {
      const errors = sessions.map(({ turns }) => growthError(turns));
      if (process.env["JPG_FIGURES"] !== undefined)
        process.stderr.write(`${JSON.stringify(errors)} ${medianOf(errors)}\n`);
      expect(medianOf(errors)).toBeLessThanOrEqual(0.08);
    });

    it("miss whole requests, with system prompt and tools as measured for the version, by no more than 20 % in the median", () => {
      const errors = sessions.map(({ file, turns }) => requestError(file, turns));
      if (process.env["JPG_FIGURES"] !== undefined)
        process.stderr.write(`${JSON.stringify(errors)} ${medianOf(errors)}\n`);
      expect(medianOf(errors)).toBeLessThanOrEqual(0.2);
    });
  },
);
