// scripts/ascii-only.mjs: code in ASCII says what it said; what could not be said so ends the build.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
// @ts-expect-error: a script without types
import { asciiOnly } from "../../scripts/ascii-only.mjs";
import { createTempFolder, type TempFolder, writeText } from "../helpers/temp-repository.ts";

let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
});
afterEach(() => folder.remove());

async function build(source: string): Promise<string> {
  const path = join(folder.path, "main.js");
  writeText(path, source);
  const bundle = await rolldown({ cwd: folder.path, input: path, platform: "node", plugins: [asciiOnly()] });
  try {
    await bundle.write({ dir: join(folder.path, "dist"), format: "cjs", entryFileNames: "[name].cjs" });
  } finally {
    await bundle.close();
  }
  return join(folder.path, "dist/main.cjs");
}

describe("a bundle in ASCII", () => {
  it("gives the same strings, templates and patterns", async () => {
    const path = await build(
      'const tag = ([text]) => text;\nconsole.log(JSON.stringify(["…", `é😀`, tag`→`, "a😀".replace(/[😀]/u, "·"), "×x".replace(/[×…]/, "")]));\n',
    );
    expect(readFileSync(path, "utf8")).toMatch(/^[\0-\x7f]*$/);
    const said = execFileSync(process.execPath, [path], { encoding: "utf8" });
    expect(JSON.parse(said)).toEqual(["…", "é😀", "→", "a·", "x"]);
  });

  it.each([
    ["a template that is read raw", "console.log(String.raw`\\d…`);\n"],
    ["a backslash before such a character", "console.log(/\\…/.test('…'));\n"],
  ])("is not made of %s", async (_, source) => {
    await expect(build(source)).rejects.toThrow(/cannot be said in ASCII/);
  });
});
