// @module-tag law
// What is exported to OpenCode and read again says the same: the export tells all that the import needs.
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Event, traitsOf, type View } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { exportAnthropic } from "../../../src/formats/anthropic/write.ts";
import { OPENCODE } from "../../../src/formats/opencode/agent.ts";
import { writeOpenCodeSession } from "../../../src/formats/opencode/write.ts";
import { listCorpus, readCorpusFile } from "../../helpers/corpus.ts";
import {
  createOpenCodeWriter,
  OPENCODE_SESSION,
  openCodeCall,
  readOpenCode,
  sentLines,
  turnsOfSession,
  variedOpenCodeSession,
} from "../../helpers/opencode-session.ts";
import { openCodeSteps, writeOpenCode } from "../../helpers/opencode-steps.ts";
import { runs } from "../../helpers/runs.ts";
import { EXPORT_CASES } from "../claude-code/export-views.ts";

type Json = Record<string, unknown>;

const SESSION = "ses_6f1a2b3c00004000800000abcd";
const ORIGIN = { conversation: "kelp-k3f9", branch: "kelp-k3f9/main", commit: "a".repeat(40) };
const sha1 = (bytes: Uint8Array): Uint8Array => createHash("sha1").update(bytes).digest();

function write(view: View, model?: string): string {
  const draft = {
    view,
    sessionId: SESSION,
    origin: ORIGIN,
    cwd: "/tmp/kelp",
    title: "Kelp beds",
    sha1,
    sha256: String,
  };
  return writeOpenCodeSession({ ...draft, ...(model !== undefined && { model }) });
}

interface Written {
  readonly info: Json;
  readonly messages: readonly { readonly info: Json; readonly parts: readonly Json[] }[];
}
const parse = (text: string): Written => JSON.parse(text) as Written;

/** What is sent for a view, block by block. */
function blocksOf(view: View): readonly unknown[] {
  return exportAnthropic(view).messages.flatMap(({ role, content }) =>
    (content as readonly Json[]).map((block) => [role, block]),
  );
}

const startsWithSummary = ({ turns }: View): boolean => turns[0]?.origin.kind === "summary";

