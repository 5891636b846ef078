import { expect, it } from "vitest";
import type { CheckReport } from "../../../src/app/integrity/check.ts";
import { renderCheck } from "../../../src/cli/render/check.ts";
import { PLAIN } from "../../helpers/plain-rendering.ts";

const clean: CheckReport = {
  ok: true,
  violations: [],
  kind: "view",
  source: "pier-k3f9/main",
  checked: [{ provider: "anthropic", model: "claude-opus-4-8", messages: 1 }],
};

it("says that nothing was found, and in what", () => {
  expect(renderCheck(clean, PLAIN)).toBe(
    "no violations in view of pier-k3f9/main (anthropic for claude-opus-4-8: 1 message)",
  );
});

it("gives each violation a line, with its provider where there are several", () => {
  const report: CheckReport = {
    ok: false,
    kind: "session",
    source: "a\u001b.jsonl",
    checked: [{ provider: "anthropic", messages: 3 }],
    violations: [
      {
        rule: "A1",
        severity: "error",
        provider: "anthropic",
        position: { message: 12, block: 3 },
        message: "No\nresult.",
        event: "e1",
      },
      { rule: "A13", severity: "warning", provider: "anthropic", position: { message: 2 }, message: "Two in a row." },
    ],
  };
  expect(renderCheck(report, PLAIN)).toMatchInlineSnapshot(`
    "E A1 message 12, block 3 (event e1): No result.
    W A13 message 2: Two in a row.
    1 error, 1 warning in session a␛.jsonl (anthropic: 3 messages)"
  `);
  const both = { ...report, checked: [...report.checked, { provider: "google" as const, messages: 2 }] };
  expect(renderCheck(both, PLAIN)).toMatch(/^E anthropic A1 message 12, block 3 \(event e1\): No result\.\n/);
});
