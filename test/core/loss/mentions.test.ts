// What is found of a ledger in a view: in full, by a shorter name, or quoted.
import { describe, expect, it } from "vitest";
import { createReaders, markShown, openLedger } from "../../../src/core/compact/receipt.ts";
import type { Event, Origin, View } from "../../../src/core/conversation/event.ts";

const at = { timestamp: "2026-01-01T00:00:00Z" };
const say = (message: string): Event => ({ type: "chat_response", id: "later", ...at, message });
const KEPT: Origin = { kind: "kept", turn: 7 };

function run(id: string, command: string, content: string, is_error = false): readonly Event[] {
  const call = { ...at, call_id: id };
  return [
    { type: "tool_call_request", id, ...call, name: "Bash", arguments: { command } },
    { type: "tool_call_response", id: `r${id}`, ...call, content, is_error },
  ];
}

/** What a turn behind them shows of events that are gone: `=` in full, `~` by name, `>` mentioned. */
function found(gone: readonly Event[], text: string, origin: Origin = KEPT): readonly string[] {
  const view: View = { turns: [{ origin, events: [say(text)] }] };
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
    expect(found([{ type: "chat_response", id: "e", ...at, message: gone }], text)).toEqual(marks);
  });

  it("tells eight SHAs with the same first digits apart", () => {
    const shas = Array.from({ length: 9 }, (_, n) => `abcdef01${n}`);
    const gone = [{ type: "chat_response", id: "e", ...at, message: shas.join(" ") }] as const;
    expect(found(gone, "at abcdef01")).toEqual(shas.slice(0, 8).map((sha) => `${sha} >`));
  });

  it.each([
    ["a line", "first\n  npm run lint  \nlast"],
    ["a sentence", "It ran. npm run lint"],
    ["a span of code", "Run `npm run lint` again."],
  ])("finds a command that is quoted as %s, however it ended", (_, text) => {
    const gone = [...run("a", "npm run lint", "ok"), ...run("b", "npm run lint", "no", true)];
    expect(found(gone, text)).toEqual(["npm run lint → ok >", "npm run lint → failed >"]);
    expect(found(gone, text.replace("lint", "test"))).toEqual([]);
    expect(found(gone, text.replace("lint", "lints"))).toEqual([]);
  });

  it("finds error lines and requests that are quoted as seen", () => {
    const request: Event = { type: "chat_request", id: "q", ...at, content: "Fix it now please. Then rest" };
    const gone = [request, ...run("a", "make", "Error: no rule")];
    expect(found(gone, "You said: no. Fix it now please. So:\nError: no rule\n`Then rest`")).toEqual([
      "Fix it now please. =>",
      "Then rest =>",
      "Error: no rule =>",
    ]);
    expect(found(gone, "Fix it now please, Error: no rule")).toEqual([]);
  });

  it("shows in an injected turn what it holds, without a mention", () => {
    const gone: Event = { type: "chat_response", id: "e", ...at, message: "#12 and /p/src/a.ts" };
    const injected: Origin = { kind: "summary", from: 0, to: 8, compaction: "k" };
    expect(found([gone], "#12 in a.ts", injected)).toEqual(["#12 =", "/p/src/a.ts ~"]);
  });
});
