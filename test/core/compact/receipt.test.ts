import { describe, expect, it } from "vitest";
import {
  type CoveredEvent,
  createReaders,
  type LedgerEntry,
  markShown,
  noteMention,
  noteSeen,
  openLedger,
} from "../../../src/core/compact/receipt.ts";
import type { Event, Origin, View } from "../../../src/core/conversation/event.ts";

const at = { timestamp: "2026-01-01T00:00:00Z" };
const say = (id: string, message: string): Event => ({ type: "chat_response", id, ...at, message });
const run = (id: string, command: string): Event => ({
  type: "tool_call_request",
  id,
  ...at,
  call_id: id,
  name: "Bash",
  arguments: { command },
});
const viewOf = (...events: readonly Event[]): View => ({ turns: [{ origin: { kind: "kept", turn: 0 }, events }] });
const readers = createReaders(viewOf(), viewOf());

function entriesOf(...covered: readonly CoveredEvent[]): readonly LedgerEntry[] {
  return [...openLedger(covered, readers).values()].flatMap((entries) => [...entries.values()]);
}

const unseen = { isVisible: false, isByName: false, mentionedIn: null, times: 1 };

describe("openLedger", () => {
  it("enters each fact once, with the first event that shows it as its source", () => {
    const first = say("first", "see src/a.ts and #12");
    const second = say("second", "src/a.ts again, some_name too");
    const covered = [
      { event: first, turn: 3, now: first },
      { event: second, turn: 4, now: undefined },
    ];
    expect(entriesOf(...covered)).toEqual([
      {
        kind: "files",
        text: "src/a.ts",
        turn: 3,
        event: "first",
        isGone: false,
        hasPointer: false,
        ...unseen,
        times: 2,
      },
      { kind: "issues", text: "#12", turn: 3, event: "first", isGone: false, hasPointer: false, ...unseen },
      { kind: "identifiers", text: "some_name", turn: 4, event: "second", isGone: true, hasPointer: false, ...unseen },
    ]);
  });

  it("knows what is gone from what is there now", () => {
    const now = say("e1", "see #12");
    expect(entriesOf({ event: say("e1", "#12 and #13"), turn: 0, now })).toMatchObject([
      { text: "#12", isGone: false },
      { text: "#13", isGone: true },
    ]);
  });

  it.each([
    ["a stub that names the event", "e1", "left out, see e1", true],
    ["a stub that does not", "e1", "left out", false],
    ["a stub without an id", "", "left out", false],
    ["nothing", "e1", null, false],
  ])("takes a pointer from what stands there now: %s", (_, id, text, hasPointer) => {
    const now = text === null ? undefined : say(id, text);
    expect(entriesOf({ event: say(id, "#12"), turn: 0, now })).toMatchObject([{ text: "#12", hasPointer }]);
  });

  it("takes no pointer from an unchanged event, whatever it says", () => {
    const same = say("e1", "#12 is e1");
    expect(entriesOf({ event: same, turn: 0, now: same })).toMatchObject([{ text: "#12", hasPointer: false }]);
  });

  it("keeps a pointer to any event that shows the fact", () => {
    const pointed = (id: string): CoveredEvent => ({ event: say(id, "#12"), turn: 0, now: say(id, `see ${id}`) });
    const gone = (id: string): CoveredEvent => ({ event: say(id, "#12"), turn: 0, now: undefined });
    expect(entriesOf(gone("e1"), pointed("e2"), gone("e3"))).toMatchObject([{ hasPointer: true }]);
    expect(entriesOf(pointed("e1"), gone("e2"))).toMatchObject([{ hasPointer: true }]);
    expect(entriesOf(gone("e1"), gone("e2"))).toMatchObject([{ hasPointer: false }]);
  });

  it("takes 1000 facts of a kind from an event", () => {
    const issues = Array.from({ length: 1001 }, (_, n) => `#${n + 1}`).join(" ");
    const entries = entriesOf({ event: say("e1", `${issues} src/a.ts`), turn: 0, now: undefined });
    expect(entries.filter(({ kind }) => kind === "issues").map(({ text }) => text)).toEqual(
      Array.from({ length: 1000 }, (_, n) => `#${n + 1}`),
    );
    expect(entries.filter(({ kind }) => kind === "files")).toHaveLength(1);
  });
});

