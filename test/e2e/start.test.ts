// How the command starts.
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { jpgEnvironment } from "../helpers/run-jpg.ts";
import { createTempFolder } from "../helpers/temp-repository.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));

describe("starting jpg", () => {
  let folder: ReturnType<typeof createTempFolder>;
  beforeEach(() => {
    folder = createTempFolder();
  });
  afterEach(() => folder.remove());

  /** Starts a node that has a compile cache, or none, whatever this one has; gives the folders that it was asked to use. */
  function start(
    args: readonly string[],
    cache: "has a cache" | "has none",
    env: Record<string, string> = {},
  ): unknown {
    const [preload, asked] = [join(folder.path, "preload.cjs"), join(folder.path, "asked.json")];
    writeFileSync(asked, "[]");
    const stub = `(folder) => require("node:fs").writeFileSync(${JSON.stringify(asked)}, JSON.stringify([folder]))`;
    const value = cache === "has none" ? "undefined" : stub;
    writeFileSync(preload, `require("node:module").enableCompileCache = ${value};\n`);
    const output = execFileSync(process.execPath, ["--require", preload, BIN, ...args], {
      cwd: folder.path,
      env: { ...jpgEnvironment(folder.path), ...env },
      encoding: "utf8",
    });
    expect(output).not.toBe("");
    return JSON.parse(readFileSync(asked, "utf8"));
  }

  it("keeps what a newer node compiled in the user's cache folder", () => {
    expect(start(["--help"], "has a cache")).toEqual([join(folder.path, ".cache/jpg/code")]);
    const named = join(folder.path, "named");
    expect(start(["--help"], "has a cache", { XDG_CACHE_HOME: named })).toEqual([join(named, "jpg/code")]);
    expect(start(["--help"], "has a cache", { XDG_CACHE_HOME: "named" })).toEqual([
      join(folder.path, ".cache/jpg/code"),
    ]);
  });

  it("keeps nothing in the folder it runs in", () => {
    for (const home of ["", "relative"]) expect(start(["--help"], "has a cache", { HOME: home })).toEqual([]);
  });

  it("works on a node that cannot, and has nothing to keep of a version", () => {
    expect(start(["--help"], "has none")).toEqual([]);
    expect(start(["--version"], "has a cache")).toEqual([]);
  });

  it("lists the commands however it is asked, loading nothing but the list", () => {
    const coverage = join(folder.path, "coverage");
    const ask = (words: readonly string[]): { readonly status: number | null; readonly stdout: string } =>
      spawnSync(process.execPath, [BIN, ...words], {
        cwd: folder.path,
        env: { ...jpgEnvironment(folder.path), NODE_V8_COVERAGE: coverage },
        encoding: "utf8",
      });
    const asked = ask(["--help"]);
    expect(asked).toMatchObject({ status: 0, stderr: "", stdout: expect.stringContaining("Commands:") as string });
    const [file = ""] = readdirSync(coverage);
    const { result } = JSON.parse(readFileSync(join(coverage, file), "utf8")) as { result: { url: string }[] };
    const loaded = result.filter(({ url }) => url.startsWith("file:")).map(({ url }) => url.replace(/^.*\//, ""));
    expect(loaded.sort()).toEqual([expect.stringMatching(/^command-summaries-/), "jpg.js", "main.js"]);
    for (const words of [["-h"], ["help"], ["--quiet", "--help"], ["c", "--help"]])
      expect(ask(words)).toMatchObject({ status: 0, stderr: "", stdout: asked.stdout });
  });
});