describe("an export to OpenCode", () => {
  it.each(EXPORT_CASES.filter(({ view }) => !startsWithSummary(view)))(
    "sends what the view says: $name",
    ({ view }) => {
      const session = readOpenCode(write(view));
      expect(session).toMatchObject({
        sessionId: SESSION,
        origin: ORIGIN,
        cwd: "/tmp/kelp",
        skippedLines: [],
        abandoned: [],
        compactions: [],
      });
      expect(blocksOf(projectTurns(turnsOfSession(session), []))).toEqual(blocksOf(view));
    },
  );

  it.each(EXPORT_CASES.filter(({ view }) => startsWithSummary(view)))(
    "begins with a compaction that keeps nothing: $name",
    ({ view }) => {
      const [question, answer] = parse(write(view)).messages;
      expect(question?.parts).toMatchObject([{ type: "compaction", auto: false }]);
      expect(answer?.info).toMatchObject({ summary: true, finish: "stop", parentID: question?.info["id"] });
      expect(sentLines(readOpenCode(write(view)))[0]).toBe("user: What did we do so far?");
    },
  );

  it("gives OpenCode's own summary back as what it is", () => {
    const session = createOpenCodeWriter();
    session.user("one");
    session.say("first");
    session.compact("All about one.");
    session.user("two");
    const read = readOpenCode(session);
    const text = write(projectTurns(turnsOfSession(read), read.compactions));
    expect(parse(text).messages.map(({ info }) => [info["role"], info["summary"]])).toEqual([
      ["user", undefined],
      ["assistant", true],
      ["user", undefined],
    ]);
    expect(sentLines(readOpenCode(text))).toEqual(sentLines(read));
  });

  it("writes ids of the kinds that OpenCode takes, parts in their order, each message later than the one before", () => {
    const { view } = EXPORT_CASES[0]!;
    const { info, messages } = parse(write(view));
    expect(info).toMatchObject({ id: SESSION, directory: "/tmp/kelp", title: "Kelp beds", version: "1.18.33" });
    const times = messages.map((message) => Number((message.info["time"] as Json)["created"]));
    expect([...new Set(times)].sort((a, b) => a - b)).toEqual(times);
    for (const message of messages) {
      expect(message.info["id"]).toMatch(/^msg_[0-9a-f]{26}$/);
      const ids = message.parts.map(({ id }) => String(id));
      expect([...new Set(ids)].sort()).toEqual(ids);
      for (const part of message.parts)
        expect(part).toMatchObject({
          id: expect.stringMatching(/^prt_/),
          sessionID: SESSION,
          messageID: message.info["id"],
        });
    }
  });

  it("writes the same bytes for the same view, and ids that the import asks for", () => {
    const { view } = EXPORT_CASES[0]!;
    expect(write(view)).toBe(write(view));
    const session = readOpenCode(write(view));
    for (const name of ["a1", "a2", "a5", "b1", "b2"])
      expect([name, session.hasLine(OPENCODE.write!.lineId(SESSION, name, sha1))]).toEqual([name, true]);
    const name = { conversation: "kelp-k3f9", branch: "kelp-k3f9/main", tip: "a".repeat(40), target: "opencode", n: 0 };
    expect(OPENCODE.write!.sessionId(name, sha1)).toMatch(/^ses_[0-9a-f]{26}$/);
  });

  it("names who answered, and no usage of requests that were others", () => {
    const { messages } = parse(write(EXPORT_CASES[0]!.view));
    const model = { providerID: "anthropic", modelID: "claude-sonnet-4-5" };
    expect(messages[0]?.info).toMatchObject({ role: "user", model });
    expect(messages[1]?.info).toMatchObject({
      ...model,
      cost: 0,
      tokens: { input: 0, output: 0 },
      finish: "tool-calls",
    });
    expect(messages[1]?.parts).toMatchObject([
      { type: "reasoning", metadata: { anthropic: { signature: "c2lnbmF0dXJl" } } },
      {
        type: "tool",
        tool: "Bash",
        state: { status: "completed", input: { command: "ls beds" }, output: "north\nsouth" },
      },
    ]);
  });

  it("leaves reasoning of another family of models out", () => {
    const types = (model?: string) =>
      parse(write(EXPORT_CASES[0]!.view, model)).messages[1]?.parts.map(({ type }) => type);
    expect([types("claude-sonnet-4-5"), types("gpt-5.5")]).toEqual([["reasoning", "tool"], ["tool"]]);
  });

  it("shows a call without a result as one that was stopped, and reads it as one without", () => {
    const session = createOpenCodeWriter();
    session.user("go");
    session.say("looking", openCodeCall("c1", null));
    const read = readOpenCode(session);
    const text = write(projectTurns(turnsOfSession(read), []));
    expect(parse(text).messages[1]?.parts[1]).toMatchObject({
      state: { status: "error", error: expect.stringContaining("interrupted"), metadata: { interrupted: true } },
    });
    expect(sentLines(readOpenCode(text))).toEqual(sentLines(read));
  });

  it("is known as jpg's own, but not as a copy under another id", () => {
    const document = parse(write(EXPORT_CASES[0]!.view));
    const fork = { ...document, info: { ...document.info, id: "ses_fork" } };
    expect(readOpenCode(JSON.stringify(document)).origin).toEqual(ORIGIN);
    expect(readOpenCode(JSON.stringify(fork)).origin).toBeUndefined();
  });
});

/** What of an event has to come back. */
function essence(event: Event): unknown {
  const { id: _, timestamp: __, metadata = {}, ...rest } = event;
  const { message_id: ___, usage: ____, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

function expectEqualEvents(view: View): void {
  const visible = (events: readonly Event[]): readonly unknown[] =>
    events.filter((event) => traitsOf(event).providerVisible).map(essence);
  const again = turnsOfSession(readOpenCode(write(view)));
  expect(again.map(({ events }) => visible(events))).toEqual(view.turns.map(({ events }) => visible(events)));
}

describe("import, export to OpenCode, import", () => {
  it("gives equal events, of parts of every kind", () => {
    expectEqualEvents(projectTurns(turnsOfSession(readOpenCode(variedOpenCodeSession(OPENCODE_SESSION))), []));
  });

  it("gives equal events, of drawn sessions", () => {
    fc.assert(
      fc.property(fc.array(openCodeSteps, { maxLength: 20 }), (steps) => {
        expectEqualEvents(projectTurns(turnsOfSession(readOpenCode(writeOpenCode(steps))), []));
      }),
      { numRuns: runs(200) },
    );
  });

  it.each(listCorpus("opencode"))("gives equal events, of %s", (file) => {
    const view = projectTurns(turnsOfSession(readOpenCode(readCorpusFile(file).toString())), []);
    // Ids of calls that were made unreadable are one: an export tells the calls apart.
    const named = (text: unknown): string => JSON.stringify(text).replace(/"call_id":"[^"]*"/g, '"call_id":""');
    const texts = (events: readonly Event[]): readonly string[] =>
      events.filter((event) => traitsOf(event).providerVisible).map((event) => named(essence(event)));
    const again = turnsOfSession(readOpenCode(write(view)));
    expect(again.map(({ events }) => texts(events))).toEqual(view.turns.map(({ events }) => texts(events)));
  });
});
