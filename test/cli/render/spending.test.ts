import { expect, it } from "vitest";
import type { Spent } from "../../../src/app/overview/spending.ts";
import { renderSpending } from "../../../src/cli/render/spending.ts";
import { PLAIN } from "../../helpers/plain-rendering.ts";

const spent = (requests: number): Spent => ({
  requests,
  tokens_sent: 1000 * requests,
  input: 0,
  cache_read: 1000 * requests,
  cache_write: 0,
  output: 0,
  price_usd: requests,
});

it("fits 25 lines of 80 columns, whatever the number of projects, agents and models", () => {
  const long = (at: number): string => `/home/ada/${"deep/".repeat(12)}project-${at}`;
  const many = Array.from({ length: 40 }, (_, at) => spent(40 - at));
  const report = {
    since: "2026-10-30T00:00:00.000Z",
    total: spent(820),
    by_project: many.map((sum, at) => ({ ...sum, project: at === 0 ? "/home/ada/kelp" : long(at) })),
    by_agent: many.map((sum, at) => ({ ...sum, agent: `agent-${at}` })),
    by_model: many.map((sum, at) => ({ ...sum, model: `a-model-with-a-long-name-and-a-date-20261101-${at}` })),
    not_imported: 0,
    unreadable: [],
  };
  const lines = renderSpending(report, { ...PLAIN, width: 80, home: "/home/ada" }).split("\n");
  expect(lines.length).toBeLessThanOrEqual(25);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines[2]).toMatch(/^~\/kelp +40 +40\.0k +\$40$/);
  expect(lines[3]).toMatch(/^….*\/project-1 /);
  // Nothing is lost in a sum: 820 less the four largest projects.
  expect(lines.find((line) => line.startsWith("36 more"))).toMatch(/^36 more +666 +666\.0k +\$666$/);
});