describe("createReaders", () => {
  it("gives the facts of an event with the commands that its view shows it to have run", () => {
    const call = run("c", "make src/a.ts");
    const result: Event = { type: "tool_call_response", id: "r", ...at, call_id: "c", content: "", is_error: true };
    const read = createReaders(viewOf(call, result), viewOf(call));
    expect([...read.before(call)]).toEqual([
      ["files", new Set(["src/a.ts"])],
      ["commands", new Set(["make src/a.ts → failed"])],
    ]);
    expect(read.after(call).get("commands")).toEqual(new Set(["make src/a.ts"]));
    expect(read.after(result)).toEqual(new Map());
  });

  it("reads an event that is in both views once", () => {
    const said = say("m", "see src/a.ts");
    const read = createReaders(viewOf(said), viewOf(said));
    expect(read.after(said)).toBe(read.before(said));
  });
});

describe("noting what a view shows", () => {
  const entry = (isGone: boolean): LedgerEntry => ({
    kind: "files",
    text: "src/a.ts",
    turn: 2,
    event: "e1",
    isGone,
    hasPointer: false,
    ...unseen,
  });

  it.each([
    ["a later turn", true, [5], 5],
    ["the first of later turns", true, [3, 4], 3],
    ["the turn of the source", true, [2], null],
    ["an earlier turn", true, [1], null],
    ["an injected turn", true, [null], null],
    ["a later turn while the source still shows it", false, [5], null],
  ])("keeps where a fact is mentioned: %s", (_, isGone, turns, mentionedIn) => {
    const mentioned = entry(isGone);
    for (const turn of turns) noteMention(mentioned, turn);
    expect(mentioned).toEqual({ ...entry(isGone), mentionedIn });
    const seen = entry(isGone);
    for (const turn of turns) noteSeen(seen, turn);
    expect(seen).toEqual({ ...entry(isGone), isVisible: true, mentionedIn });
  });
});

// What is found of a ledger in a view: in full, by a shorter name, or quoted.

const atMentions = { timestamp: "2026-01-01T00:00:00Z" };
const sayMentions = (message: string): Event => ({ type: "chat_response", id: "later", ...atMentions, message });
const KEPT: Origin = { kind: "kept", turn: 7 };

function runMentions(id: string, command: string, content: string, is_error = false): readonly Event[] {
  const call = { ...atMentions, call_id: id };
  return [
    { type: "tool_call_request", id, ...call, name: "Bash", arguments: { command } },
    { type: "tool_call_response", id: `r${id}`, ...call, content, is_error },
  ];
}

/** What a later turn shows of events that are gone: `=` in full, `~` by name, `>` mentioned. */
function found(gone: readonly Event[], text: string, origin: Origin = KEPT): readonly string[] {
  const view: View = { turns: [{ origin, events: [sayMentions(text)] }] };
  const readers = createReaders({ turns: [{ origin: { kind: "kept", turn: 0 }, events: gone }] }, view);
  const covered = gone.map((event) => ({ event, turn: 0, now: undefined }));
  const ledger = openLedger(covered, readers);
  markShown(ledger, view.turns, readers.after);
  return [...ledger.values()].flatMap((entries) =>
    [...entries.values()].flatMap(({ text: fact, isVisible, isByName, mentionedIn }) => {
      const marks = `${isVisible ? "=" : ""}${isByName ? "~" : ""}${mentionedIn === 7 ? ">" : ""}`;
      return marks === "" ? [] : [`${fact} ${marks}`];
    }),
  );
}

