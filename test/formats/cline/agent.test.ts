// @module-tag law
// What Cline sends since it compacted a session, beside the session: a compaction of it, under which the view is what Cline sends.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { checkCompaction } from "../../../src/core/conversation/compaction-line.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { JpgError } from "../../../src/core/errors.ts";
import { readUsage } from "../../../src/core/model/usage.ts";
import { CLINE, readClineSession } from "../../../src/formats/cline/agent.ts";
import type { ImportedSession } from "../../../src/formats/imported-session.ts";
import type { Json } from "../../helpers/claude-session.ts";
import { outline, turnsOf } from "../../helpers/codex-session.ts";
import { runs } from "../../helpers/runs.ts";

const SESSION = "1784000000000_kelpy";
const SAVED = "2026-07-17T02:04:41.983Z";
const documentOf = (messages: readonly unknown[], more: Json = {}): string =>
  JSON.stringify({ version: 1, updated_at: SAVED, sessionId: SESSION, messages, ...more });
const read = (messages: readonly unknown[], state?: readonly unknown[], more: Json = {}): ImportedSession =>
  readClineSession(
    createBufferSource(Buffer.from(documentOf(messages))),
    state === undefined ? null : documentOf(state, more),
  );

const START = Date.parse("2026-07-06T10:00:00Z");
let clock = 0;
const text = (words: string): Json => ({ type: "text", text: words });
const message = (id: string, role: string, ...content: readonly Json[]): Json => ({
  id,
  role,
  content,
  ts: START + 1000 * clock++,
});
const asked = (id: string, words: string): Json => message(id, "user", text(words));
const said = (id: string, words: string): Json => message(id, "assistant", text(words));
const call = (id: string): Json =>
  message(id, "assistant", { type: "tool_use", id: `c-${id}`, name: "read_files", input: {} });
const result = (id: string, of: string): Json =>
  message(id, "user", { type: "tool_result", tool_use_id: `c-${of}`, content: "bull kelp" });
const notice = (words: string): Json =>
  text(`<SYSTEM_NOTICE>\nEarlier context was compacted. ${words}\n</SYSTEM_NOTICE>`);
const kept = (one: Json): Json => ({ ...one, metadata: { compaction: "preserved" } });
const made = (one: Json, words: string): Json => ({
  ...one,
  content: [...(one["content"] as Json[]), notice(words)],
  metadata: { kind: "compaction", reason: "manual_compaction", messagesRemoved: 2 },
});

const [Q1, C1, R1, A1] = [asked("q1", "Which kelp?"), call("a0"), result("r0", "a0"), said("a1", "Bull kelp.")];
const [Q2, A2] = [asked("q2", "And in winter?"), said("a2", "None.")];
const [Q3, A3] = [asked("q3", "Thanks."), said("a3", "Welcome.")];
const TALK = [Q1, C1, R1, A1, Q2, A2];
const STATE = [made(Q1, "Files read: kelp.md"), kept(A1), Q2, kept(A2)];

/** What a model is sent: who says what, messages of one sender in a row as one. */
function sent(events: readonly Event[]): readonly string[] {
  return events.flatMap((event) => {
    switch (event.type) {
      case "chat_request":
        return [`user ${words(event.content)}`];
      case "chat_response":
        return [`assistant ${words(event.message)}`];
      case "tool_call_request":
        return [`call ${event.call_id}`];
      case "tool_call_response":
        return [`result ${event.call_id}`];
      default:
        return [];
    }
  });
}

function words(content: unknown): string {
  return typeof content === "string" ? content : (content as Json[]).map((part) => String(part["text"])).join(" + ");
}

const turnsOfState = (session: ImportedSession): Event[][] =>
  Array.from({ length: session.turnCount }, (_, turn) => [...session.readTurn(turn)]);
const viewOf = (session: ImportedSession): readonly string[] => {
  const turns = turnsOfState(session).map((events, index) => ({ index, events }));
  return sent(projectTurns(turns, session.compactions).turns.flatMap(({ events }) => events));
};
const rawOf = (messages: readonly Json[]): readonly string[] => sent(turnsOfState(read(messages)).flat());

