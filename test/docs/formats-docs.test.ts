// docs/formats.md, the pages below docs/formats and the table in README are what the formats and the conformance set say.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
// @ts-expect-error: a script without types
import { listCases } from "../../conformance/run.mjs";
// @ts-expect-error: a script without types
import { pageOf, renderFormats, withFacts, withTable } from "../../scripts/generate-format-docs.mjs";
import { AGENTS } from "../../src/formats/agents.ts";

const path = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url));
const read = (file: string): string => readFileSync(path(file), "utf8");
const pages = [...new Set(AGENTS.map((agent) => pageOf(agent) as string))];

/** What ends a claim: where it was seen, with versions, or that documents or source say so. */
const PROVENANCE = /\((?:(?:run|file) [^()]*\d[^()]*|documented(?: [^()]*)?)\)\.?$/;

/** The written part of a page: without what is generated. */
function writtenOf(page: string): string {
  return page.replace(/<!-- (\w+): generated -->[\s\S]*?<!-- \/\1 -->/g, "");
}

describe("docs/formats.md and README's table", () => {
  it("are what the formats say (when they are not: npm run docs)", () => {
    expect(read("docs/formats.md")).toBe(renderFormats(AGENTS));
    expect(read("README.md")).toBe(withTable(read("README.md"), AGENTS));
  });

  it("say of every format what can be done with it", () => {
    const table = read("docs/formats.md");
    for (const { agent, resume } of AGENTS) {
      const row = table.split("\n").find((line) => line.startsWith(`| [${agent.name}](`));
      expect(row?.split(" | ").slice(4, 5)).toEqual([resume === undefined ? "–" : "yes"]);
    }
  });
});

describe("the pages of the formats", () => {
  it("are one for each agent, one for requests to APIs, and one for plug-ins", () => {
    const names = [...pages, "plug-ins"].map((page) => `${page}.md`);
    expect(readdirSync(path("docs/formats")).sort()).toEqual(names.sort());
  });

  it.each(pages)("%s has what its formats and the conformance set say (when not: npm run docs)", (page) => {
    const text = read(`docs/formats/${page}.md`);
    const agents = AGENTS.filter((agent) => pageOf(agent) === page);
    const cases = listCases(page) as readonly { readonly rule: string }[];
    expect(text).toBe(withFacts(text, agents, cases));
    for (const { help } of agents)
      for (const sentence of [help.place, help.reads, ...help.lost]) expect(text).toContain(sentence);
    for (const { rule } of cases) expect(text).toContain(rule);
  });

  it.each(pages)("%s says of each claim where it was seen, in at most 10 kB without the rules of its cases", (page) => {
    const text = read(`docs/formats/${page}.md`);
    const claims = writtenOf(text)
      .split("\n")
      .filter((line) => /^\s*\* /.test(line));
    expect(claims.filter((claim) => !PROVENANCE.test(claim))).toEqual([]);
    const withoutRules = text.replace(/<!-- rules: generated -->[\s\S]*<!-- \/rules -->/, "");
    expect(Buffer.byteLength(withoutRules)).toBeLessThanOrEqual(10_240);
  });
});
