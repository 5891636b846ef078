import { describe, expect, it } from "vitest";
import { eventLines, viewBlocks } from "../../../src/app/diff/view-text.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { answer, call, kept, request, result, summary, thought, view, viewLines } from "../../helpers/sample-view.ts";

const timestamp = "2026-11-21T20:30:00Z";

describe("the text of a view", () => {
  it("shows each event under its role, with content indented", () => {
    const lines = viewLines(
      view(
        kept(
          3,
          request("r1", "Fix the parser.\n\nIt loops."),
          thought("t1", "A loop in next()."),
          call("k1", "read_file", { path: "src/parser.ts", limit: 20, flags: [] }),
          result("o1", "k1", "line one\r\nline two", true),
          answer("a1", "Done."),
        ),
      ),
    );
    expect(lines.join("\n")).toBe(
      [
        "== turn 3 ==",
        "user",
        "  Fix the parser.",
        "",
        "  It loops.",
        "assistant (reasoning)",
        "  A loop in next().",
        "tool call read_file",
        "  path: src/parser.ts",
        "  limit: 20",
        "  flags: []",
        "tool result read_file (error)",
        "  line one",
        "  line two",
        "assistant",
        "  Done.",
      ].join("\n"),
    );
  });

  it("heads a summary with the turns it replaces", () => {
    expect(viewLines(view(summary(0, 12, "k3f9q2", request("s1", "What happened."))))[0]).toBe(
      "== turns 0..12: summary k3f9q2 ==",
    );
  });

  it("leaves out what no model sees", () => {
    const note: Event = { type: "note", id: "n1", timestamp, kind: "progress" };
    const start: Event = { type: "turn_start", id: "s1", timestamp };
    const unknown = { type: "weather", id: "w1", timestamp } as unknown as Event;
    expect(viewLines(view(kept(0, start, note, unknown, request("r1", "Hi"))))).toEqual([
      "== turn 0 ==",
      "user",
      "  Hi",
    ]);
  });

  it("names who a request comes from when it is not typed by the user", () => {
    const harness: Event = { ...request("r1", "A hook said no."), role: "system", metadata: { origin: "harness" } };
    expect(viewLines(view(kept(0, harness)))[1]).toBe("system (added by the agent)");
  });

  it("names images, attachments and encrypted reasoning instead of printing bytes", () => {
    const image: Event = {
      ...request("r1", ""),
      content: [
        { type: "text", text: "Look:" },
        { type: "image", media_type: "image/png", data: { $attachment: "ab/abcd.png", encoding: "base64" } },
        { type: "document", title: "plan.pdf", data: "AAAA" },
        { type: "opaque", provider: "openai", value: { k: 1 } },
      ],
    };
    const hidden: Event = { ...thought("t1", ""), metadata: { encrypted: "xxxx" } };
    expect(viewLines(view(kept(0, image, hidden))).slice(1)).toEqual([
      "user",
      "  Look:",
      "  [image image/png ab/abcd.png]",
      "  [document plan.pdf 4 characters]",
      "  [opaque openai]",
      "  {",
      '    "k": 1',
      "  }",
      "assistant (reasoning)",
      "  [encrypted reasoning]",
    ]);
  });
});

describe("documents of text", () => {
  it("are given with their lines, also where a provider keeps them verbatim, whose other fields stay", () => {
    const source = { type: "text", data: "one\ntwo" };
    const asked: Event = {
      ...request("r1", ""),
      content: [
        { type: "document", media_type: "text/plain", data: Buffer.from("tide\nhigh").toString("base64") },
        { type: "opaque", provider: "anthropic", value: { type: "document", source, list: ["a", "b\nc"], n: 1 } },
      ],
    };
    expect(viewLines(view(kept(0, asked))).slice(2)).toEqual([
      "  [document text/plain 12 characters]",
      "  tide",
      "  high",
      "  [opaque anthropic]",
      "  type: document",
      "  source:",
      "    type: text",
      "    data:",
      "      one",
      "      two",
      "  list:",
      "    0: a",
      "    1:",
      "      b",
      "      c",
      "  n: 1",
    ]);
  });
});

describe("viewBlocks", () => {
  it("gives every block a key of its own, also when an id occurs twice", () => {
    const keys = viewBlocks(view(kept(0, request("r1", "a")), kept(0, request("r1", "a")))).map((block) => block.key);
    expect(new Set(keys).size).toBe(4);
  });
});

describe("eventLines", () => {
  it("gives an event that no model sees as JSON", () => {
    const note: Event = { type: "note", id: "n1", timestamp, kind: "progress", data: { step: 1 } };
    expect(eventLines(note).join("\n")).toBe(JSON.stringify(note, null, 2));
  });
});
