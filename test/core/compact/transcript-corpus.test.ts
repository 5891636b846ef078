// Real sessions written down for a summary model: nothing is lost between parts, parts fit, and the ledger says only what the
// events bear out.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { type PlacedEvent, readLedger, renderLedger } from "../../../src/core/compact/event-ledger.ts";
import { checkGrounding } from "../../../src/core/compact/grounding.ts";
import { fitParts } from "../../../src/core/compact/transcript.ts";
import { estimateTextTokens } from "../../../src/core/conversation/text-tokens.ts";
import { readClaudeSession } from "../../../src/formats/claude-code/agent.ts";
import { corpusMissing, readCorpusFile, sharedFolder } from "../../helpers/corpus.ts";

/** Tokens of a part: what a small local model takes. */
const BUDGET = 20_000;

function readSession(path: string): readonly PlacedEvent[] {
  const session = readClaudeSession(createBufferSource(readCorpusFile(`claude-code/${path}`)));
  return Array.from({ length: session.turnCount }, (_, turn) =>
    session.readTurn(turn).map((event) => ({ turn, event })),
  ).flat();
}

describe("corpus: transcripts of real sessions", () => {
  it.skipIf(corpusMissing !== null)(
    `keep every event in exactly one part that fits${corpusMissing === null ? "" : ` (SKIPPED: ${corpusMissing})`}`,
    () => {
      const paths = readdirSync(join(sharedFolder, "corpus/claude-code"), { recursive: true, encoding: "utf8" });
      let events = 0;
      for (const path of paths.filter((each) => each.endsWith(".jsonl"))) {
        const all = readSession(path);
        const parts = fitParts(all, BUDGET);
        events += all.length;
        expect(
          parts.reduce((sum, part) => sum + part.events.length, 0),
          path,
        ).toBe(all.length);
        for (const { transcript } of parts)
          expect(estimateTextTokens(transcript.text), path).toBeLessThanOrEqual(BUDGET);
        const raw = all.map(({ event }) => event);
        expect(checkGrounding(renderLedger(readLedger(all), { text: "", limit: 8000 }), raw), path).toEqual([]);
      }
      expect(events).toBeGreaterThan(0);
    },
    300_000,
  );
});
