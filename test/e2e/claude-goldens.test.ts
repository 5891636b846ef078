// What a model is sent for an imported session equals what the real agent sent when it resumed that session.
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import { projectTurns } from "../../src/core/conversation/projection.ts";
import { checkAnthropic } from "../../src/core/model/anthropic-rules.ts";
import { exportAnthropic } from "../../src/formats/anthropic/write.ts";
import { readClaudeSession } from "../../src/formats/claude-code/agent.ts";
import type { ImportedSession } from "../../src/formats/imported-session.ts";
import { corpusMissing, GROWTH_SERIES, listGoldens, readCorpusFile, readGolden } from "../helpers/corpus.ts";
import { type SentBlock, type SentMessage, sentHistory } from "../helpers/normalizer.ts";

/** What the agent itself puts in when it resumes a session that stopped in the middle. */
const AGENT_REPAIRS = /^(?:\[Tool call interrupted: |No response requested\.$)/;

function allTurns(session: ImportedSession) {
  return Array.from({ length: session.turnCount }, (_, index) => ({ index, events: session.readTurn(index) }));
}

function isRepair(block: SentBlock): boolean {
  const texts = block.type === "tool_result" ? (block.content ?? []) : [block];
  return texts.some((part) => part.type === "text" && AGENT_REPAIRS.test(part.text ?? ""));
}

/** The history without repairs; an exact repair text of ours or the agent's never stands for a message. */
function withoutRepairs(messages: readonly SentMessage[]): readonly SentMessage[] {
  const joined: { role: string; blocks: SentBlock[] }[] = [];
  for (const { role, blocks } of messages) {
    const kept = blocks.filter((block) => !isRepair(block));
    if (kept.length === 0) continue;
    const last = joined.at(-1);
    if (last?.role === role) last.blocks.push(...kept);
    else joined.push({ role, blocks: [...kept] });
  }
  return joined;
}

function listSessions(): readonly { readonly file: string }[] {
  return goldens.map(({ file }) => ({ file }));
}

const goldens = listGoldens("claude-code");

describe.skipIf(corpusMissing !== null)(
  `Claude Code goldens${corpusMissing === null ? "" : ` (skipped: ${corpusMissing})`}`,
  () => {
    it("has all 18 goldens at hand", () => {
      expect(goldens).toHaveLength(18);
    });

    it("keeps the turns of a session while its file grows", () => {
      const states = GROWTH_SERIES.map((state) => readClaudeSession(createBufferSource(readCorpusFile(state))));
      for (const [at, later] of states.entries()) {
        const earlier = states[at - 1];
        if (earlier === undefined) continue;
        const turns = allTurns(earlier);
        expect(allTurns(later).slice(0, turns.length - 1)).toEqual(turns.slice(0, -1));
        const newest = turns.at(-1)!;
        expect(later.readTurn(newest.index).slice(0, newest.events.length)).toEqual(newest.events);
        expect(turns.map(({ index }) => later.turnLine(index))).toEqual(
          turns.map(({ index }) => earlier.turnLine(index)),
        );
      }
    });

    it.each(listSessions())(
      "reads $file without loss: unique ids, pieces that join to the file, rules the provider accepts",
      ({ file }) => {
        const bytes = readCorpusFile(file);
        const source = createBufferSource(bytes);
        const session = readClaudeSession(source);
        const turns = allTurns(session);
        const ids = turns.flatMap((turn) => turn.events.map((event) => event.id));
        expect(new Set(ids).size).toBe(ids.length);
        const starts = Array.from({ length: session.turnCount + 1 }, (_, turn) =>
          source.lineStart(session.turnLine(turn)),
        );
        expect(
          Buffer.concat(turns.map(({ index }) => bytes.subarray(starts[index], starts[index + 1]))).equals(bytes),
        ).toBe(true);
        for (const compactions of [session.compactions, []]) {
          expect(checkAnthropic(exportAnthropic(projectTurns(turns, compactions)).messages, {})).toEqual([]);
        }
      },
    );

    it.each(goldens)("sends for $file what the agent sent", async ({ golden, file, model }) => {
      const session = readClaudeSession(createBufferSource(readCorpusFile(file)));
      const { messages } = exportAnthropic(projectTurns(allTurns(session), session.compactions), { model });
      const ours = withoutRepairs(await sentHistory(messages));
      // The prompt of the recording is the agent's alone: the user may have said the same words.
      const sent = await sentHistory(readGolden(golden), { prompt: "continue" });
      expect(ours).toEqual(withoutRepairs(sent));
    });
  },
);