describe("what Cline sends since it compacted a session", () => {
  it("is a compaction: the session stays whole, and its view is what Cline sends", () => {
    const session = read(TALK, STATE);
    expect(sent(turnsOfState(session).flat())).toEqual(rawOf(TALK));
    expect(viewOf(session)).toEqual(rawOf(STATE));
    expect(session.compactions).toMatchObject([
      {
        timestamp: SAVED,
        from_turn: 0,
        to_turn: 0,
        to_event: "r0",
        source: "import",
        metadata: { kind: "compaction", reason: "manual_compaction", messagesRemoved: 2 },
      },
    ]);
    expect(session.compactions.map(checkCompaction)).toEqual([null]);
    expect(session.compactionTurns.get(session.compactions[0]!.id)).toBe(1);
  });

  it("is the same compaction however the session goes on, in one of the files or in both", () => {
    const [compaction] = read(TALK, STATE).compactions;
    const grown = [...TALK, Q3, A3];
    for (const session of [read(grown, STATE), read(grown, [...STATE, Q3, A3])]) {
      expect(session.compactions).toEqual([compaction]);
      expect(viewOf(session)).toEqual(rawOf([...STATE, Q3, A3]));
    }
    // What only the second file has was said since.
    const ahead = read(TALK, [...STATE, Q3, A3]);
    expect([sent(turnsOfState(ahead).flat()), viewOf(ahead)]).toEqual([rawOf(grown), rawOf([...STATE, Q3, A3])]);
  });

  it("covers what was said before it was saved, where a summary stands alone", () => {
    const summary = { ...asked("s1", "We looked at kelp."), metadata: { kind: "compaction_summary" } };
    const later = { ...Q3, ts: Date.parse(SAVED) + 1000 };
    const session = read([...TALK, later], [summary]);
    expect(viewOf(session)).toEqual(rawOf([summary, later]));
  });

  it("is nothing where it says what the session says, and named where it is no state of the session", () => {
    expect(read(TALK, TALK)).toMatchObject({ compactions: [], skippedLines: [] });
    for (const other of [documentOf(STATE, { sessionId: "another" }), "{", "[]"]) {
      const session = readClineSession(createBufferSource(Buffer.from(documentOf(TALK))), other);
      expect(session.compactions).toEqual([]);
      expect(session.skippedLines).toEqual([
        { line: 1, reason: "its compacted state, the second file, is no document of this session" },
      ]);
    }
    expect(read(TALK, [...STATE, { role: "tool" }]).skippedLines).toEqual([
      { line: 5, reason: "in its compacted state: a message without a known role or content" },
    ]);
  });

  it("is told from the session's name, and a fork from the file that describes it", () => {
    const { about, companion } = CLINE.files;
    expect(companion).toEqual({ session: ".messages.json", companion: ".compaction.json" });
    expect([about?.("x.messages.json"), about?.("x.compaction.json")]).toEqual(["x.json", null]);
    const source = createBufferSource(Buffer.from(documentOf(TALK)));
    const manifest = JSON.stringify({ metadata: { fork: { forkedFromSessionId: "1783_first" } } });
    expect(CLINE.descent?.(source, manifest)).toEqual({ kind: "fork", sessions: ["1783_first"] });
    for (const none of [null, "{", "{}", '{"metadata":{"fork":{}}}']) expect(CLINE.descent?.(source, none)).toBeNull();
  });
});

