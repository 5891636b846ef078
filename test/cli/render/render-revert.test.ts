import { expect, it } from "vitest";
import { renderRevert } from "../../../src/cli/render/render-revert.ts";
import { PLAIN } from "../../helpers/plain-rendering.ts";

it("says what was taken back, where, by which commit, and what became of the view", () => {
  const report = {
    commit: "0123456789abcdef",
    reverted: ["k3f9q2", "m4d0aa"],
    branch: "pier-k3f9/main",
    tokens: { before: 900, after: 2100 },
  };
  expect(renderRevert(report, PLAIN)).toMatchInlineSnapshot(`
    "Reverted k3f9q2, m4d0aa on pier-k3f9/main
    commit 0123456  view 900 → 2.1k"
  `);
  expect(renderRevert({ commit: null, reverted: ["k3f9q2"] }, PLAIN)).toContain("k3f9q2");
  expect(renderRevert({ ...report, restored: ["m4d0aa"] }, PLAIN)).toMatch(
    /^Reverted k3f9q2; Brought back m4d0aa on pier/,
  );
});
