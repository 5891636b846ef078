import { describe, expect, it } from "vitest";
import { indexSummary } from "../../../src/core/compact/grounding.ts";
import type { FactKind } from "../../../src/core/conversation/compaction.ts";

describe("indexSummary", () => {
  const holds = indexSummary(
    "Ran npm test in src/a.ts by the Makefile: Error: no rule. Fix it. See #12, pin-1, someName",
  );

  it.each<[FactKind, string, boolean]>([
    ["files", "src/a.ts", true],
    ["files", "a.ts", false],
    ["files", "Makefile", true],
    ["files", "Justfile", false],
    ["commands", "npm test → failed", true],
    ["commands", "npm test", true],
    ["commands", "npm run → ok", false],
    ["errors", "Error: no rule", true],
    ["errors", "Error: no file", false],
    ["requests", "Fix it.", true],
    ["requests", "Fix that.", false],
    ["pins", "pin-1", true],
    ["pins", "pin-2", false],
    ["issues", "#12", true],
    ["issues", "#1", false],
    ["identifiers", "someName", true],
    ["identifiers", "Name", false],
  ])("looks for %s: %s", (kind, text, isHeld) => {
    expect(holds(kind, text)).toBe(isHeld);
  });

  it("holds nothing without a summary", () => {
    expect(indexSummary(undefined)("files", "src/a.ts")).toBe(false);
  });
});