describe("every compacted state of Cline", () => {
  const pool = [Q1, C1, R1, A1, Q2, A2, Q3, A3];
  const list = fc.subarray(pool, { minLength: 1 });
  /** Messages of the list, some left out, some said otherwise, some made up. */
  const stateOf = (messages: readonly Json[]) =>
    fc
      .array(fc.constantFrom("keep", "drop", "change", "add"), {
        minLength: messages.length,
        maxLength: messages.length,
      })
      .map((acts) =>
        messages.flatMap((one, at) => {
          // What it ends with tells how far it reaches.
          if (acts[at] === "drop" && at < messages.length - 1) return [];
          if (acts[at] === "change") return [made(one, "changed")];
          const summary = { ...asked(`s${at}`, "In short."), metadata: { kind: "compaction_summary" } };
          return acts[at] === "add" ? [kept(one), summary] : [kept(one)];
        }),
      );

  it("reads as its messages do, over a session that stays as it was", () => {
    fc.assert(
      fc.property(
        list.chain((messages) => fc.tuple(fc.constant(messages), stateOf(messages))),
        ([messages, state]) => {
          const session = read(messages, state);
          expect(sent(turnsOfState(session).flat())).toEqual(rawOf(messages));
          expect(viewOf(session)).toEqual(rawOf(state));
          expect(session.compactions.map(checkCompaction).filter((wrong) => wrong !== null)).toEqual([]);
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it("is read whatever stands in it, the same at every reading, and never changes what was said", () => {
    const any = fc.oneof(
      fc.string(),
      fc
        .array(fc.oneof(fc.constantFrom(...STATE), fc.jsonValue({ maxDepth: 4 })), { maxLength: 6 })
        .map((messages) => documentOf(messages)),
      fc.nat(documentOf(STATE).length).map((end) => documentOf(STATE).slice(0, end)),
    );
    const source = () => createBufferSource(Buffer.from(documentOf(TALK)));
    fc.assert(
      fc.property(any, (state) => {
        const [session, again] = [readClineSession(source(), state), readClineSession(source(), state)];
        expect([turnsOfState(session), session.compactions]).toEqual([turnsOfState(again), again.compactions]);
        expect(sent(turnsOfState(session).flat()).slice(0, TALK.length)).toEqual(rawOf(TALK));
        expect(session.compactions.map(checkCompaction).filter((wrong) => wrong !== null)).toEqual([]);
      }),
      { numRuns: runs(200) },
    );
  });
});

// Sessions of Cline: messages as Anthropic's blocks, files that were added, counts of tokens, and what stands for a compaction.

const SESSION_IMPORT = "1784000000000_kelpy";
const source = (text: string) => createBufferSource(Buffer.from(text));
const documentOfImport = (messages: readonly unknown[], more: Json = {}): string =>
  JSON.stringify(
    { version: 1, agent: "lead", sessionId: SESSION_IMPORT, messages, system_prompt: "You are Cline.", ...more },
    null,
    "\t",
  );
const readImport = (messages: readonly unknown[], more?: Json) =>
  readClineSession(source(documentOfImport(messages, more)));

const textImport = (words: string): Json => ({ type: "text", text: words });
const user = (id: string, ...content: readonly Json[]): Json => ({ id, role: "user", content, ts: 1_783_376_868_634 });
const answer = (id: string, ...content: readonly Json[]): Json => ({
  id,
  role: "assistant",
  content,
  ts: 1_783_376_873_493,
  modelInfo: { id: "anthropic/claude-opus-4.8-fast", provider: "cline", family: "claude-opus" },
  metrics: { inputTokens: 900, outputTokens: 40, cacheReadTokens: 600, cacheWriteTokens: 100, cost: 0.25 },
});
const callImport = (id: string): Json => ({ type: "tool_use", id, name: "read_files", input: { path: "kelp.md" } });
const resultImport = (id: string): Json => ({
  type: "tool_result",
  tool_use_id: id,
  name: "read_files",
  content: "bull kelp",
});

const TALK_IMPORT: readonly Json[] = [
  user("msg_1", textImport("Which kelp grows here?"), { type: "file", path: "/home/ada/kelp.md", content: "bull\n" }),
  answer("msg_2", textImport("I look."), callImport("c1")),
  user("msg_3_tool_c1_tool_c1", resultImport("c1")),
  answer("msg_4", textImport("Bull kelp.")),
  user("msg_5", textImport("And in winter?")),
  answer("msg_6", textImport("None.")),
];

describe("a session of Cline", () => {
  it("becomes turns, with files that the user added, and what was counted", () => {
    const session = readImport(TALK_IMPORT);
    expect(session).toMatchObject({
      format: "cline",
      sessionId: SESSION_IMPORT,
      title: "Which kelp grows here?",
      skippedLines: [],
    });
    expect(turnsOf(session).map(({ events }) => outline(events).slice(1))).toEqual([
      [expect.stringContaining("user: "), "answer: I look.", "call c1", "output c1", "answer: Bull kelp."],
      ["user: And in winter?", "answer: None."],
    ]);
    expect(session.readTurn(0)[1]).toMatchObject({
      content: [
        textImport("Which kelp grows here?"),
        { type: "attachment", name: "/home/ada/kelp.md", text: "bull\n" },
      ],
    });
    const said = session.readTurn(0)[2]!;
    expect(said).toMatchObject({ id: "msg_2", timestamp: "2026-07-06T22:27:53.493Z", metadata: { provider: "cline" } });
    expect(readUsage(said.metadata?.usage)).toEqual({ input: 200, cacheRead: 600, cacheWrite: 100, output: 40 });
  });

  it("knows a result's message again although its id grows with each save", () => {
    const ids = (id: string) =>
      turnsOf(readImport(TALK_IMPORT.with(2, user(id, resultImport("c1")))))[0]!.events.map((event) => event.id);
    expect(ids("msg_3_tool_c1")).toEqual(ids("msg_3_tool_c1_tool_c1_tool_c1"));
  });

  it("names what is sent since a compaction as a session of its own, Cline's summaries as its own words", () => {
    const notice = "<SYSTEM_NOTICE>\nEarlier context was compacted.\n</SYSTEM_NOTICE>";
    const first = {
      ...user("msg_1", textImport("Which kelp grows here?"), textImport(notice)),
      metadata: { kind: "compaction" },
    };
    const session = readImport([first, ...TALK_IMPORT.slice(3)]);
    expect(session.sessionId).toBe(`${SESSION_IMPORT}-compacted`);
    expect(outline(session.readTurn(0)).slice(1)).toEqual([
      "user: Which kelp grows here?",
      `harness: ${notice}`,
      "answer: Bull kelp.",
    ]);
  });

  it("is told from other documents, and refused with what was expected", () => {
    const other = '{"messages":[{"role":"user","content":"x"}]}';
    expect([documentOfImport(TALK_IMPORT), other, "{", "", "[]"].map((each) => CLINE.detect(source(each)))).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
    expect(CLINE.sessionId(source(documentOfImport(TALK_IMPORT)))).toBe(SESSION_IMPORT);
    expect(() => readClineSession(source(other))).toThrow(
      /expected one JSON object with `version`, `sessionId` and `messages`/,
    );
  });

  it("names each message that says nothing", () => {
    expect(
      readImport([...TALK_IMPORT, 7, user("msg_7"), { role: "tool", content: "x" }]).skippedLines.map(
        ({ line }) => line,
      ),
    ).toEqual([7, 8, 9]);
  });
});

describe("every session of Cline", () => {
  it("only adds when messages are appended, and has an id for each event", () => {
    const message = fc.constantFrom(
      ...TALK_IMPORT,
      user("msg_1", textImport("again")),
      answer("msg_2", textImport("again")),
      7,
    );
    fc.assert(
      fc.property(fc.array(message), fc.array(message), (first, more) => {
        const [turns, grown] = [turnsOf(readImport(first)), turnsOf(readImport([...first, ...more]))];
        expect(grown.slice(0, Math.max(0, turns.length - 1))).toEqual(turns.slice(0, -1));
        const newest = turns.at(-1)?.events ?? [];
        expect(grown[turns.length - 1]?.events.slice(0, newest.length) ?? []).toEqual(newest);
        const ids = grown.flatMap(({ events }) => events.map(({ id }) => id));
        expect(new Set(ids).size).toBe(ids.length);
      }),
      { numRuns: runs(150) },
    );
  });

  it("is read whatever stands in its messages, the same at every reading, or refused", () => {
    const any = fc.array(
      fc.oneof(
        fc.constantFrom(...TALK_IMPORT),
        fc.jsonValue({ maxDepth: 4 }),
        fc.record({
          id: fc.jsonValue(),
          role: fc.constantFrom("user", "assistant"),
          ts: fc.jsonValue(),
          modelInfo: fc.jsonValue(),
          metrics: fc.jsonValue(),
          content: fc.array(
            fc.oneof(
              fc.jsonValue(),
              fc.record({
                type: fc.constantFrom("text", "file", "tool_use", "tool_result", "thinking", "image"),
                text: fc.jsonValue(),
                content: fc.jsonValue(),
                input: fc.jsonValue(),
              }),
            ),
          ),
        }),
      ),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(any, (messages) => {
        try {
          expect(turnsOf(readImport(messages))).toEqual(turnsOf(readImport(messages)));
        } catch (error) {
          if (!(error instanceof JpgError) || error.code !== "not_a_session") throw error;
        }
      }),
      { numRuns: runs(200) },
    );
  });
});
