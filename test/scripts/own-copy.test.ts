// scripts/own-copy.mjs: a package that is bundled once more works as before, and has no more than its importers use.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
// @ts-expect-error: a script without types
import { ownCopy } from "../../scripts/own-copy.mjs";
import { createTempFolder, type TempFolder, writeText } from "../helpers/temp-repository.ts";

const SOURCES: Readonly<Record<string, string>> = {
  "package.json": '{ "type": "module" }',
  "node_modules/box/package.json": '{ "name": "box", "type": "module", "main": "index.js", "sideEffects": false }',
  "node_modules/box/index.js": "export * from './count.js';\nexport { large } from './large.js';\n",
  "node_modules/box/count.js":
    "import { EOL } from 'node:os';\nlet count = 0;\nexport const step = () => EOL.length + count++;\n",
  "node_modules/box/large.js": "export const large = () => 'much that few need';\n",
  "src/small/settings.js": "import { step } from 'box';\nexport const settings = () => step();\n",
  "src/other.js": "import { large, step } from 'box';\nexport const other = () => [step(), step(), large()];\n",
  "src/main.js":
    "const { settings } = await import('./small/settings.js');\nconst { other } = await import('./other.js');\nconsole.log(JSON.stringify([settings(), other(), settings()]));\n",
};

let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
  for (const [name, text] of Object.entries(SOURCES)) writeText(join(folder.path, name), text);
});
afterEach(() => folder.remove());

describe("a package's own copy for some importers", () => {
  it("has what they use, and a state of its own", async () => {
    const bundle = await rolldown({
      cwd: folder.path,
      input: "src/main.js",
      platform: "node",
      plugins: [ownCopy({ of: /^box$/, for: /\/src\/small\// })],
    });
    await bundle.write({ dir: join(folder.path, "dist"), format: "esm" });
    await bundle.close();
    const output = execFileSync(process.execPath, ["dist/main.js"], { cwd: folder.path, encoding: "utf8" });
    expect(JSON.parse(output)).toEqual([1, [1, 2, "much that few need"], 2]);
    const dist = join(folder.path, "dist");
    const texts = readdirSync(dist).map((name) => readFileSync(join(dist, name), "utf8"));
    expect(texts.filter((text) => text.includes("much that few need"))).toHaveLength(1);
    expect(texts.filter((text) => text.includes("count++"))).toHaveLength(2);
    const settings = texts.find((text) => text.includes("settings = ") || text.includes("function settings")) ?? "";
    expect(settings).not.toContain("much that few need");
  });
});
