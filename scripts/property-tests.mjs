// Which tests assert a property: those that call fast-check, or import a file of the tests that does (a contract, a helper).
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

/** Gives the paths of these tests from the project's folder on, in path order. */
export function findPropertyTests(root) {
  const asserting = new Map();
  const folder = join(root, "test");
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join(folder, name))
    .filter((path) => asserts(path, { folder, asserting }))
    .map((path) => relative(root, path))
    .sort();
}

function asserts(path, { folder, asserting }) {
  const known = asserting.get(path);
  if (known !== undefined) return known;
  asserting.set(path, false); // a ring of imports ends here
  const text = readFileSync(path, "utf8");
  const imported = [...text.matchAll(/from "(\.[^"]*\.ts)"/g)].map(([, name]) => resolve(dirname(path), name));
  const own = imported.filter((file) => file.startsWith(folder) && existsSync(file));
  const found = text.includes("fc.assert(") || own.some((file) => asserts(file, { folder, asserting }));
  asserting.set(path, found);
  return found;
}
