import { existsSync, readFileSync } from "node:fs";
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
