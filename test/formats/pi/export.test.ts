// @module-tag law
// What is exported to pi and read again says the same: the export tells all that the import needs.
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Event, traitsOf, type View } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { exportAnthropic } from "../../../src/formats/anthropic/write.ts";
import { PI } from "../../../src/formats/pi/agent.ts";
import { writePiSession } from "../../../src/formats/pi/write.ts";
import { createPiWriter, piCall, readPi, sentOf, turnsOf, variedPiSession } from "../../helpers/pi-session.ts";
import { addingSteps, writePi } from "../../helpers/pi-steps.ts";
import { runs } from "../../helpers/runs.ts";
import { EXPORT_CASES } from "../claude-code/export-views.ts";

type Json = Record<string, unknown>;

const SESSION = "6f1a2b3c-0000-4000-8000-00000000abcd";
const ORIGIN = { conversation: "kelp-k3f9", branch: "kelp-k3f9/main", commit: "a".repeat(40) };
const sha1 = (bytes: Uint8Array): Uint8Array => createHash("sha1").update(bytes).digest();

function draftOf(view: View) {
  const sha256 = (text: string): string => text;
  return { view, sessionId: SESSION, origin: ORIGIN, cwd: "/tmp/kelp", title: "Kelp beds", sha1, sha256 };
}

function write(view: View): string {
  return writePiSession(draftOf(view));
}

function entriesOf(text: string): Json[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Json);
}

/** What is sent for a view, block by block; a document, for which pi has no block, is named only. */
function blocksOf(view: View): readonly unknown[] {
  return exportAnthropic(view).messages.flatMap(({ role, content }) =>
    (content as readonly Json[]).map((block) => [
      role,
      block["type"] === "document" ? { type: "text", text: "[document]" } : block,
    ]),
  );
}

const startsWithSummary = ({ turns }: View): boolean => turns[0]?.origin.kind === "summary";
const summaries = EXPORT_CASES.filter(({ view }) => startsWithSummary(view));

