// @module-tag slow
// The programs of docs/library.md: compiled against the types that are built, then run one after the other with what is built, as a
// project does that has jpg-cli installed.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTempFolder, initRepository, type TempFolder, testEnvironment } from "../helpers/temp-repository.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const page = readFileSync(join(root, "docs/library.md"), "utf8");
const programs = [...page.matchAll(/```ts\n([\s\S]*?)```\n/g)].map(([, text = ""]) => text);

/** What each prints. Ids and estimates differ from run to run. */
const PRINTS: readonly RegExp[] = [
  /^created \S+, 26 turns\nMake tidepool's CSV import safe, streaming and fast: \d+ → \d+ tokens\n$/,
  /^summary 0\.\.15\n(.*\n)+kept 25\n/,
  /^(\d+) → (?!\1 )\d+ tokens\n\w+: .*reasoning/,
  /^[1-9]\d* places, [1-9]\d* events removed, \d+ changed\n$/,
  /^\w+ .*reasoning.* \{.*\}\n\w+ .*summar.* \{.*\}\n$/,
  /^undone: \w+\nuser unknown_id .*nothing-of-that-name.*\n?/,
  /^turns 0 and 1 of which-tide-is-it-\w{4}\n$/,
  /^\S+\/other-way has the first 3 turns\n(turn \d+, (?:shown|hidden|changed): .*\n){1,3}$/,
  /^[1-9]\d* messages, the last by (?:user|assistant)\n$/,
  /^\S+ (?:unchanged|updated)\n/,
];

/** Whether the built types are younger than every source. */
function areTypesCurrent(): boolean {
  const built = statSync(join(root, "dist/index.d.ts"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  return sources.every((name) => statSync(join(root, "src", name)).mtimeMs <= built);
}

describe("docs/library.md", () => {
  let folder: TempFolder;
  const run = (...words: string[]): string =>
    execFileSync(process.execPath, words, {
      cwd: folder.path,
      env: testEnvironment(join(folder.path, "home")),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });

  beforeAll(() => {
    folder = createTempFolder();
    initRepository(folder.path);
    cpSync(join(root, "examples/sample-session.jsonl"), join(folder.path, "sample-session.jsonl"));
    const installed = join(folder.path, "node_modules", "jpg-cli");
    mkdirSync(join(installed, "bin"), { recursive: true });
    for (const name of ["package.json", "bin/jpg.js"]) cpSync(join(root, name), join(installed, name));
    symlinkSync(join(root, "templates"), join(installed, "templates"));
    symlinkSync(join(root, "node_modules/@types"), join(folder.path, "node_modules/@types"));
    // Made before the tests (build-once.ts), except for the types, which take a minute; other tests use dist/ at this time.
    const own = ["scripts/build.mjs", "--out", join(installed, "dist")];
    if (areTypesCurrent()) symlinkSync(join(root, "dist"), join(installed, "dist"));
    else execFileSync(process.execPath, own, { cwd: root });
    writeFileSync(join(folder.path, "package.json"), '{ "type": "module" }');
    for (const [at, text] of programs.entries()) writeFileSync(join(folder.path, `example-${at + 1}.ts`), text);
  });

  afterAll(() => folder.remove());

  it("has ten programs of 5 to 20 lines", () => {
    expect(programs.map((text) => /^\/\/ (\d+)\. .*\.\n/.exec(text)?.[1])).toEqual(
      PRINTS.map((_, at) => String(at + 1)),
    );
    for (const text of programs) {
      const lines = text.trim().split("\n").length;
      expect([lines, lines >= 5 && lines <= 20]).toEqual([lines, true]);
    }
  });

  it("compiles them with the strictest settings, and runs them in their order", () => {
    const settings = [
      "--strict",
      "--noUncheckedIndexedAccess",
      "--exactOptionalPropertyTypes",
      "--skipLibCheck",
      "false",
    ];
    const target = ["--module", "nodenext", "--target", "es2022", "--types", "node"];
    const files = programs.map((_, at) => `example-${at + 1}.ts`);
    run(join(root, "node_modules/typescript/bin/tsc"), ...settings, ...target, ...files);
    for (const [at, prints] of PRINTS.entries()) expect(run(`example-${at + 1}.js`)).toMatch(prints);
  });
});
