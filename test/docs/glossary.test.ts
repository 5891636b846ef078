import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");

describe("docs/GLOSSARY.md", () => {
  it("names only files that exist", () => {
    const named = [...read("docs/GLOSSARY.md").matchAll(/`((?:src|docs)\/[^`]+)`/g)].map(([, path]) => path ?? "");
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });

  it("gives each word one row with all its columns", () => {
    const rows = [...read("docs/GLOSSARY.md").matchAll(/^\| \*\*(.+?)\*\* \|(.*)$/gm)];
    const words = rows.map(([, word]) => word);
    expect(new Set(words).size).toBe(words.length);
    expect(rows.filter(([, , cells]) => cells?.split(" | ").length !== 4)).toEqual([]);
  });
});

describe("docs/decisions", () => {
  const records = readdirSync(new URL("docs/decisions/", root));

  it.each(records)("%s is numbered and has every section of the template", (record) => {
    expect(record).toMatch(/^\d{3}-[a-z0-9-]+\.md$/);
    const headings = [...read(`docs/decisions/${record}`).matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(["Context", "Decision", "Alternatives", "Consequences"]);
  });

  it("gives each record a number of its own", () => {
    expect(new Set(records.map((record) => record.slice(0, 3))).size).toBe(records.length);
  });
});
