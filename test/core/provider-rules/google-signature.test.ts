// Thought signatures of Gemini, and where the current turn begins.
import { describe, expect, it } from "vitest";
import { currentTurnStart, DUMMY_SIGNATURE, isSignature } from "../../../src/core/model/google-rules.ts";

describe("isSignature", () => {
  it.each(["c2ln", "a", "c2lnbg==", "c2k=", "+/09AZaz", "-_09AZaz"])("takes %j", (value) => {
    expect(isSignature(value)).toBe(true);
  });

  it.each(["", "=", " c2ln", "c2ln ", "!c2ln", "c2ln!", "c2===", "c=2", DUMMY_SIGNATURE, 5, null, undefined, ["c2ln"]])(
    "refuses %j",
    (value) => expect(isSignature(value)).toBe(false),
  );
});

describe("currentTurnStart", () => {
  const content = (role: string, ...parts: Readonly<Record<string, unknown>>[]) => ({ role, parts });

  it("is the newest user content that holds a text", () => {
    const asked = [content("user", { text: "a" }), content("model", { text: "b" }), content("user", {}, { text: "" })];
    expect(currentTurnStart([...asked, content("model", { text: "c" }), content("user", { text: 5 })])).toBe(2);
    expect(currentTurnStart(asked.slice(0, 2))).toBe(0);
  });

  it("is -1 when no user content holds a text", () => {
    expect(currentTurnStart([])).toBe(-1);
    expect(currentTurnStart([content("model", { text: "b" }), content("user", { functionResponse: {} })])).toBe(-1);
  });
});