describe("an export to pi", () => {
  it.each(EXPORT_CASES.filter(({ view }) => !startsWithSummary(view)))(
    "sends what the view says: $name",
    ({ view }) => {
      const session = readPi(write(view));
      expect(session).toMatchObject({
        sessionId: SESSION,
        origin: ORIGIN,
        cwd: "/tmp/kelp",
        skippedLines: [],
        abandoned: [],
      });
      expect(session.titles.map(({ title }) => title)).toEqual(["Kelp beds"]);
      expect(blocksOf(projectTurns(turnsOf(session), session.compactions))).toEqual(blocksOf(view));
    },
  );

  it.each(summaries)("begins with a compaction that keeps nothing: $name", ({ view }) => {
    const text = write(view);
    const [header, , , compaction] = entriesOf(text);
    expect(header).toEqual({
      type: "session",
      version: 3,
      id: SESSION,
      timestamp: view.turns[0]?.events[0]?.timestamp,
      cwd: "/tmp/kelp",
    });
    expect(compaction).toMatchObject({ type: "compaction", firstKeptEntryId: compaction?.["id"], tokensBefore: 0 });
    const said = String(
      view.turns[0]?.events
        .map((event) =>
          event.type === "chat_response" ? event.message : event.type === "chat_request" && event.content,
        )
        .at(-1),
    );
    const [first, ...rest] = sentOf(readPi(text));
    expect(first).toBe(
      `user: The conversation history before this point was compacted into the following summary:\n\n<summary>\n${said}\n</summary>`,
    );
    const others = sentOf({ ...readPi(text), ...turnsAfterSummary(view) }, []);
    expect(rest).toEqual(others.filter((line) => !line.includes("[Earlier messages are not shown.]")));
  });

  it("gives the summary of pi itself back bare", () => {
    const pi = createPiWriter();
    pi.user("one");
    pi.say("first");
    pi.add({ type: "compaction", summary: "all about one", firstKeptEntryId: "x", tokensBefore: 900 });
    pi.user("two");
    const imported = readPi(pi);
    const text = write(projectTurns(turnsOf(imported), imported.compactions));
    expect(entriesOf(text)[3]).toMatchObject({ type: "compaction", summary: "all about one" });
    expect(sentOf(readPi(text))).toEqual(sentOf(imported));
    const again = readPi(text);
    expect(sentOf(readPi(write(projectTurns(turnsOf(again), again.compactions))))).toEqual(sentOf(imported));
  });

  it("writes the same bytes for the same view, and ids that the import asks for", () => {
    const { view } = EXPORT_CASES[0]!;
    const text = write(view);
    expect(write(view)).toBe(text);
    const session = readPi(text);
    for (const name of ["a1", "a2", "a4", "a5", "b1", "b2", "#0", "#1"])
      expect([name, session.hasLine(PI.write!.lineId(SESSION, name, sha1))]).toEqual([name, true]);
  });

  it("names who answered, and no usage of requests that were others", () => {
    const message = entriesOf(write(EXPORT_CASES[0]!.view)).find(
      ({ message }) => (message as Json | undefined)?.["role"] === "assistant",
    );
    expect(message?.["message"]).toMatchObject({
      api: "anthropic-messages",
      provider: "anthropic",
      model: "claude-sonnet-4-5",
      usage: { totalTokens: 0 },
      stopReason: "toolUse",
      content: [
        { type: "thinking", thinking: "I should look.", thinkingSignature: "c2lnbmF0dXJl" },
        { type: "toolCall" },
      ],
    });
  });

  it("goes where pi looks, by the time that it begins", () => {
    const machine = {
      env: {},
      home: "/home/me",
      join: (...names: string[]) => names.join("/"),
      sha256: (text: string) => text,
      readText: () => null,
      namesIn: () => [],
    };
    const { view } = EXPORT_CASES[0]!;
    const time = String(view.turns[0]?.events[0]?.timestamp).replace(/[:.]/g, "-");
    const path = `/home/me/.pi/agent/sessions/--tmp-kelp--/${time}_${SESSION}.jsonl`;
    expect(PI.resume?.(machine, draftOf(view))).toMatchObject({ path, command: ["pi", "--session", path] });
    expect(PI.resume?.({ ...machine, env: { PI_CODING_AGENT_DIR: "/data" } }, draftOf(view)).path).toMatch(
      /^\/data\/sessions\//,
    );
    const folder = PI.files.folders?.(machine, "/tmp/kelp")[0];
    expect(path.startsWith(`${folder?.path}/`)).toBe(true);
  });

  it("answers a call that has no result, as the last thing that happened", () => {
    const pi = createPiWriter();
    pi.user("go");
    pi.say("looking", piCall("c1"));
    const imported = readPi(pi);
    expect(sentOf(readPi(write(projectTurns(turnsOf(imported), []))))).toEqual(sentOf(imported));
  });
});

/** A view without its first turn, as a session's turns. */
function turnsAfterSummary({ turns }: View) {
  const rest = turns.slice(1);
  return {
    turnCount: rest.length + 1,
    readTurn: (turn: number) => (turn === 0 ? PLACEHOLDER : (rest[turn - 1]?.events ?? [])),
  };
}
const PLACEHOLDER: readonly Event[] = [];

/** What of an event has to come back. */
function essence(event: Event): unknown {
  const { id: _, timestamp: __, metadata = {}, ...rest } = event;
  const { message_id: ___, usage: ____, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

describe("import, export to pi, import", () => {
  it.each([1, 2, 3] as const)("gives equal events, of entries of every kind, version %i", (version) => {
    const imported = readPi(variedPiSession("varied", version));
    expectEqualEvents(projectTurns(turnsOf(imported), []));
  });

  it("gives equal events, of drawn sessions", () => {
    fc.assert(
      fc.property(fc.array(addingSteps, { maxLength: 20 }), (steps) => {
        expectEqualEvents(projectTurns(turnsOf(readPi(writePi(steps))), []));
      }),
      { numRuns: runs(150) },
    );
  });
});

function expectEqualEvents(view: View): void {
  const visible = (events: readonly Event[]): readonly unknown[] =>
    events.filter((event) => traitsOf(event).providerVisible).map(essence);
  const again = turnsOf(readPi(write(view)));
  expect(again.map(({ events }) => visible(events))).toEqual(view.turns.map(({ events }) => visible(events)));
}
