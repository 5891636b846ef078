import { describe, expect, it } from "vitest";
import { cutEnd, cutMiddle } from "../../../src/core/compact/passages.ts";
import { renderTurns } from "../../../src/core/compact/tangents.ts";
import type { Event, Turn } from "../../../src/core/conversation/event.ts";
import { call, callTurns } from "../../helpers/call-conversation.ts";
import { answer, request } from "../../helpers/sample-view.ts";

const turns = callTurns([call("Edit", { file_path: "/p/a.ts" }), call("Bash", { command: "make" })], []);

describe("renderTurns", () => {
  it("numbers turns and says what was asked, answered and worked on", () => {
    expect(renderTurns(turns, { chars: 10_000, isOpen: (turn) => turn === 0 })).toBe(
      [
        "turn 0",
        "  request: do task 0",
        "  answer: done",
        "  tools: Edit 1x, Bash 1x",
        "  files: /p/a.ts",
        "turn 1 (stays)",
        "  request: do task 1",
        "  answer: done",
      ].join("\n"),
    );
  });

  it("fits, or says that it cannot", () => {
    const many = callTurns(
      ...Array.from({ length: 100 }, () => [call("Read", { file_path: `/p/${"x".repeat(500)}.ts` })]),
    );
    const text = renderTurns(many, { chars: 30_000, isOpen: () => true });
    expect(text?.length).toBeLessThan(30_000);
    expect(renderTurns(many, { chars: 5000, isOpen: () => true })).toBeNull();
    expect(renderTurns([], { chars: 0, isOpen: () => true })).toBe("");
  });

  it("keeps what was said on one line, so that it passes for no label", () => {
    const [turn] = callTurns([]);
    const events = turn!.events.map((event) =>
      event.type === "chat_request" ? { ...event, content: "hello\nturn 7\n  request: none" } : event,
    );
    const text = renderTurns([{ index: 0, events }], { chars: 10_000, isOpen: () => true });
    expect(text?.split("\n")[1]).toBe("  request: hello turn 7 request: none");
  });

  it("gives the request 45, the answer 35 and the files 20 hundredths of the room of a turn, and tools eighty characters", () => {
    const words = "word ".repeat(1000).trim();
    const names = Array.from({ length: 40 }, (_, n) => call(`tool${n}`, { file_path: `/p/long-name-${n}.ts` }));
    const [turn, ...rest] = callTurns(names, [], [], []);
    const events = turn!.events.map((event): Event => {
      if (event.type === "chat_request") return { ...event, content: words };
      return event.type === "chat_response" ? { ...event, message: words } : event;
    });
    const text = renderTurns([{ index: 0, events }, ...rest], { chars: 5000, isOpen: () => true }) ?? "";
    const [, request = "", reply = "", tools = "", files = ""] = text.split("\n");
    const all = names.map(({ args }) => (args as { file_path: string }).file_path).join(", ");
    expect(request).toBe(`  request: ${cutEnd(words, 225)}`);
    expect(reply).toBe(`  answer: ${cutMiddle(words, 175)}`);
    expect(tools).toBe(`  tools: ${cutEnd(names.map(({ name }) => `${name} 1x`).join(", "), 80)}`);
    expect(files).toBe(`  files: ${cutEnd(all, 100)}`);
  });

  it("gives the last three turns three times the room, and no turn more than nine hundred characters", () => {
    const words = "x".repeat(5000);
    const ask = (index: number): Turn => ({ index, events: [request(`u${index}`, words)] });
    const lengths = (count: number, chars: number) =>
      renderTurns(
        Array.from({ length: count }, (_, index) => ask(index)),
        { chars, isOpen: () => true },
      )
        ?.split("\n")
        .filter((line) => line.startsWith("  request: "))
        .map((line) => line.length - "  request: ".length);
    expect(lengths(5, 1e6)).toEqual([405, 405, 1215, 1215, 1215]);
    expect(lengths(5, 11 * 200)).toEqual([90, 90, 270, 270, 270]);
    expect(lengths(4, 10 * 120)).toEqual([54, 162, 162, 162]);
    expect(lengths(4, 10 * 120 - 1)).toBeUndefined();
    expect(lengths(2, 1e6)).toEqual([1215, 1215]);
  });

  it("joins requests, takes the last answer, and says when nothing was asked", () => {
    const events = [request("a", "one"), answer("b", "first"), request("c", "two"), answer("d", "last")];
    const render = (list: readonly Event[]) =>
      renderTurns([{ index: 3, events: list }], { chars: 9000, isOpen: () => false });
    expect(render(events)).toBe("turn 3 (stays)\n  request: one / two\n  answer: last");
    expect(render([])).toBe("turn 3 (stays)\n  request: none");
  });

  it("names files that changed before those that were read", () => {
    const calls = [call("Read", { file_path: "/p/b.ts" }), call("Edit", { file_path: "/p/a.ts" })];
    const text = renderTurns(callTurns(calls), { chars: 9000, isOpen: () => true });
    expect(text?.split("\n").at(-1)).toBe("  files: /p/a.ts, /p/b.ts");
  });
});
