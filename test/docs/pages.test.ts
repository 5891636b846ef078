// The pages that guide people and agents through the project name only what is there.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string): string => readFileSync(root + path, "utf8");
const decisions = readdirSync(`${root}docs/decisions`).map((name) => `docs/decisions/${name}`);
const PAGES = [
  "README.md",
  "AGENTS.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "docs/ARCHITECTURE.md",
  "docs/seeds.md",
  ...decisions,
];

/** Paths in backticks below the project's own folders; names with a placeholder (`NAME`, `*`, `{…}`) are none. */
function namedPaths(text: string): string[] {
  const named = [...text.matchAll(/`((?:src|test|docs|scripts|bin|examples|templates|bench|\.ci)\/[^`\s]*)`/g)];
  return named.map(([, path]) => path ?? "").filter((path) => !/[A-Z]{4,}\.ts|AGENT|[*{]/.test(path));
}

describe("the project's pages", () => {
  it.each(PAGES)("%s names only files that exist and links only to such", (page) => {
    const folder = page.includes("/") ? `${page.slice(0, page.lastIndexOf("/"))}/` : "";
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path]) => `${folder}${path}`);
    const missing = [...namedPaths(read(page)), ...links].filter((path) => !existsSync(root + path));
    // Review notes begin with the first catch; CONTRIBUTING.md says so.
    expect(missing.filter((path) => path !== "docs/REVIEW.md")).toEqual([]);
  });

  it("AGENTS.md and CONTRIBUTING.md name only npm scripts that exist", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const called = ["README.md", "AGENTS.md", "CONTRIBUTING.md"].flatMap((page) => [
      ...read(page).matchAll(/npm run ([a-z]+)/g),
    ]);
    expect(called.length).toBeGreaterThan(8);
    expect(called.map(([, name]) => name).filter((name) => scripts[name ?? ""] === undefined)).toEqual([]);
  });
});