describe("markShown", () => {
  it.each([
    ["a word", "#12 #13", "see #12", ["#12 =>"]],
    ["nothing", "#12", "see #13", []],
    ["a path in full", "/p/src/a.ts", "see /p/src/a.ts", ["/p/src/a.ts =>"]],
    ["the end of a path", "/p/src/a.ts", "see src/a.ts", ["/p/src/a.ts ~>"]],
    ["a longer path", "src/a.ts a.ts", "see /p/src/a.ts", ["src/a.ts =>", "a.ts =>"]],
    ["the end of two paths", "/p/x/a.ts /p/y/a.ts", "see a.ts", []],
    ["the end of three paths", "/p/x/a.ts /p/y/a.ts /p/z/a.ts", "see a.ts", []],
    ["the longer end of one of two paths", "/p/x/a.ts /p/y/a.ts", "see y/a.ts", ["/p/y/a.ts ~>"]],
    ["a piece of a name", "/p/src/a.ts", "see c/a.ts", []],
    ["the first digits of a SHA", "deadbeef12345678", "at deadbeef1", ["deadbeef12345678 >"]],
    ["a longer SHA", "deadbeef1", "at deadbeef12345678", ["deadbeef1 =>"]],
    ["a SHA with the same first digits", "deadbeef1", "at deadbeef2", []],
    ["the last digits of a SHA", "1234567deadbeef", "at deadbee9 and 4567deadbeef", []],
    ["a SHA that two begin with", "deadbee1 deadbee2", "at deadbee", []],
    ["seven digits that two begin with", "abcdef01 abcdef02", "at abcdef0", ["abcdef01 >", "abcdef02 >"]],
  ])("finds %s", (_, gone, text, marks) => {
    expect(found([{ type: "chat_response", id: "e", ...atMentions, message: gone }], text)).toEqual(marks);
  });

  it("distinguishes eight SHAs with the same first digits", () => {
    const shas = Array.from({ length: 9 }, (_, n) => `abcdef01${n}`);
    const gone = [{ type: "chat_response", id: "e", ...atMentions, message: shas.join(" ") }] as const;
    expect(found(gone, "at abcdef01")).toEqual(shas.slice(0, 8).map((sha) => `${sha} >`));
  });

  it.each([
    ["a line", "first\n  npm run lint  \nlast"],
    ["a sentence", "It ran. npm run lint"],
    ["a span of code", "Run `npm run lint` again."],
  ])("finds a command that is quoted as %s, however it ended", (_, text) => {
    const gone = [...runMentions("a", "npm run lint", "ok"), ...runMentions("b", "npm run lint", "no", true)];
    expect(found(gone, text)).toEqual(["npm run lint → ok >", "npm run lint → failed >"]);
    expect(found(gone, text.replace("lint", "test"))).toEqual([]);
    expect(found(gone, text.replace("lint", "lints"))).toEqual([]);
  });

  it("finds error lines and requests that are quoted as seen", () => {
    const request: Event = { type: "chat_request", id: "q", ...atMentions, content: "Fix it now please. Then rest" };
    const gone = [request, ...runMentions("a", "make", "Error: no rule")];
    expect(found(gone, "You said: no. Fix it now please. So:\nError: no rule\n`Then rest`")).toEqual([
      "Fix it now please. =>",
      "Then rest =>",
      "Error: no rule =>",
    ]);
    expect(found(gone, "Fix it now please, Error: no rule")).toEqual([]);
  });

  it("shows in an injected turn what it holds, without a mention", () => {
    const gone: Event = { type: "chat_response", id: "e", ...atMentions, message: "#12 and /p/src/a.ts" };
    const injected: Origin = { kind: "summary", from: 0, to: 8, compaction: "k" };
    expect(found([gone], "#12 in a.ts", injected)).toEqual(["#12 =", "/p/src/a.ts ~"]);
  });
});
