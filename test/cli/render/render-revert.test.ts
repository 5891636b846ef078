import { expect, it } from "vitest";
import { renderRevert } from "../../../src/cli/render/sharing.ts";
import { PLAIN } from "../../helpers/plain-rendering.ts";

it("says what was taken back, where, by which commit, and what became of the view", () => {
  const report = {
    commit: "01a3456789bcdef0",
    reverted: ["k3f9q2", "m4d0aa"],
    branch: "pier-k3f9/main",
    tokens: { before: 900, after: 2100 },
  };
  expect(renderRevert(report, PLAIN)).toMatchInlineSnapshot(`
    "Reverted k3f9q2, m4d0aa on pier-k3f9/main
    commit 01a3456  view 900 → 2.1k"
  `);
  expect(renderRevert({ commit: null, reverted: ["k3f9q2"] }, PLAIN)).toContain("k3f9q2");
  expect(renderRevert({ ...report, restored: ["m4d0aa"] }, PLAIN)).toMatch(
    /^Reverted k3f9q2; Brought back m4d0aa on pier/,
  );
});

it("names a few of many that are one change", () => {
  const reverted = Array.from({ length: 2000 }, (_, at) => `id${at}`);
  const report = { commit: "01a3456789bcdef0", reverted, branch: "pier-k3f9/main" };
  expect(renderRevert(report, PLAIN)).toBe(
    "Reverted id0, id1, id2, id3, id4, id5, id6, id7, id8, id9, … 1,990 more on pier-k3f9/main\ncommit 01a3456",
  );
});
