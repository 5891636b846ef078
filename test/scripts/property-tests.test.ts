// @module-tag law
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
// @ts-expect-error: a script without types
import { findPropertyTests } from "../../scripts/property-tests.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const found: readonly string[] = findPropertyTests(root);
const text = (path: string): string => readFileSync(join(root, path), "utf8");
const filesOf = (folder: string, ending: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));

it("explores every test that asserts a property itself", () => {
  const asserting = filesOf("test", ".test.ts").filter((path) => text(path).includes("fc.assert("));
  expect(asserting.length).toBeGreaterThan(20);
  expect(found).toEqual(expect.arrayContaining([...asserting]));
});

it("explores the laws of the contracts, by every test that runs one", () => {
  expect(filesOf("test/contract", ".ts").filter((path) => text(path).includes("fc.assert("))).not.toEqual([]);
  expect(found).toEqual(expect.arrayContaining([...filesOf("test/store", ".contract.test.ts")]));
});

it("has all of them tagged, so that `npm run test:slow` draws all their examples", () => {
  const tagged = filesOf("test", ".test.ts").filter((path) =>
    /^\/\/ @module-tag law$|tags: \[.*"law"\]/m.test(text(path)),
  );
  expect(tagged.sort()).toEqual(found);
});

it("leaves out tests without a property", () => {
  expect(found).not.toContain("test/e2e/tour.test.ts");
  for (const path of found) expect(path).toMatch(/^test\/.*\.test\.ts$/);
});
