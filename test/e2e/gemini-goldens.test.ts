// What a model is sent for an imported session of Gemini CLI equals what the real Gemini CLI sent when it resumed that session.
// Reading and writing the sessions needs the corpus (../shared or JPG_CORPUS); sending needs the agent as well (JPG_AGENTS_DIR).
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import type { Compaction } from "../../src/core/conversation/compaction.ts";
import { type Event, traitsOf, type View } from "../../src/core/conversation/event.ts";
import { projectTurns } from "../../src/core/conversation/projection.ts";
import { checkGoogle } from "../../src/core/model/google-rules.ts";
import { readGeminiSession } from "../../src/formats/gemini-cli/agent.ts";
import { writeGeminiSession } from "../../src/formats/gemini-cli/write.ts";
import { exportGoogle } from "../../src/formats/google/write.ts";
import type { ImportedSession } from "../../src/formats/imported-session.ts";
import { corpusMissing, listCorpus, listGoldens, readCorpusFile, readGolden, sharedFolder } from "../helpers/corpus.ts";
import { turnsOf } from "../helpers/gemini-session.ts";
import { type SentMessage, sentHistory } from "../helpers/normalizer.ts";
import { geminiMissing, plain, resumeInGemini } from "../helpers/real-gemini.ts";

const SESSION = "6f1a2b3c-0000-4000-8000-00000000abcd";
const files = listCorpus("gemini").map((file) => ({ file }));
const goldens = listGoldens("gemini-cli");
const because = (missing: string | null): string => (missing === null ? "" : ` (SKIPPED: ${missing})`);

const readBytes = (bytes: Buffer): ImportedSession => readGeminiSession(createBufferSource(bytes));
const read = (file: string): ImportedSession => readBytes(readCorpusFile(file));
const viewOf = (session: ImportedSession, added: readonly Compaction[] = []): View =>
  projectTurns(turnsOf(session), [...session.compactions, ...added]);

function write(view: View): string {
  return writeGeminiSession({
    view,
    sessionId: SESSION,
    origin: { conversation: "kelp-k3f9", branch: "kelp-k3f9/main", commit: "a".repeat(40) },
    cwd: "/tmp/kelp",
    title: "Kelp beds",
    sha1: (bytes) => createHash("sha1").update(bytes).digest(),
    sha256: (text) => createHash("sha256").update(text).digest("hex"),
  });
}

/** What a view is sent as; the request that follows comes behind it (G2). */
async function sentFor(view: View): Promise<readonly SentMessage[]> {
  const { contents } = exportGoogle(view);
  expect(checkGoogle(contents, {}).filter(({ rule }) => rule !== "G2")).toEqual([]);
  return plain(await sentHistory(contents, { agent: "gemini-cli" }));
}

const goldenOf = async (golden: string): Promise<readonly SentMessage[]> =>
  plain(await sentHistory(readGolden(golden), { prompt: "continue", agent: "gemini-cli" }));

/** What an event says, without the names that the file gave it. */
function contentOf({ id: _, metadata = {}, ...event }: Event): unknown {
  const { message_id: __, ...more } = metadata;
  return { ...event, metadata: more };
}

const said = (events: readonly Event[]) => events.filter((event) => traitsOf(event).providerVisible);

describe.skipIf(corpusMissing !== null)(`Gemini CLI sessions of the corpus${because(corpusMissing)}`, () => {
  it("are all at hand, with their goldens", () => {
    expect([files.length, goldens.length]).toEqual([3, 3]);
  });

  it.each(files)("$file is read without loss: no message skipped, unique ids", ({ file }) => {
    const session = read(file);
    expect(session.skippedLines).toEqual([]);
    const ids = turnsOf(session).flatMap(({ events }) => events.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(goldens)("sends for $file what the agent sent", async ({ golden, file }) => {
    expect(await sentFor(viewOf(read(file)))).toEqual(await goldenOf(golden));
  });

  it.each(files)("$file is written and read again with equal events", ({ file }) => {
    const view = viewOf(read(file));
    const again = readBytes(Buffer.from(write(view)));
    expect(again.skippedLines).toEqual([]);
    expect(turnsOf(again).map(({ events }) => said(events).map(contentOf))).toEqual(
      view.turns.map(({ events }) => said(events).map(contentOf)),
    );
  });

  it("are three states of one session: each adds to the one before", () => {
    const states = ["c9_45f262e88d_0", "9c_53780d06b7_0", "ab_2b9748b105_0"].map((name) =>
      read(`gemini/entireio__cli/${name}.json`),
    );
    const lines = states.map((state) =>
      turnsOf(state).flatMap(({ events }) => events.map((one) => JSON.stringify(one))),
    );
    for (const [at, earlier] of lines.slice(0, -1).entries()) {
      const later = lines[at + 1] ?? [];
      expect(later.filter((line) => earlier.includes(line))).toEqual(earlier);
      expect(later.length).toBeGreaterThan(earlier.length);
    }
  });

  it("sends for a compacted session what the agent sends: the summary, the kept tail", async () => {
    const session = readBytes(readFileSync(join(sharedFolder, "agents/fixtures/gemini-cli-compacted.jsonl")));
    expect(session.compactions).toMatchObject([{ from_turn: 0, to_turn: 1, keep: ["m4", "m5.c0", "m5.r0", "m6"] }]);
    const sent = (await sentFor(viewOf(session))).flatMap(({ blocks }) => blocks);
    expect(sent.map(({ type, text }) => text ?? type)).toEqual([
      "<state_snapshot>ls showed a.txt and b.txt.</state_snapshot>",
      "Got it. Thanks for the additional context!",
      "Read a.txt.",
      "tool_use",
      "tool_result",
      "a.txt says alpha.",
    ]);
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

const missing = corpusMissing ?? geminiMissing;

describe.skipIf(missing !== null)(`real agent: Gemini CLI goldens${because(missing)}`, () => {
  const send = async (view: View): Promise<readonly SentMessage[]> => {
    const folder = mkdtempSync(join(tmpdir(), "jpg-gemini-"));
    try {
      const path = join(folder, "session.jsonl");
      writeFileSync(path, write(view));
      const { sent, after } = await resumeInGemini(path);
      expect(after.startsWith(write(view))).toBe(true);
      return sent;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };

  it.each(goldens)("sends for $file what it sent before it went through jpg", async ({ golden, file }) => {
    expect(await send(viewOf(read(file)))).toEqual(await goldenOf(golden));
  });

  it.each(goldens.map(({ file }) => [basename(file), file] as const))(
    "sends the view that jpg compacted: %s",
    async (_, file) => {
      for (const added of [[STRIP], [STRIP, SUMMARY]]) {
        const view = viewOf(read(file), added);
        expect(await send(view)).toEqual(await sentFor(view));
      }
    },
  );
});
