import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const page = readFileSync(`${root}docs/coverage.md`, "utf8");

/** The cells of every statement: statement, where, test, status. */
const rows = page
  .split("\n")
  .filter((line) => line.startsWith("|") && !/^\|\s*(statement|-+)/.test(line))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));

const paths = (cell: string | undefined): string[] =>
  [...(cell ?? "").matchAll(/`([\w./-]+\.\w+)`/g)].map(([, path]) => path ?? "");

describe("docs/coverage.md", () => {
  it("counts the statements that it lists, by status", () => {
    const statuses = rows.map((cells) => /^[a-z]+/.exec(cells[4] ?? "")?.[0] ?? "");
    const count = (status: string): number => statuses.filter((one) => one === status).length;
    const line = `${rows.length} statements: ${count("done")} done, ${count("models")} models, ${count("engine")} engine, ${count("departs")} departs, ${count("context")} context.`;
    expect(page).toContain(line);
  });

  it("names only files that exist, for what is done", () => {
    const missing = rows
      .filter((cells) => cells[4] === "done")
      .flatMap((cells) => [...paths(cells[2]), ...paths(cells[3])])
      .filter((path) => /^(src|test|docs|templates|examples|bench)\//.test(path) && !existsSync(root + path));
    expect([...new Set(missing)]).toEqual([]);
  });

  it("names a test for everything that is done", () => {
    const untested = rows
      .filter((cells) => cells[4] === "done" && paths(cells[3]).length === 0)
      .map((cells) => cells[1]);
    expect(untested).toEqual([]);
  });
});
