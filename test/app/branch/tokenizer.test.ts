import { describe, expect, it } from "vitest";
import { cutRuns, loadTokenizer } from "../../../src/app/branch/tokenizer.ts";
import type { Event } from "../../../src/core/event/event.ts";
import { modelOf } from "../../../src/core/tokens/turn-facts.ts";

// covers: D17 "Tokenizer-based estimation rejected for now"

const ask = (content: string): Event => ({ type: "chat_request", id: "a", timestamp: "t", content });

const counter = async (model: string | null) => (await loadTokenizer(model))!.countEvent;

describe("loadTokenizer", () => {
  it("counts as the tables do", async () => {
    const count = await counter("gpt-5");
    expect(count(ask("hello world"))).toBe(2);
    expect(count({ type: "note", id: "n", timestamp: "t", kind: "k" })).toBe(0);
    const claude = await counter("claude-opus-4-5");
    expect(claude(ask("hello world"))).toBe(Math.ceil(2 * 1.1));
  });

  it("counts texts that name special tokens", async () => {
    const count = await counter(null);
    expect(count(ask("a <|endoftext|> b <EOT>"))).toBeGreaterThan(5);
  });

  it("counts long runs without a blank before its time is up", async () => {
    const count = await counter("claude-x");
    for (const run of ["a".repeat(400_000), " ".repeat(400_000), "👩‍👩‍👧".repeat(50_000)]) {
      expect(count(ask(run))).toBeGreaterThan(1000);
    }
  }, 30_000);

  it("counts any number of different words before its time is up, the later as the earlier", async () => {
    const count = await counter("claude-x");
    const words = (from: number) => Array.from({ length: 350_000 }, (_, at) => `part${from + at}x`).join(" ");
    const [first, again] = [count(ask(words(0))), count(ask(words(350_000)))];
    expect(first).toBeGreaterThan(350_000);
    expect(again).toBeGreaterThan(350_000);
    expect(count(ask(words(0)))).toBe(first);
  }, 30_000);
});

describe("cutRuns", () => {
  it("keeps every character, in pieces that are not long", () => {
    for (const text of ["", "short", "a b\n".repeat(3000), "x".repeat(9001), "😀".repeat(5000)]) {
      const pieces = cutRuns(text);
      expect(pieces.join("")).toBe(text);
      for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(2000);
      expect(pieces.some((piece) => /^[\udc00-\udfff]/.test(piece))).toBe(false);
    }
  });
});

describe("modelOf", () => {
  it("is the model that answered last", () => {
    const answer = (model?: string): Event => ({
      type: "chat_response",
      id: "b",
      timestamp: "t",
      message: "x",
      ...(model === undefined ? {} : { metadata: { model } }),
    });
    expect(modelOf([answer("old"), answer("new"), answer(), ask("x")])).toBe("new");
    expect(modelOf([ask("x")])).toBeNull();
  });
});
