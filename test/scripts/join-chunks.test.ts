// scripts/join-chunks.mjs: what is joined does the same as before, from fewer files, and no module is there twice.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type BuildOptions, build } from "esbuild";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
// @ts-expect-error: a script without types
import { joinChunks } from "../../scripts/join-chunks.mjs";
import { createTempFolder, type TempFolder, writeText } from "../helpers/temp-repository.ts";

/** `talk` and `list` share a counter, `talk` and `ask` words; `late` is imported by `talk` while it runs. */
const SOURCES: Readonly<Record<string, string>> = {
  "counter.js": "export let count = 0;\nexport default function step() { count += 1; return count; }\n",
  "words.js": "import step from './counter.js';\nexport const say = (word) => [word, step()].join(' ');\n",
  "late.js": "import { count } from './counter.js';\nexport const late = () => ['late', count].join(' ');\n",
  "talk.js":
    'import { say } from "./words.js";\nexport const run = async () => [say("talk"), (await import("./late.js")).late()];\n',
  "ask.js": 'import { say } from "./words.js";\nexport const run = async () => [say("ask")];\n',
  "list.js":
    "import { count } from './counter.js';\nimport { EOL } from 'node:os';\nexport const run = async () => [['list', count].join(' ') + EOL.trim()];\n",
  "main.js": `const commands = { talk: () => import("./talk.js"), ask: () => import("./ask.js"), list: () => import("./list.js") };
for (const name of process.argv.slice(2)) for (const line of await (await commands[name]()).run()) console.log(line);\n`,
};

const OPTIONS: BuildOptions = { format: "esm", platform: "node", target: "node20" };

let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
});
afterEach(() => folder.remove());

/** Builds the sources and joins the groups; returns what is in the folder of the chunks, with its text. */
async function buildJoined(groups: readonly { readonly name: string; readonly modules: readonly string[] }[]) {
  for (const [name, text] of Object.entries(SOURCES)) writeText(join(folder.path, "src", name), text);
  writeText(join(folder.path, "package.json"), '{ "type": "module" }');
  const { metafile } = await build({
    ...OPTIONS,
    absWorkingDir: folder.path,
    entryPoints: { "cli/main": "src/main.js" },
    outdir: "dist",
    bundle: true,
    splitting: true,
    metafile: true,
    chunkNames: "chunks/[name]-[hash]",
  });
  const outdir = join(folder.path, "dist");
  await joinChunks({ root: folder.path, outdir, outputs: metafile.outputs, groups, options: OPTIONS });
  const names = readdirSync(join(outdir, "chunks"));
  return new Map(names.map((name) => [name, readFileSync(join(outdir, "chunks", name), "utf8")]));
}

function run(...names: readonly string[]): string[] {
  const { stdout, stderr } = spawnSync(process.execPath, ["dist/cli/main.js", ...names], {
    cwd: folder.path,
    encoding: "utf8",
  });
  return `${stdout}${stderr}`.trim().split("\n");
}

describe("joinChunks", () => {
  it("keeps what the program does, with one instance of each module", async () => {
    await buildJoined([{ name: "talking", modules: ["src/talk.js"] }]);
    expect(run("talk", "ask", "list", "talk")).toEqual(["talk 1", "late 1", "ask 2", "list 2", "talk 3", "late 3"]);
  });

  it("puts all that a module loads into one file, which the others import directly", async () => {
    const files = await buildJoined([{ name: "talking", modules: ["src/talk.js"] }]);
    const text = (start: string) => [...files].find(([name]) => name.startsWith(start))?.[1] ?? "";
    expect(text("talking.js")).toContain("count += 1");
    expect(text("talking.js")).not.toMatch(/from "/);
    for (const other of ["ask-", "list-", "late-"]) {
      const from = [...text(other).matchAll(/from "(.*)"/g)].map(([, path]) => path);
      expect(new Set(from.filter((path) => path !== "node:os"))).toEqual(new Set(["./talking.js"]));
    }
    expect([...files.keys()].filter((name) => name.startsWith("chunk-"))).toEqual([]);
  });

  it("gives a chunk to the first group that needs it", async () => {
    const files = await buildJoined([
      { name: "listing", modules: ["src/list.js"] },
      { name: "talking", modules: ["src/talk.js", "src/ask.js"] },
    ]);
    expect(files.get("listing.js")).toContain("count += 1");
    expect(files.get("talking.js")).not.toContain("count += 1");
    expect(files.get("talking.js")).toContain('from "./listing.js"');
    expect(run("ask", "talk", "list")).toEqual(["ask 1", "talk 2", "late 2", "list 2"]);
  });

  it("refuses a module that is no entry of the build", async () => {
    await expect(buildJoined([{ name: "talking", modules: ["src/words.js"] }])).rejects.toThrow(
      "src/words.js is no entry of the build",
    );
  });
});
