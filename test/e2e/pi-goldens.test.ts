// @module-tag law
// What a model is sent for an imported session of pi equals what the real pi sent when it resumed that session, and what pi's own
// code makes of sessions that are drawn.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import { projectTurns } from "../../src/core/conversation/projection.ts";
import { checkAnthropic } from "../../src/core/model/anthropic-rules.ts";
import { exportAnthropic } from "../../src/formats/anthropic/write.ts";
import type { ImportedSession } from "../../src/formats/imported-session.ts";
import { readPiSession } from "../../src/formats/pi/read.ts";
import { corpusMissing, listGoldens, readCorpusFile, readGolden, sharedFolder } from "../helpers/corpus.ts";
import { sentHistory } from "../helpers/normalizer.ts";
import { readPi, turnsOf, variedPiSession } from "../helpers/pi-session.ts";
import { anySteps, writePi } from "../helpers/pi-steps.ts";
import { loadPiCode, piPrograms } from "../helpers/real-pi.ts";
import { runs } from "../helpers/runs.ts";

const goldens = listGoldens("pi");

describe.skipIf(corpusMissing !== null)(
  `pi goldens${corpusMissing === null ? "" : ` (skipped: ${corpusMissing})`}`,
  () => {
    it("has its golden at hand", () => {
      expect(goldens).toHaveLength(1);
    });

    it.each(goldens)(
      "reads $file without loss: unique ids, pieces that join to the file, rules the provider accepts",
      ({ file }) => {
        const bytes = readCorpusFile(file);
        const source = createBufferSource(bytes);
        const session = readPiSession(source);
        const turns = turnsOf(session);
        expect([session.turnCount, session.skippedLines]).toEqual([88, []]);
        const ids = turns.flatMap(({ events }) => events.map(({ id }) => id));
        expect(new Set(ids).size).toBe(ids.length);
        const starts = Array.from({ length: turns.length + 1 }, (_, turn) => source.lineStart(session.turnLine(turn)));
        expect(
          Buffer.concat(turns.map(({ index }) => bytes.subarray(starts[index], starts[index + 1]))).equals(bytes),
        ).toBe(true);
        expect(checkAnthropic(exportAnthropic(projectTurns(turns, session.compactions)).messages, {})).toEqual([]);
      },
    );

    it.each(goldens)("sends for $file what the agent sent", async ({ golden, file, model }) => {
      const session = readPiSession(createBufferSource(readCorpusFile(file)));
      const { messages } = exportAnthropic(projectTurns(turnsOf(session), session.compactions), { model });
      const sent = await sentHistory(readGolden(golden), { prompt: "continue", agent: "pi" });
      expect(await sentHistory(messages, { agent: "pi" })).toEqual(sent);
    });

    it("sends for a compacted session what the agent sends: summary, kept tail, the rest", async () => {
      const fixtures = join(sharedFolder, "agents", "fixtures");
      const session = readPiSession(createBufferSource(readFileSync(join(fixtures, "pi-compacted.jsonl"))));
      const { messages } = exportAnthropic(projectTurns(turnsOf(session), session.compactions));
      const sent = (await sentHistory(messages, { agent: "pi" })).flatMap(({ blocks }) => blocks);
      expect(sent.map(({ type, text, id }) => text ?? `${type} ${String(id)}`)).toEqual([
        expect.stringMatching(/^The conversation history .*\n\n<summary>\nls showed a.txt and b.txt.\n<\/summary>$/),
        "Read a.txt.",
        "tool_use toolu_01BBB",
        "tool_result toolu_01BBB",
        "a.txt says alpha.",
      ]);
      expect(session.abandoned).toHaveLength(1);
    });
  },
);

/** The view, a line for each text, call and result, as pi's code is made to say it. */
function wordsOfView(session: ImportedSession): readonly string[] {
  const { messages } = exportAnthropic(projectTurns(turnsOf(session), session.compactions));
  return messages.flatMap(({ role, content }) =>
    (content as readonly Json[]).flatMap((block): readonly string[] => {
      const { type, text, id, tool_use_id: call } = block;
      if (type === "text") return text === OPENING ? [] : [`${role}: ${String(text)}`];
      if (type === "tool_result") return [`${role}: result ${String(call)} ${textOfResult(block["content"])}`];
      return type === "tool_use" ? [`${role}: call ${String(id)}`] : [];
    }),
  );
}

type Json = Record<string, unknown>;

/** What jpg puts first where the API wants a message of the user. */
const OPENING = "[Earlier messages are not shown.]";

function textOfResult(content: unknown): string {
  return typeof content === "string"
    ? content
    : (content as readonly Json[]).map(({ text }) => String(text)).join("\n");
}

/** Whether pi would send a result without its call, which every API refuses and jpg never shows. */
function hasLoneResult(words: readonly string[]): boolean {
  const called = new Set<string>();
  return words.some((line) => {
    const [, what, id = ""] = line.split(" ");
    if (what === "call") called.add(id);
    return line.startsWith("user: result ") && !called.has(id);
  });
}

describe.skipIf(piPrograms.length === 0)(
  "pi's own code reads sessions as jpg does (real agent: needs JPG_AGENTS_DIR)",
  () => {
    describe.each(piPrograms)("version $version", (program) => {
      // Up to 0.73 pi does not know edits.
      const known = (line: Json): Json =>
        program.version.startsWith("0.") && line["type"] === "context_edit" ? { ...line, type: "custom" } : line;
      const textOf = (lines: readonly Json[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

      it.each([1, 2, 3] as const)("one with entries of every kind, version %i", async (version) => {
        const sent = await loadPiCode(program);
        const lines = variedPiSession("varied", version).lines.map(known);
        expect(wordsOfView(readPi(textOf(lines)))).toEqual(sent(lines));
      });

      it("drawn ones", async () => {
        const sent = await loadPiCode(program);
        fc.assert(
          fc.property(fc.array(anySteps, { maxLength: 20 }), (steps) => {
            const lines = writePi(steps).lines.map(known);
            const words = sent(lines);
            fc.pre(!hasLoneResult(words));
            expect(wordsOfView(readPi(textOf(lines)))).toEqual(words);
          }),
          { numRuns: runs(300) },
        );
      });
    });
  },
);
