import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

describe("docs/coverage.md", () => {
  // The script fails when a tag names no statement, or a statement that is done has no test.
  it("is what the statements and the tags in the tests say (when it is not: npm run docs)", () => {
    const generated = execFileSync(process.execPath, ["scripts/generate-coverage.mjs", "-"], {
      cwd: root,
      encoding: "utf8",
    });
    expect(readFileSync(`${root}docs/coverage.md`, "utf8")).toBe(generated);
  });

  it("tells no statement twice", () => {
    const documents = JSON.parse(readFileSync(`${root}docs/statements.json`, "utf8")) as {
      readonly seed: string;
      readonly sections: readonly { readonly statements: readonly (string | { readonly text: string })[] }[];
    }[];
    const names = documents.flatMap(({ seed, sections }) =>
      sections.flatMap(({ statements }) =>
        statements.map((entry) => `${seed} ${typeof entry === "string" ? entry : entry.text}`),
      ),
    );
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });
});
