// @module-tag law
// What a model is sent for an imported session of pi equals what the real pi sent when it resumed that session, and what pi's own
// code makes of sessions that are drawn.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import { textOfContent } from "../../src/core/conversation/event.ts";
import { projectTurns } from "../../src/core/conversation/projection.ts";
import { checkAnthropic } from "../../src/core/model/anthropic-rules.ts";
import { exportAnthropic } from "../../src/formats/anthropic/write.ts";
import type { ImportedSession } from "../../src/formats/imported-session.ts";
import { readPiSession } from "../../src/formats/pi/read.ts";
import { corpusMissing, listGoldens, readCorpusFile, readGolden, sharedFolder } from "../helpers/corpus.ts";
import { sentHistory } from "../helpers/normalizer.ts";
import { readPi, turnsOf, variedPiSession } from "../helpers/pi-session.ts";
import { anySteps, writePi } from "../helpers/pi-steps.ts";
import { agentsFolder } from "../helpers/real-agent.ts";
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

const installed = join(agentsFolder ?? "", "pi/node_modules/@mariozechner/pi-coding-agent/dist/core");
const isReady = agentsFolder !== undefined && existsSync(installed);

type Json = Record<string, unknown>;
interface PiManager {
  buildSessionContext(entries: readonly Json[]): { readonly messages: readonly Json[] };
  migrateSessionEntries(entries: Json[]): void;
}
interface PiMessages {
  convertToLlm(messages: readonly Json[]): readonly Json[];
}
const load = async (name: string): Promise<unknown> => import(pathToFileURL(join(installed, name)).href);
const manager = isReady ? ((await load("session-manager.js")) as PiManager) : null;
const rendering = isReady ? ((await load("messages.js")) as PiMessages) : null;

/** The texts that pi makes of a session's lines; it leaves broken answers out only when it sends them. */
function textsOfPi(lines: readonly Json[]): readonly string[] {
  const entries = JSON.parse(JSON.stringify(lines)) as Json[];
  manager?.migrateSessionEntries(entries);
  const context = manager?.buildSessionContext(entries.filter(({ type }) => type !== "session"));
  return (rendering?.convertToLlm(context?.messages ?? []) ?? [])
    .filter(({ stopReason }) => stopReason !== "aborted" && stopReason !== "error")
    .flatMap(({ content }) =>
      typeof content === "string" ? [{ type: "text", text: content }] : (content as readonly Json[]),
    )
    .flatMap((block) => (block["type"] === "text" ? [String(block["text"])] : []));
}

/** The same of the view; edits are left out, which this version of pi does not know. */
function textsOfView(session: ImportedSession): readonly string[] {
  const compactions = session.compactions.filter(({ reason }) => reason !== "context-edit");
  return projectTurns(turnsOf(session), compactions)
    .turns.flatMap(({ events }) => events)
    .flatMap((event): readonly string[] => {
      if (event.type === "chat_response") return event.message === undefined ? [] : [textOfContent(event.message)];
      return event.type === "chat_request" || event.type === "tool_call_response" ? [textOfContent(event.content)] : [];
    });
}

describe.skipIf(!isReady)("pi's own code reads sessions as jpg does (real agent: needs JPG_AGENTS_DIR)", () => {
  it.each([1, 2, 3] as const)("one with entries of every kind, version %i", (version) => {
    const pi = variedPiSession("varied", version);
    expect(textsOfView(readPi(pi))).toEqual(textsOfPi(pi.lines));
  });

  it("drawn ones", () => {
    fc.assert(
      fc.property(fc.array(anySteps, { maxLength: 20 }), (steps) => {
        const pi = writePi(steps);
        expect(textsOfView(readPi(pi))).toEqual(textsOfPi(pi.lines));
      }),
      { numRuns: runs(200) },
    );
  });
});
