// Images that are stripped: the part of events that other policies speak of, too.

import { describe, expect, it } from "vitest";
import type { Compaction, ToolCallPolicy } from "../../../src/core/conversation/compaction.ts";
import { CONTENT_TYPES } from "../../../src/core/conversation/contents/content-types.ts";
import { checkCoverage } from "../../../src/core/conversation/coverage.ts";
import type { ContentPart, Event, Turn, View } from "../../../src/core/conversation/event.ts";
import { describePolicies } from "../../../src/core/conversation/policy.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { resolveDispositions } from "../../../src/core/conversation/winner.ts";
import { shortPolicies } from "../../../src/store/messages.ts";
import { makeCompaction } from "../../helpers/make-compaction.ts";
import { TINY_PNG } from "../../helpers/random-conversation.ts";

const timestamp = "2026-01-01T00:00:00Z";
const image: ContentPart = { type: "image", media_type: "image/png", data: TINY_PNG };
const document: ContentPart = { type: "document", title: "plan.pdf", media_type: "application/pdf", data: "JVBERg==" };
const text = (value: string): ContentPart => ({ type: "text", text: value });
const lineOf = (id: string): ContentPart => text(`[compacted] image: image/png, 67 B · ${id}`);

const events: Event[] = [
  { type: "turn_start", id: "s", timestamp },
  { type: "chat_request", id: "u", timestamp, content: [text("look"), image, document] },
  { type: "tool_call_request", id: "c", timestamp, call_id: "1", name: "shoot", arguments: { page: "a" } },
  {
    type: "tool_call_response",
    id: "r",
    timestamp,
    call_id: "1",
    content: [text("taken ".repeat(9)), image],
    is_error: false,
  },
  { type: "tool_call_request", id: "d", timestamp, call_id: "2", name: "list", arguments: {} },
  { type: "tool_call_response", id: "q", timestamp, call_id: "2", content: "a b", is_error: false },
];
const turns: readonly Turn[] = [{ index: 0, events }];

const images = makeCompaction("i", [0, 0], { images: "strip" });
const calls = (policy: ToolCallPolicy): Compaction => makeCompaction("t", [0, 0], { tool_calls: policy });

function contents(...compactions: Compaction[]): Record<string, unknown> {
  const view = projectTurns(turns, compactions);
  expect(checkCoverage(turns, compactions, view)).toEqual([]);
  const shown = view.turns.flatMap((turn) => turn.events);
  return Object.fromEntries(shown.flatMap((event) => ("content" in event ? [[event.id, event.content]] : [])));
}

const decided = (...compactions: Compaction[]): string[] =>
  [...resolveDispositions(turns, compactions)].map(
    ([id, { compaction, content }]) => `${id}: ${compaction.id} ${content}`,
  );

describe("images that are stripped", () => {
  it("leave a line each, and everything else as it was", () => {
    const view = projectTurns(turns, [images]);
    expect(contents(images)).toEqual({
      u: [text("look"), lineOf("u"), document],
      r: [text("taken ".repeat(9)), lineOf("r")],
      q: "a b",
    });
    for (const id of ["s", "c", "d", "q"]) expect(view.turns[0]?.events).toContain(events.find((one) => one.id === id));
    expect(contents()).toEqual(contents(makeCompaction("n", [0, 0])));
  });

  it("are decided about by the compaction that strips them, where there are any", () => {
    expect(decided(images)).toEqual(["u: i images", "r: i images"]);
    const kept = calls({ policy: "strip", request: true, response: false });
    expect(decided(kept, images)).toEqual([
      "u: i images",
      "c: t tool_request",
      "r: i images",
      "d: t tool_request",
      "q: t tool_response",
    ]);
    expect(decided(calls({ policy: "truncate", max_chars: 200 }), images)).toContain("r: i images");
    expect(decided(calls({ policy: "truncate", max_chars: 8 }), images)).toContain("r: t tool_response");
  });

  it.each<[string, Compaction, object]>([
    [
      "attachments",
      makeCompaction("t", [0, 0], { attachments: "strip" }),
      { u: [text("look"), text("[compacted] image: image/png"), text("[compacted] document: plan.pdf")] },
    ],
    [
      "stripped results",
      calls({ policy: "strip", request: false, response: true }),
      { r: "[compacted] shoot: success" },
    ],
    [
      "truncated results",
      calls({ policy: "truncate", max_chars: 8 }),
      { r: [text("take\n[compacted: 46 characters left out]\nken "), lineOf("r")] },
    ],
    [
      "results that stay",
      calls({ policy: "strip", request: true, response: false }),
      { r: [text("taken ".repeat(9)), lineOf("r")] },
    ],
  ])("and %s: the stronger counts, whichever is newer", (_name, other, expected) => {
    const older = { ...images, timestamp: "2020-01-01T00:00:00Z" };
    expect(contents(other, images)).toMatchObject(expected);
    expect(contents(other, older)).toMatchObject(expected);
  });

  it("are gone with calls that are omitted, and stay with events that are kept by name", () => {
    expect(contents(calls({ policy: "omit" }), images)).toEqual({ u: [text("look"), lineOf("u"), document] });
    const keep = { ...makeCompaction("k", [0, 0], { keep: ["r"] }), timestamp: "2030-01-01T00:00:00Z" };
    expect(contents(images, keep)["r"]).toEqual([text("taken ".repeat(9)), image]);
  });

  it("are named in subjects and trailers", () => {
    expect(describePolicies({ ...images, reasoning: "strip", attachments: "strip" })).toBe(
      "reasoning + attachments + images stripped",
    );
    expect(shortPolicies(images)).toBe("images=strip");
  });
});

describe("coverage of stripped images", () => {
  const view = projectTurns(turns, [images]);
  /** The view with another content of one event. */
  const withContent = (id: string, content: unknown): View => ({
    turns: view.turns.map((turn) => ({
      ...turn,
      events: turn.events.map((event) => (event.id === id ? ({ ...event, content } as Event) : event)),
    })),
  });

  it.each<[string, string, unknown]>([
    ["an image that stays", "r", [text("taken ".repeat(9)), image]],
    ["an image without a line", "r", [text("taken ".repeat(9))]],
    ["the line of another event", "r", [text("taken ".repeat(9)), lineOf("u")]],
    ["a line more than there are images", "r", [text("taken ".repeat(9)), lineOf("r"), lineOf("r")]],
    ["a text beside it that changes", "u", [text("look!"), lineOf("u"), document]],
    ["a document that goes", "u", [text("look"), lineOf("u")]],
    ["a result without an image that changes", "q", "a"],
  ])("notices %s", (_name, id, content) => {
    expect(checkCoverage(turns, [images], withContent(id, content))).toMatchObject([
      { rule: "event_not_as_expected", id },
    ]);
  });
});

describe("the content types", () => {
  it("each say once what projection does and once how it is checked, under a name of their own", () => {
    expect(new Set(CONTENT_TYPES.map(({ content }) => content)).size).toBe(CONTENT_TYPES.length);
    for (const { content, projected, covered, fields } of CONTENT_TYPES) {
      expect([content, covered === undefined]).toEqual([content, projected === undefined]);
      expect(Object.keys(fields)).toContain(content);
    }
  });

  it("are each all about an event, or parts of it", () => {
    for (const { isPart, covered } of CONTENT_TYPES) expect(covered?.setAside !== undefined).toBe(isPart === true);
  });
});
