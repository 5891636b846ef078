import { expect, it } from "vitest";
import { renderPush } from "../../../src/cli/render/render-sharing.ts";
import { PLAIN } from "../../helpers/plain-rendering.ts";

it("a push that went over somebody's turns says so, and how to keep them", () => {
  const branch = { branch: "fix-parser-k3f9/try", status: "updated", turns: 1 } as const;
  const report = {
    ...({ remote: "team", as: "branches", url: "/srv/team.git", local: [], bytes: 2000, readme: null } as const),
    branches: [{ ...branch, passed_over: { commit: "70b5756233119a5bedc5ff18cedf48133c8f8e16", turns: 2 } }],
  };
  expect(renderPush(report, false, PLAIN)).toMatchInlineSnapshot(`
    "  updated  fix-parser-k3f9/try  1 turn
    Sent 1 branch, 1 turn, 2.0 kB to team.
    Meanwhile somebody else pushed 2 turns to try that yours does not have.
    That person's next \`jpg pull\` makes it a fork. To keep it here as well:
      jpg git branch fix-parser-k3f9/NAME 70b575623"
  `);
});
