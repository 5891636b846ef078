// @module-tag law
// Appending events that a program made: however they are cut into calls, the conversation is the same; what is wrong is refused
// before anything is written.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadTip } from "../../../src/app/conversation/tree.ts";
import { loadHistory } from "../../../src/app/conversation/view.ts";
import { checkStore } from "../../../src/app/integrity/fsck.ts";
import { appendEvents, createConversation, type NewEvent } from "../../../src/app/manage/append-events.ts";
import { runs } from "../../helpers/runs.ts";
import { createMemoryWorkspace, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

const REQUEST: NewEvent = { type: "chat_request", content: "Is the gate open?" };
const ANSWER: NewEvent = { type: "chat_response", message: "It is." };

const newEvent: fc.Arbitrary<NewEvent> = fc.oneof(
  fc.string().map((content): NewEvent => ({ type: "chat_request", content })),
  fc.string().map((content): NewEvent => ({ type: "chat_request", role: "system", content })),
  fc.string().map((message): NewEvent => ({ type: "chat_response", message })),
  fc.string().map((reasoning): NewEvent => ({ type: "chat_response", reasoning })),
  fc
    .string()
    .map((call_id): NewEvent => ({ type: "tool_call_request", call_id, name: "ls", arguments: { path: "." } })),
  fc.string().map((call_id): NewEvent => ({ type: "tool_call_response", call_id, content: "x", is_error: false })),
  fc.jsonValue().map((data): NewEvent => ({ type: "note", kind: "progress", data })),
);

/** The turns of a branch without what differs from call to call. */
async function saidIn(workspace: TestWorkspace, branch: string): Promise<unknown> {
  const tree = (await loadTip(workspace.store, branch))!;
  const { turns } = await loadHistory(workspace.store, tree);
  return turns.map(({ events }) => events.slice(1).map(({ id: _, timestamp: __, ...rest }) => rest));
}

async function appendTo(workspace: TestWorkspace, branch: string, events: readonly NewEvent[]) {
  return appendEvents(workspace, (await loadTip(workspace.store, branch))!, events);
}

describe("appending", () => {
  it("gives the same conversation however the events are cut into calls", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(newEvent, { maxLength: 8 }),
        fc.array(fc.nat(8), { maxLength: 4 }),
        async (rest, cuts) => {
          const events = [REQUEST, ...rest];
          const workspace = await createMemoryWorkspace();
          const whole = await createConversation(workspace, events);
          const ends = [...new Set([1, ...cuts.map((cut) => Math.min(cut + 1, events.length)), events.length])].sort(
            (a, b) => a - b,
          );
          const parts = await createConversation(workspace, events.slice(0, ends[0]));
          for (const [at, end] of ends.slice(1).entries())
            await appendTo(workspace, parts.branch, events.slice(ends[at], end));
          expect(await saidIn(workspace, parts.branch)).toEqual(await saidIn(workspace, whole.branch));
          expect((await checkStore(workspace)).ok).toBe(true);
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it("reports the turns and ids in order, and each turn is one commit or more", async () => {
    const workspace = await createMemoryWorkspace();
    const { branch, turns, events } = await createConversation(workspace, [REQUEST, ANSWER, REQUEST]);
    expect([turns, events.length, new Set(events).size]).toEqual([[0, 1], 3, 3]);
    const grown = await appendTo(workspace, branch, [
      ANSWER,
      { ...REQUEST, id: "named", timestamp: "2026-05-02T00:00:00Z" },
    ]);
    expect([grown.turns, grown.events[1], grown.commit]).toEqual([[1, 2], "named", await tipOf(workspace, branch)]);
    const log = await workspace.store.readLog({ from: grown.commit });
    expect(log.map(({ message }) => message.split("\n")[0])).toEqual([
      "turn 2: Is the gate open?",
      "turn 1 (continued)",
      "turn 1: Is the gate open?",
      "turn 0: Is the gate open?",
      "conversation: Is the gate open?",
    ]);
  });

  it("never dates an event before the one that it follows", async () => {
    const workspace = await createMemoryWorkspace();
    const late = "2031-01-01T00:00:00.000Z";
    const { branch } = await createConversation(workspace, [{ ...REQUEST, timestamp: late }]);
    await appendTo(workspace, branch, [ANSWER]);
    const { turns } = await loadHistory(workspace.store, (await loadTip(workspace.store, branch))!);
    expect(turns[0]!.events.at(-1)!.timestamp > late).toBe(true);
  });
});

describe("what is wrong", () => {
  /** Faults by what is changed in one of the events. */
  const faults: readonly (readonly [string, object])[] = [
    ["no kind", { type: undefined }],
    ["an unknown kind", { type: "image" }],
    ["a kind that jpg makes itself", { type: "turn_start" }],
    ["a setting", { type: "config_delta", delta: {} }],
    ["a compaction", { type: "compaction", from_turn: 0, to_turn: 0 }],
    ["a text that is none", { content: 5 }],
    ["a missing text", { content: undefined }],
    ["a role that is none", { role: "root" }],
    ["an empty id", { id: "" }],
    ["an id that is no text", { id: 7 }],
    ["the id of a stored event", { id: "stored" }],
    ["a time that is none", { timestamp: "yesterday" }],
    ["a time that is no text", { timestamp: 5 }],
    ["metadata that is no object", { metadata: "x" }],
    ["metadata that is no text", { metadata: { origin: 3 } }],
    ["a merge, which jpg makes itself", { metadata: { origin: "merge" } }],
    ["a reference to stored text", { content: { $attachment: "a".repeat(64) } }],
    ["a reference in a part", { content: [{ type: "text", text: { $attachment: "a".repeat(64) } }] }],
    ["a part without its text", { content: [{ type: "text" }] }],
    ["a part of an unknown kind", { content: [{ type: "sound" }] }],
    ["a part that is none", { content: [null] }],
    ["an answer that refers to stored text", { type: "chat_response", message: { $attachment: "x" } }],
    ["reasoning that refers to stored text", { type: "chat_response", reasoning: { $attachment: "x" } }],
    ["what is no JSON", { note: 1n }],
  ];

  it.each(faults)("%s is refused, and nothing is written", async (_, fault) => {
    const workspace = await createMemoryWorkspace();
    const { branch } = await createConversation(workspace, [{ ...REQUEST, id: "stored" }]);
    const before = await tipOf(workspace, branch);
    const wrong = { ...REQUEST, ...fault } as NewEvent;
    await expect(appendTo(workspace, branch, [REQUEST, ANSWER, wrong])).rejects.toMatchObject({
      kind: "user",
      code: "bad_event",
      data: { index: 2 },
    });
    expect(await tipOf(workspace, branch)).toBe(before);
  });

  it("is the same id twice in one call, no event, and an answer without a request", async () => {
    const workspace = await createMemoryWorkspace();
    const twice = [
      { ...REQUEST, id: "a" },
      { ...ANSWER, id: "a" },
    ];
    await expect(createConversation(workspace, twice)).rejects.toMatchObject({ code: "bad_event", data: { index: 1 } });
    await expect(createConversation(workspace, [])).rejects.toMatchObject({ code: "no_events" });
    await expect(createConversation(workspace, [ANSWER, REQUEST])).rejects.toMatchObject({ code: "bad_event" });
    expect(await workspace.store.listBranches()).toEqual([]);
  });
});

describe("if another process adds a turn meanwhile", () => {
  it("a turn is put on a fork, and a continuation refused: nobody's turn is mixed with another's", async () => {
    const workspace = await createMemoryWorkspace();
    const { branch } = await createConversation(workspace, [REQUEST]);
    const seen = (await loadTip(workspace.store, branch))!;
    await appendTo(workspace, branch, [{ type: "chat_request", content: "Another's." }]);
    const tip = await tipOf(workspace, branch);
    await expect(appendEvents(workspace, seen, [ANSWER])).rejects.toMatchObject({ code: "conversation_grew" });
    const forked = await appendEvents(workspace, seen, [{ type: "chat_request", content: "Mine." }]);
    expect(forked.branch).not.toBe(branch);
    expect(await saidIn(workspace, forked.branch)).toEqual([[REQUEST], [{ type: "chat_request", content: "Mine." }]]);
    expect(await tipOf(workspace, branch)).toBe(tip);
  });
});
