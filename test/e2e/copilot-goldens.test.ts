// What a model is sent for an imported session of Copilot CLI equals what the real Copilot CLI sends when it resumes that session.
// Needs the agent (JPG_AGENTS_DIR) and the mock server (../shared or JPG_CORPUS).
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import { projectTurns } from "../../src/core/conversation/projection.ts";
import { exportAnthropic } from "../../src/formats/anthropic/write.ts";
import { readCopilotSession } from "../../src/formats/copilot-cli/agent.ts";
import { turnsOf } from "../helpers/codex-session.ts";
import { COPILOT_CASES } from "../helpers/copilot-cases.ts";
import { resumableCopilot } from "../helpers/copilot-session.ts";
import { corpusMissing, listCorpus, readCorpusFile } from "../helpers/corpus.ts";
import type { SentMessage } from "../helpers/normalizer.ts";
import { copilotMissing, resumeCopilot, sentMessages } from "../helpers/real-copilot.ts";

const because = (reason: string | null): string => (reason === null ? "" : ` (SKIPPED: ${reason})`);

/** The view of a session as its model is sent it. */
function shown(text: string): readonly SentMessage[] {
  const session = readCopilotSession(createBufferSource(Buffer.from(text)));
  return sentMessages(exportAnthropic(projectTurns(turnsOf(session), session.compactions)));
}

describe.skipIf(copilotMissing !== null)(`real agent: goldens of Copilot CLI${because(copilotMissing)}`, () => {
  it.each(COPILOT_CASES)("sends what jpg shows: $name", { timeout: 120_000 }, async ({ lines }) => {
    const text = resumableCopilot(lines);
    const { sent } = await resumeCopilot(text, { prompt: "go on" });
    expect(shown(text)).toEqual(sent);
  });
});

const missing = corpusMissing ?? copilotMissing;
describe.skipIf(missing !== null)(`real agent: sessions that people published${because(missing)}`, () => {
  it("are at hand", () => {
    expect(listCorpus("copilot-cli")).not.toEqual([]);
  });

  // One is cut by hand, and Copilot CLI refuses it.
  it.each(listCorpus("copilot-cli").filter((file) => !file.endsWith("copilot_small.jsonl")))(
    "sends for %s what jpg shows",
    { timeout: 120_000 },
    async (file) => {
      const text = readCorpusFile(file).toString();
      const { sent } = await resumeCopilot(text, { prompt: "go on" });
      expect(shown(text)).toEqual(sent);
    },
  );
});
