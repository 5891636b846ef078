import { describe, expect, it } from "vitest";
import type { View } from "../../../src/core/conversation/event.ts";
import { ORIGIN_KEY, renderTurnLines, renderViewLines } from "../../../src/formats/jsonl/write.ts";

const timestamp = "2026-03-04T05:06:07.000Z";
const view: View = {
  turns: [
    {
      origin: { kind: "summary", from: 0, to: 4, compaction: "k3f9q2" },
      events: [
        { type: "turn_start", id: "k3f9q2.turn", timestamp },
        { type: "chat_request", id: "k3f9q2.request", timestamp, content: "line\nbreak \u2028" },
      ],
    },
    {
      origin: { kind: "kept", turn: 5, part: true },
      events: [{ type: "turn_start", id: "b.turn", timestamp, metadata: { model: "m" } }],
    },
  ],
};

describe("renderViewLines", () => {
  it("writes one event a line, which reads back as it was but for the origin", () => {
    const lines = renderViewLines(view)
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const events = lines.map(({ [ORIGIN_KEY]: _, ...event }) => event);
    expect(events).toEqual(view.turns.flatMap((turn) => turn.events));
  });

  it("names the origin of a turn in its first line", () => {
    const lines = renderViewLines(view)
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map((line) => line[ORIGIN_KEY])).toEqual([view.turns[0]?.origin, undefined, view.turns[1]?.origin]);
  });

  it("is the concatenation of its turns", () => {
    expect(view.turns.map(renderTurnLines).join("")).toBe(renderViewLines(view));
    expect(renderViewLines({ turns: [] })).toBe("");
  });
});
