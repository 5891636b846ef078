// The pages that guide people and agents through the project name only what is there.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string): string => readFileSync(root + path, "utf8");
const decisions = readdirSync(`${root}docs/decisions`).map((name) => `docs/decisions/${name}`);
const guide = readdirSync(`${root}docs/guide`).map((name) => `docs/guide/${name}`);
const formats = readdirSync(`${root}docs/formats`).map((name) => `docs/formats/${name}`);
const PAGES = [
  "README.md",
  "AGENTS.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "docs/ARCHITECTURE.md",
  "docs/seeds.md",
  ...guide,
  ...decisions,
  "conformance/README.md",
  "docs/formats.md",
  ...formats,
];

/** What `npm pack --json` says of a package. */
interface Packed {
  readonly files: readonly { readonly path: string }[];
}

/** Where the links and pictures of a page lead, relative to the project; addresses of the web are left out. */
function linked(page: string): { readonly file: string; readonly anchor: string }[] {
  const targets = [
    ...[...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target ?? ""),
    ...[...read(page).matchAll(/(?:src|srcset|href)="([^"]+)"/g)].map(([, target]) => target ?? ""),
  ];
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = "", anchor = ""] = target.split("#");
      return { file: path === "" ? page : posix.join(posix.dirname(page), path), anchor };
    });
}

/** The anchors of a page's headings, as hosts make them. */
function anchors(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

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

  it.each(["README.md", ...guide])("%s links only to headings that exist", (page) => {
    const lost = linked(page).filter(
      ({ file, anchor }) => anchor !== "" && file.endsWith(".md") && !anchors(file).includes(anchor),
    );
    expect(lost).toEqual([]);
  });

  it("lead, in the package, only to files that the package has", { tags: ["slow"] }, () => {
    const words = ["pack", "--dry-run", "--json", "--ignore-scripts"];
    const [packed] = JSON.parse(execFileSync("npm", words, { cwd: root, encoding: "utf8" })) as Packed[];
    const files = packed?.files.map(({ path }) => path) ?? [];
    const pages = files.filter((path) => path.endsWith(".md") && !path.startsWith("templates/"));
    expect(pages).toEqual(expect.arrayContaining(["README.md", "docs/cli.md", ...guide]));
    const isThere = (file: string): boolean => files.some((path) => path === file || path.startsWith(`${file}/`));
    const lost = pages.flatMap((page) => linked(page).map(({ file }) => ({ page, file: file.replace(/\/$/, "") })));
    expect(lost.filter(({ file }) => !isThere(file))).toEqual([]);
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
