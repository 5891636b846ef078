// What the real Codex sends for a session that went through jpg equals what it sent for the session itself. Reading and
// writing the sessions needs the corpus (../shared or JPG_CORPUS); sending needs the agent as well (JPG_AGENTS_DIR).
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import type { Compaction } from "../../src/core/conversation/compaction.ts";
import { type Event, traitsOf, type View } from "../../src/core/conversation/event.ts";
import { projectTurns } from "../../src/core/conversation/projection.ts";
import { checkOpenAiResponses } from "../../src/core/model/openai-responses-rules.ts";
import { toOpenAiResponsesThread } from "../../src/core/model/openai-responses-thread.ts";
import { readCodexSession } from "../../src/formats/codex/agent.ts";
import { writeCodexSession } from "../../src/formats/codex/write.ts";
import type { ImportedSession } from "../../src/formats/imported-session.ts";
import { turnsOf } from "../helpers/codex-session.ts";
import { corpusMissing, listCorpus, listGoldens, readCorpusFile, readGolden } from "../helpers/corpus.ts";
import { type SentMessage, sentHistory } from "../helpers/normalizer.ts";
import { codexMissing, resumeInCodex } from "../helpers/real-codex.ts";

const SESSION = "6f1a2b3c-0000-4000-8000-00000000abcd";
const files = listCorpus("codex").map((file) => ({ file }));
/** All but one, that holds a line of every kind and no conversation: results without calls, parts of other roles. */
const whole = files.filter(({ file }) => !file.endsWith("codex_small.jsonl"));
const goldens = listGoldens("codex");
const because = (missing: string | null): string => (missing === null ? "" : ` (SKIPPED: ${missing})`);

const read = (file: string): ImportedSession => readCodexSession(createBufferSource(readCorpusFile(file)));

function write(view: View): string {
  return writeCodexSession({
    view,
    sessionId: SESSION,
    origin: { conversation: "kelp-k3f9", branch: "kelp-k3f9/main", commit: "a".repeat(40) },
    cwd: "/tmp/kelp",
    title: "Kelp beds",
    sha1: (bytes) => createHash("sha1").update(bytes).digest(),
    sha256: (text) => text,
  });
}

/** What an event says, without the names that the file gave it and who was asked: the exported file does not say. */
function contentOf({ id: _, metadata = {}, ...event }: Event): unknown {
  const { message_id: __, model: ___, provider: ____, ...more } = metadata;
  return { ...event, metadata: more };
}

/** Codex passes its own mark of a turn on to its own provider only. */
function withoutTurnMarks(messages: readonly SentMessage[]): unknown {
  return JSON.parse(
    JSON.stringify(messages, (key, value: unknown) =>
      key === "internal_chat_message_metadata_passthrough" ? undefined : value,
    ),
  );
}

describe.skipIf(corpusMissing !== null)(`Codex sessions of the corpus${because(corpusMissing)}`, () => {
  it("are all at hand, with their goldens", () => {
    expect([files.length, goldens.length]).toEqual([8, 7]);
  });

  it.each(files)(
    "$file is read without loss: no line skipped, unique ids, pieces that join to the file",
    ({ file }) => {
      const bytes = readCorpusFile(file);
      const source = createBufferSource(bytes);
      const session = readCodexSession(source);
      const turns = turnsOf(session);
      expect(session.skippedLines).toEqual([]);
      const ids = turns.flatMap(({ events }) => events.map(({ id }) => id));
      expect(new Set(ids).size).toBe(ids.length);
      const starts = [...turns.map(({ index }) => session.turnLine(index)), source.lineCount];
      const pieces = turns.map((_, at) =>
        bytes.subarray(source.lineStart(starts[at]!), source.lineStart(starts[at + 1]!)),
      );
      expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
    },
  );

  it.each(whole)("$file is written and read again with equal events", ({ file }) => {
    const view = projectTurns(turnsOf(read(file)), []);
    const again = readCodexSession(createBufferSource(Buffer.from(write(view))));
    expect(again.skippedLines).toEqual([]);
    const said = (events: readonly Event[]) => events.filter((event) => traitsOf(event).providerVisible).map(contentOf);
    expect(turnsOf(again).map(({ events }) => said(events))).toEqual(view.turns.map(({ events }) => said(events)));
  });

  it("keep the turns of a session while its file grows", () => {
    const [earlier, later] = ["a8_54a7cb1c1f_0", "8d_1ecb6dc628_0"].map((name) =>
      read(`codex/EntityProcess__agentv/${name}.jsonl`),
    );
    const [turns, grown] = [turnsOf(earlier!), turnsOf(later!)];
    expect(turns.length).toBeGreaterThan(1);
    expect(grown.slice(0, turns.length - 1)).toEqual(turns.slice(0, -1));
    const newest = turns.at(-1)!.events;
    expect(grown[turns.length - 1]?.events.slice(0, newest.length)).toEqual(newest);
  });

  it.each(files)("$file is sent by rules that OpenAI accepts, whole and compacted", ({ file }) => {
    const session = read(file);
    for (const compactions of [session.compactions, []]) {
      const { items } = toOpenAiResponsesThread(projectTurns(turnsOf(session), compactions), {});
      const broken = checkOpenAiResponses(items.map(({ item }) => item)).filter(({ severity }) => severity === "error");
      // Who published the corpus took parts out of images, which are no base64 since.
      const isCut = JSON.stringify(items).includes(";base64,REDACTED/");
      expect(broken.filter(({ rule }) => !(isCut && rule === "R11"))).toEqual([]);
    }
  });
});

const STRIP: Compaction = {
  type: "compaction",
  id: "strip1",
  timestamp: "2030-01-01T00:00:00.000Z",
  from_turn: 0,
  to_turn: Number.MAX_SAFE_INTEGER,
  reasoning: "strip",
  tool_calls: { policy: "strip", request: true, response: true },
};
const SUMMARY: Compaction = {
  type: "compaction",
  id: "summ1",
  timestamp: "2030-01-02T00:00:00.000Z",
  from_turn: 0,
  to_turn: 0,
  summary: { summary: "We mapped the beds." },
};

const missing = corpusMissing ?? codexMissing;

describe.skipIf(missing !== null)(`real agent: Codex goldens${because(missing)}`, () => {
  const send = async (view: View, model: string): Promise<unknown> => {
    const folder = mkdtempSync(join(tmpdir(), "jpg-codex-"));
    try {
      const path = join(folder, `${SESSION}.jsonl`);
      writeFileSync(path, write(view));
      const { sent, after } = await resumeInCodex(path, { model });
      expect(after.startsWith(write(view))).toBe(true);
      return withoutTurnMarks(sent);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };

  it.each(goldens)("sends for $file what it sent before it went through jpg", async ({ golden, file, model }) => {
    const session = read(file);
    const before = await sentHistory(readGolden(golden), { agent: "codex", prompt: "continue" });
    expect(await send(projectTurns(turnsOf(session), session.compactions), model)).toEqual(withoutTurnMarks(before));
  });

  it.each(goldens.map(({ file, model }) => [basename(file), { file, model }] as const))(
    "sends the view that jpg compacted: %s",
    async (_, { file, model }) => {
      const session = read(file);
      for (const added of [[STRIP], [STRIP, SUMMARY]]) {
        const view = projectTurns(turnsOf(session), [...session.compactions, ...added]);
        const { items } = toOpenAiResponsesThread(view, { systemMessages: true, compactionsStay: true });
        const expected = await sentHistory(
          items.map(({ item }) => item),
          { agent: "codex" },
        );
        expect(await send(view, model)).toEqual(withoutTurnMarks(expected));
      }
    },
  );
});
