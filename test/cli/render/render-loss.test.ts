import { describe, expect, it } from "vitest";
import { renderLoss } from "../../../src/cli/render/quantity.ts";
import { PLAIN } from "../../helpers/plain-rendering.ts";

describe("renderLoss", () => {
  it("shows the counts by kind and what later turns still mention", () => {
    const lines = renderLoss(
      {
        facts: {
          files: { total: 1238, visible: 14, by_name: 2, summary: 3, pointer: 0, hidden: 1221, mentioned_later: 25 },
          shas: { total: 2, visible: 2, summary: 0, pointer: 0, hidden: 0, mentioned_later: 0 },
        },
        mentioned_later: [{ kind: "files", text: `src/\u001b[31m${"long".repeat(30)}.ts`, turn: 12 }],
      },
      PLAIN,
    );
    expect(lines.join("\n")).toMatchInlineSnapshot(`
      "    FACTS  TOTAL         VISIBLE  SUMMARY  POINTER  HIDDEN  MENTIONED LATER
          files  1,238  14 (2 by name)        3        -   1,221               25
          SHAs       2               2        -        -       -                -

          Source gone, still mentioned by a later turn:
            files  src/␛[31mlonglonglonglonglonglonglonglonglonglonglonglong…  turn 12
            … 24 more"
    `);
  });

  it("is empty without facts", () => {
    expect(renderLoss({ facts: {}, mentioned_later: [] }, PLAIN)).toEqual([]);
  });
});
