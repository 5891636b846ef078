// docs/formats.md and the table in README are what the formats say of themselves.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
// @ts-expect-error: a script without types
import { renderFormats, withTable } from "../../scripts/generate-format-docs.mjs";
import { AGENTS } from "../../src/formats/agents.ts";

const read = (file: string): string => readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), "utf8");

describe("docs/formats.md and README's table", () => {
  it("are what the formats say (when they are not: npm run docs)", () => {
    expect(read("docs/formats.md")).toBe(renderFormats(AGENTS));
    expect(read("README.md")).toBe(withTable(read("README.md"), AGENTS));
  });

  it("say of every format where its sessions are, what comes in, and what can be done with it", () => {
    const [table = "", ...pages] = read("docs/formats.md").split("\n## ");
    for (const [at, { name, agent, help, resume, write }] of AGENTS.entries()) {
      expect(pages[at]).toContain(`(\`${name}\`)`);
      for (const sentence of [help.place, help.reads, ...help.lost]) expect(pages[at]).toContain(sentence);
      const row = table.split("\n").find((line) => line.startsWith(`| ${agent.name} |`));
      expect(row?.split(" | ").slice(4, 5)).toEqual([resume === undefined ? "–" : "yes"]);
      if (write === undefined && name !== "anthropic") expect(pages[at]).not.toContain("--with");
    }
  });
});
