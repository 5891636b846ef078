import { describe, expect, it } from "vitest";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { createPiWriter, inForce, type PiWriter, piCall, readPi, sentOf, turnsOf } from "../../helpers/pi-session.ts";

const summary = (text: string): string =>
  `user: The conversation history before this point was compacted into the following summary:\n\n<summary>\n${text}\n</summary>`;

/** Two turns and the ids of their entries. */
function talk(pi: PiWriter): {
  readonly first: string;
  readonly answer: string;
  readonly second: string;
  readonly last: string;
} {
  return { first: pi.user("one"), answer: pi.say("first"), second: pi.user("two"), last: pi.say("second") };
}

function compact(pi: PiWriter, text: string, firstKeptEntryId: string): string {
  return pi.add({ type: "compaction", summary: text, firstKeptEntryId, tokensBefore: 900 });
}

describe("a compaction of pi", () => {
  it("hides what stands before it, keeps the tail that it names, and goes when it is taken back", () => {
    const pi = createPiWriter();
    const { second, last } = talk(pi);
    compact(pi, "all about one", second);
    pi.user("three");
    const session = readPi(pi);
    expect(session.compactions).toMatchObject([
      {
        from_turn: 0,
        to_turn: 1,
        to_event: last,
        keep: [second, last],
        summary: { source: "imported", inject: "request" },
        source: "import",
        metadata: { tokensBefore: 900 },
      },
    ]);
    expect(sentOf(session)).toEqual([summary("all about one"), "user: two", "assistant: second", "user: three"]);
    expect(sentOf(session, [])).toEqual([
      "user: one",
      "assistant: first",
      "user: two",
      "assistant: second",
      "user: three",
    ]);
  });

  it("keeps nothing when it names itself, or an entry that is not before it", () => {
    for (const named of ["00000005", "ffffffff"]) {
      const pi = createPiWriter();
      talk(pi);
      compact(pi, "all", named);
      expect(sentOf(readPi(pi))).toEqual([summary("all")]);
    }
  });

  it("counts alone when it is the newest, whatever the one before it kept", () => {
    const pi = createPiWriter();
    const { second, last } = talk(pi);
    compact(pi, "older", second);
    pi.user("three");
    compact(pi, "newer", last);
    pi.user("four");
    expect(sentOf(readPi(pi))).toEqual([summary("newer"), "assistant: second", "user: three", "user: four"]);
  });

  it("is the first thing said when nothing stands before it", () => {
    const pi = createPiWriter();
    compact(pi, "from elsewhere", "00000001");
    pi.user("go on");
    const session = readPi(pi);
    expect(session.compactions).toEqual([]);
    expect(sentOf(session)).toEqual([summary("from elsewhere"), "user: go on"]);
    expect([session.turnCount, session.title]).toEqual([2, "go on"]);
  });

  it("counts entries in files without ids, the header as the first", () => {
    const pi = createPiWriter({ version: 1 });
    talk(pi);
    pi.add({ type: "compaction", summary: "all about one", firstKeptEntryIndex: 3, tokensBefore: 900 });
    expect(sentOf(readPi(pi))).toEqual([summary("all about one"), "user: two", "assistant: second"]);
  });
});

describe("an edit of pi", () => {
  const edit = (pi: PiWriter, targetId: string, content: unknown): string =>
    pi.add({ type: "context_edit", targetId, replacement: content === null ? null : { content } });

  it("takes an entry out of the view, or gives it another content; the newest of one entry counts", () => {
    const pi = createPiWriter();
    const { first, answer } = talk(pi);
    edit(pi, first, "won");
    edit(pi, first, "one, please");
    edit(pi, answer, null);
    const session = readPi(pi);
    expect(sentOf(session)).toEqual(["user: one, please", "user: two", "assistant: second"]);
    expect(session.compactions.map(({ reason }) => reason)).toEqual(["context-edit", "context-edit", "context-edit"]);
    expect(session.compactions.map(({ id }) => session.compactionTurns.get(id))).toEqual([1, 1, 1]);
    expect(sentOf(session, [])).toEqual(["user: one", "assistant: first", "user: two", "assistant: second"]);
  });

  it("ends the earlier edits of an entry that it gives its first content back; without one it is nothing", () => {
    const pi = createPiWriter();
    const { first, answer } = talk(pi);
    edit(pi, first, "one");
    edit(pi, answer, null);
    edit(pi, answer, "first");
    const session = readPi(pi);
    expect(sentOf(session)).toEqual(["user: one", "assistant: first", "user: two", "assistant: second"]);
    expect(session.compactions.map(({ turns }) => turns)).toEqual(["omit"]);
    expect(session.live?.undone).toMatchObject([{ compaction: session.compactions[0]?.id, turn: 1 }]);
    const { turns } = projectTurns(turnsOf(session), inForce(session));
    expect(turns.flatMap(({ events }) => events).filter(({ id }) => id === answer)).toHaveLength(1);
    compact(pi, "asked", answer);
    expect(sentOf(readPi(pi)).slice(1)).toEqual(["assistant: first", "user: two", "assistant: second"]);
  });

  it("keeps the result of a call with its call", () => {
    const pi = createPiWriter();
    pi.user("one");
    pi.say("looking", piCall("c1"), piCall("c2"));
    const result = pi.result("c1", "a very long list");
    pi.result("c2", "sand");
    pi.say("seen");
    edit(pi, result, "[cleared]");
    expect(sentOf(readPi(pi))).toEqual([
      "user: one",
      "assistant: looking",
      "assistant: call c1",
      "assistant: call c2",
      'user: result c1 "[cleared]"',
      'user: result c2 "sand"',
      "assistant: seen",
    ]);
  });

  it("holds for what a later compaction keeps, and is nothing where it names nothing", () => {
    const pi = createPiWriter();
    const { second, last } = talk(pi);
    edit(pi, second, "two, please");
    edit(pi, "ffffffff", null);
    edit(pi, last, { strange: true });
    compact(pi, "all about one", second);
    expect(sentOf(readPi(pi))).toEqual([summary("all about one"), "user: two, please"]);
  });
});

describe("a branch of a session", () => {
  it("is left where the user went back, with the turns that it shares", () => {
    const pi = createPiWriter();
    const { answer, last } = talk(pi);
    pi.goTo(answer);
    pi.user("two, differently");
    pi.say("another");
    const session = readPi(pi);
    expect(sentOf(session)).toEqual(["user: one", "assistant: first", "user: two, differently", "assistant: another"]);
    expect(session.abandoned).toMatchObject([{ commonTurns: 1, turnCount: 2 }]);
    expect(session.abandoned[0]?.name).toMatch(/^left-[0-9a-z]{8}$/);
    expect(session.abandoned[0]?.readTurn(1).at(-1)?.id).toBe(last);
    expect(session.abandoned[0]?.readTurn(0)).toEqual(session.readTurn(0));
  });

  it("shares nothing where the user began anew, and is none when nothing was said on it", () => {
    const pi = createPiWriter();
    talk(pi);
    pi.goTo(null);
    pi.add({ type: "model_change", provider: "anthropic", modelId: "x" });
    pi.goTo(null);
    pi.user("anew");
    const session = readPi(pi);
    expect(sentOf(session)).toEqual(["user: anew"]);
    expect(session.abandoned).toMatchObject([{ commonTurns: 0, turnCount: 2 }]);
  });
});
