// The pages of decisions: found from their index, readable in one sitting, each decision with what else was considered.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string): string => readFileSync(root + path, "utf8");
const MOST_BYTES = 14_000;

const INDEX = "README.md";
const pages = readdirSync(`${root}docs/decisions`).filter((name) => name !== INDEX);

/** The sections of a page but for what was given up: each with its heading. */
function decisionsOf(page: string): string[] {
  const [, ...sections] = read(`docs/decisions/${page}`).split(/^## /m);
  return sections.filter((section) => !section.startsWith("Given up\n"));
}

/** Files of the project that may refer to a decision. */
const referring = ["bench", "bin", "browser", "docs", "scripts", "src", "templates", "test"]
  .flatMap((folder) =>
    readdirSync(root + folder, { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
  )
  .concat("README.md", "AGENTS.md", "CONTRIBUTING.md", ".dependency-cruiser.mjs")
  .filter((path) => /\.(?:ts|mjs|cjs|js|md|toml)$/.test(path) && !path.endsWith("docs/decisions.test.ts"));

describe("docs/decisions", () => {
  it("has an index that names every page, and no other", () => {
    expect(pages.length).toBeGreaterThan(15);
    const linked = [...read(`docs/decisions/${INDEX}`).matchAll(/\]\(([^/)]+)\)/g)].map(([, page]) => page);
    expect(linked.toSorted()).toEqual(pages.toSorted());
  });

  it.each(pages)("%s is named by its topic and short enough to be read", (page) => {
    expect(page).toMatch(/^[a-z]+(?:-[a-z]+)*\.md$/);
    expect(read(`docs/decisions/${page}`)).toMatch(/^# \S.*\n\n\S/);
    expect(Buffer.byteLength(read(`docs/decisions/${page}`))).toBeLessThanOrEqual(MOST_BYTES);
  });

  it.each(pages)("%s has the alternatives of each decision", (page) => {
    expect(decisionsOf(page).length).toBeGreaterThan(0);
    const without = decisionsOf(page).filter((section) => !/^\*\*Alternatives\*\*?[^\n]*\n(?:\n)?\* /m.test(section));
    expect(without.map((section) => section.split("\n")[0])).toEqual([]);
  });

  it("is referred to by the names of pages that exist, never by numbers", () => {
    expect(referring.length).toBeGreaterThan(500);
    const wrong = referring.flatMap((path) => {
      const text = read(path);
      const named = [...text.matchAll(/\bdecisions\/([a-z0-9-]+(?:\.md)?)/g)].filter(
        ([, page]) => !existsSync(`${root}docs/decisions/${page}`),
      );
      const numbered = [...text.matchAll(/\bdecisions? \[?\d{3}\b|\]\((?:decisions\/)?\d{3}-/gi)];
      return [...named, ...numbered].map(([found]) => `${path}: ${found}`);
    });
    expect(wrong).toEqual([]);
  });
});
