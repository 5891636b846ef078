import { expect, it } from "vitest";
import { renderPull, renderPush } from "../../../src/cli/render/sharing.ts";
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
    In the meantime somebody else pushed 2 turns to try that yours does not have.
    Their next \`jpg pull\` makes it a fork. To keep it here as well:
      jpg git branch fix-parser-k3f9/NAME 70b575623"
  `);
});

it("a pull that made forks names them whole, however narrow the terminal; of several conversations with these", () => {
  const [long, short] = ["fix-the-parser-that-reads-every-line-twice-k3f9", "tide-m2q8"];
  const forked = (id: string, fork: string) =>
    ({ branch: `${id}/main`, status: "forked", turns: 1, fork: `${id}/${fork}` }) as const;
  const report = {
    remote: "team",
    as: "branches",
    url: "/srv/team.git",
    removed: [],
    gone: [],
    total: 4,
    active: null,
  } as const;
  const pulled = (branches: readonly ReturnType<typeof forked>[]): string => renderPull({ ...report, branches }, PLAIN);
  expect(pulled([forked(long, "main-ada-1")])).toMatchInlineSnapshot(`
    "  forked  fix-the-parser-that-reads-every-line-twice-k3f9/main  1 turn more
    Both sides of main had added turns: theirs keeps the name, yours is main-ada-1."
  `);
  expect(pulled([forked(long, "main-ada-1"), forked(short, "main-ada-2")])).toMatchInlineSnapshot(`
    "  forked  fix-the-parser-that-reads-every-line-twice-k3f9/main  1 turn more
      forked  tide-m2q8/main                                        1 turn more
    Both sides of fix-the-parser-that-reads-every-line-twice-k3f9/main had added turns: theirs keeps the name, yours is main-ada-1.
    Both sides of tide-m2q8/main had added turns: theirs keeps the name, yours is main-ada-2."
  `);
});
