import { describe, expect, it } from "vitest";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { formatLiveMark } from "../../../src/formats/live-mark.ts";
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

const edit = (pi: PiWriter, targetId: string, content: unknown): string =>
  pi.add({ type: "context_edit", targetId, replacement: content === null ? null : { content } });

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

describe("edits of pi that jpg announced", () => {
  const mark = (kind: "compact" | "undo", compaction: string, rows: number): string =>
    formatLiveMark({ words: "Done.", kind, compaction, commit: "0a1b2c3d4e", rows });
  const announce = (pi: PiWriter, text: string): void => {
    pi.add({ type: "custom", customType: "jpg", data: { mark: text } });
  };

  it("are one compaction under the mark's id, of all that pi sends", () => {
    const pi = createPiWriter();
    const { first, answer } = talk(pi);
    announce(pi, mark("compact", "k3f9a0b1c2", 2));
    edit(pi, first, "one, in short");
    edit(pi, answer, null);
    const session = readPi(pi);
    expect(session.compactions.map(({ id }) => id)).toEqual(["k3f9a0b1c2"]);
    expect(session.live?.marks).toMatchObject([{ compaction: "k3f9a0b1c2", isInstalled: true }]);
    expect(sentOf(session)).toEqual(["user: one, in short", "user: two", "assistant: second"]);
    pi.user("three");
    expect(sentOf(readPi(pi))).toEqual(["user: one, in short", "user: two", "assistant: second", "user: three"]);
    edit(pi, first, "one, by another");
    expect(sentOf(readPi(pi))).toEqual(["user: one, by another", "user: two", "assistant: second", "user: three"]);
  });

  it("are none while the file lacks some of them", () => {
    const pi = createPiWriter();
    const { first } = talk(pi);
    announce(pi, mark("compact", "k3f9a0b1c2", 2));
    edit(pi, first, "one, in short");
    expect(readPi(pi).compactions).toEqual([]);
    expect(readPi(pi).live?.marks).toMatchObject([{ isInstalled: false }]);
  });

  it("take back the compaction that an undo names, also one of two", () => {
    const pi = createPiWriter();
    const { first, answer } = talk(pi);
    announce(pi, mark("compact", "k3f9a0b1c2", 1));
    edit(pi, first, "one, in short");
    announce(pi, mark("compact", "m4g0b1c2d3", 1));
    edit(pi, answer, null);
    announce(pi, mark("undo", "m4g0b1c2d3", 1));
    edit(pi, answer, "first");
    const session = readPi(pi);
    expect(session.live?.undone).toMatchObject([{ compaction: "m4g0b1c2d3" }]);
    expect(sentOf(session)).toEqual(["user: one, in short", "assistant: first", "user: two", "assistant: second"]);
    announce(pi, mark("undo", "k3f9a0b1c2", 1));
    edit(pi, first, "one");
    const undone = readPi(pi);
    expect(undone.live?.undone.map(({ compaction }) => compaction)).toEqual(["m4g0b1c2d3", "k3f9a0b1c2"]);
    expect(sentOf(undone)).toEqual(["user: one", "assistant: first", "user: two", "assistant: second"]);
  });

  it("may be a compaction of pi's with the mark in its details", () => {
    const pi = createPiWriter();
    const { answer } = talk(pi);
    const details = { jpg: mark("compact", "k3f9a0b1c2", 0) };
    pi.add({ type: "compaction", summary: "in short", firstKeptEntryId: answer, tokensBefore: 9, details });
    const session = readPi(pi);
    expect(session.compactions.map(({ id }) => id)).toEqual(["k3f9a0b1c2"]);
    expect(sentOf(session).slice(1)).toEqual(["assistant: first", "user: two", "assistant: second"]);
  });
});
