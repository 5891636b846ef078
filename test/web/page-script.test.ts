// The script of pages as it is shipped: how large it is, and that it can stand in a file.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readPageScript } from "../../src/app/conversation/runtime.ts";

describe("the script of pages", () => {
  it("is at most 100 kB gzipped", async () => {
    expect(gzipSync(await readPageScript()).length).toBeLessThanOrEqual(100_000);
  });

  it("holds nothing that would end it in HTML, and does not evaluate texts or write markup", async () => {
    const script = await readPageScript();
    expect(script).not.toMatch(/<(?:!--|\/?script)/i);
    expect(script).not.toMatch(/\beval\(|\bnew Function\b|document\.write|insertAdjacentHTML/);
  });

  it("says the licences of the libraries that are in it", async () => {
    const script = await readPageScript();
    for (const name of ["uplot", "highlight.js"]) {
      const licence = readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim();
      expect(script).toContain(licence);
    }
  });
});
