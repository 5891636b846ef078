// What a model is sent for an imported session of OpenCode equals what the real OpenCode sent when it resumed that session, and
// what it sends for jpg's export of the same. Needs the corpus (../shared or JPG_CORPUS), and for the latter the agents.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import type { Event, View } from "../../src/core/conversation/event.ts";
import { projectTurns } from "../../src/core/conversation/projection.ts";
import { checkOpenAiChat } from "../../src/core/model/openai-chat-rules.ts";
import type { ImportedSession } from "../../src/formats/imported-session.ts";
import { exportOpenAiChat } from "../../src/formats/openai-chat/write.ts";
import { readOpenCodeSession } from "../../src/formats/opencode/agent.ts";
import { corpusMissing, listGoldens, readCorpusFile, readGolden, sharedFolder } from "../helpers/corpus.ts";
import { type SentBlock, type SentMessage, sentHistory } from "../helpers/normalizer.ts";
import { turnsOfSession } from "../helpers/opencode-session.ts";
import { missingAgents, resumeIn } from "../helpers/resume-anywhere.ts";
import { createSandbox } from "../helpers/run-jpg.ts";

const goldens = listGoldens("opencode");

function viewOf(session: ImportedSession): View {
  return projectTurns(turnsOfSession(session), session.compactions);
}

/**
 * OpenCode sends reasoning of another model as text, and that of the recorded sessions was of another one. The texts of an answer
 * it sends to this API as one, with nothing between them.
 */
function withReasoningAsText({ turns }: View): View {
  return { turns: turns.map((turn) => ({ ...turn, events: turn.events.reduce(joinTexts, [] as readonly Event[]) })) };
}

function joinTexts(events: readonly Event[], event: Event): readonly Event[] {
  if (event.type !== "chat_response") return [...events, event];
  const { reasoning, ...rest } = event;
  const text = String(reasoning ?? event.message);
  const before = events.at(-1);
  const isSame = before?.type === "chat_response" && before.metadata?.message_id === event.metadata?.message_id;
  if (!isSame) return [...events, { ...rest, message: text }];
  return [...events.slice(0, -1), { ...before, message: `${String(before.message)}${text}` }];
}

/** The blocks that were sent; ids of calls by their order, since those of the recorded sessions were made unreadable. */
function blocksOf(messages: readonly SentMessage[]): readonly SentBlock[] {
  const ids = new Map<unknown, string>();
  const idOf = (id: unknown): string => ids.get(id) ?? ids.set(id, `call ${ids.size}`).get(id)!;
  return messages.flatMap(({ role, blocks }) =>
    blocks.map(({ id, ...block }) => ({ role, ...block, ...(id !== undefined && { id: idOf(id) }) }) as SentBlock),
  );
}

/** What OpenCode says in the place of a result that it cleared; jpg's compaction has words of its own. */
function asCleared(blocks: readonly SentBlock[]): readonly SentBlock[] {
  const words = (text: string | undefined): string | undefined =>
    text?.replace(/^\[compacted\] \w+: success$/, "[Old tool result content cleared]");
  return blocks.map((block) =>
    block.content === undefined
      ? block
      : {
          ...block,
          content: block.content.map((part) => (part.text === undefined ? part : { ...part, text: words(part.text)! })),
        },
  );
}

describe.skipIf(corpusMissing !== null)(
  `OpenCode goldens${corpusMissing === null ? "" : ` (skipped: ${corpusMissing})`}`,
  () => {
    it("has its goldens at hand", () => {
      expect(goldens).toHaveLength(3);
    });

    it.each(goldens)(
      "reads $file without loss: unique ids, nothing skipped, rules the provider accepts",
      ({ file }) => {
        const session = readOpenCodeSession(createBufferSource(readCorpusFile(file)));
        expect(session.skippedLines).toEqual([]);
        const ids = turnsOfSession(session).flatMap(({ events }) => events.map(({ id }) => id));
        expect(new Set(ids).size).toBe(ids.length);
        expect(checkOpenAiChat(exportOpenAiChat(viewOf(session)).messages, {})).toEqual([]);
      },
    );

    it.each(goldens)("sends for $file what the agent sent", async ({ golden, file }) => {
      const session = readOpenCodeSession(createBufferSource(readCorpusFile(file)));
      const { messages } = exportOpenAiChat(withReasoningAsText(viewOf(session)));
      const sent = await sentHistory(readGolden(golden), { prompt: "continue", agent: "opencode" });
      expect(asCleared(blocksOf(await sentHistory(messages, { agent: "opencode" })))).toEqual(blocksOf(sent));
    });

    it("sends for a compacted session what the agent sends: summary, kept tail, the rest", async () => {
      const fixtures = join(sharedFolder, "agents", "fixtures");
      const session = readOpenCodeSession(createBufferSource(readFileSync(join(fixtures, "opencode-compacted.json"))));
      const { messages } = exportOpenAiChat(viewOf(session));
      const expected = JSON.parse(readFileSync(join(fixtures, "expected.json"), "utf8")) as Record<string, unknown>;
      const sent = (await sentHistory(messages, { agent: "opencode" })).flatMap(({ role, blocks }) =>
        blocks.map((block) => `${role} ${block.type} ${block.text ?? String(block["id"])}`),
      );
      expect(JSON.stringify(expected)).toContain(JSON.stringify(sent));
    });
  },
);

const missing = corpusMissing ?? missingAgents(["opencode"]);

describe.skipIf(missing !== null)(
  `real agent: OpenCode goldens${missing === null ? "" : ` (SKIPPED: ${missing})`}`,
  () => {
    it.each(goldens)(
      "goes on with jpg's export of $file as with the session itself",
      async ({ golden, file, model }) => {
        const sandbox = createSandbox();
        try {
          await sandbox.jpg(["import", sandbox.session("theirs.json", readCorpusFile(file))]);
          const { stdout } = await sandbox.jpg(["export", "--to", "opencode"]);
          const path = sandbox.session("ours.json", stdout);
          const messages = await resumeIn("opencode", path, { prompt: "continue", model });
          const sent = await sentHistory(messages, { isShaped: true, agent: "opencode" });
          const expected = await sentHistory(readGolden(golden), { prompt: "continue", agent: "opencode" });
          expect(asCleared(blocksOf(sent))).toEqual(blocksOf(expected));
        } finally {
          sandbox.remove();
        }
      },
    );
  },
);
