// How the command starts.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { jpgEnvironment } from "../helpers/run-jpg.ts";
import { createTempFolder } from "../helpers/temp-repository.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));

/** Compiled code may have a thousand zeros in a row, but not of these. */
const DAMAGE = 0x5a;

describe("starting jpg", () => {
  let folder: ReturnType<typeof createTempFolder>;
  beforeEach(() => {
    folder = createTempFolder();
  });
  afterEach(() => folder.remove());

  /** Starts jpg; gives the folders that compiled code was kept in, below the place of the test. */
  function start(args: readonly string[], env: Record<string, string> = {}): string[] {
    const output = execFileSync(process.execPath, [BIN, ...args], {
      cwd: folder.path,
      env: { ...jpgEnvironment(folder.path), ...env },
      encoding: "utf8",
    });
    expect(output).not.toBe("");
    const kept = readdirSync(folder.path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return [...new Set(kept.map(({ parentPath }) => relative(folder.path, parentPath)))];
  }
  const own = `${process.version}-${process.arch}`;
  /** A command whose files are large enough to be kept. */
  const LARGE = ["completion", "bash"];

  it("keeps what node compiled in the user's cache folder", { tags: ["slow"] }, () => {
    expect(start(LARGE)).toEqual([`.cache/jpg/code/${own}`]);
    rmSync(join(folder.path, ".cache"), { recursive: true });
    expect(start(LARGE, { XDG_CACHE_HOME: "named" })).toEqual([`.cache/jpg/code/${own}`]);
    rmSync(join(folder.path, ".cache"), { recursive: true });
    expect(start(LARGE, { XDG_CACHE_HOME: join(folder.path, "named") })).toEqual([`named/jpg/code/${own}`]);
  });

  it("keeps nothing in the folder it runs in", { tags: ["slow"] }, () => {
    for (const home of ["", "relative"]) expect(start(LARGE, { HOME: home })).toEqual([]);
  });

  it("has nothing to keep of what is small, nor of what failed", () => {
    for (const small of ["--version", "--help"]) expect(start([small])).toEqual([]);
    const { status } = spawnSync(process.execPath, [BIN, "lss"], {
      cwd: folder.path,
      env: jpgEnvironment(folder.path),
    });
    expect([status, readdirSync(folder.path)]).toEqual([2, []]);
  });

  it("runs what it kept, compiles anew what was damaged, and works where nothing can be kept", {
    tags: ["slow"],
  }, () => {
    const list = start(LARGE);
    const place = join(folder.path, list[0] ?? "");
    const files = readdirSync(place).map((name) => join(place, name));
    const kept = files.map((file) => readFileSync(file));
    const written = files.map((file) => statSync(file).mtimeMs);
    start(LARGE);
    expect(files.map((file) => statSync(file).mtimeMs)).toEqual(written);
    for (const [index, file] of files.entries()) {
      const damaged = Buffer.from(kept[index] ?? "");
      const middle = damaged.length >> 1;
      damaged.fill(DAMAGE, middle, middle + 1024);
      writeFileSync(file, damaged);
    }
    start(LARGE);
    const left = Buffer.alloc(1024, DAMAGE);
    expect(files.map((file) => readFileSync(file).includes(left))).not.toContain(true);
    for (const file of files) writeFileSync(file, "");
    start(LARGE);
    expect(files.map((file) => statSync(file).size)).not.toContain(0);
    writeFileSync(join(folder.path, "file"), "");
    start(LARGE, { XDG_CACHE_HOME: join(folder.path, "file") });
  });

  it("adds once a day what later calls of the command compiled", { tags: ["slow"] }, () => {
    const place = join(folder.path, start(["completion", "--help"])[0] ?? "");
    const [name = ""] = readdirSync(place);
    const size = (): number => statSync(join(place, name)).size;
    const first = size();
    start(LARGE);
    expect(size()).toBe(first);
    const longAgo = Date.now() / 1000 - 2 * 24 * 60 * 60;
    utimesSync(join(place, name), longAgo, longAgo);
    start(LARGE);
    expect(size()).toBeGreaterThan(first);
  });

  it("clears what was not used for long, and keeps the rest", () => {
    const place = join(folder.path, ".cache/jpg/code", own);
    mkdirSync(place, { recursive: true });
    const [old, fresh] = [join(place, "ls-12345678.cjs.ls"), join(place, "log-12345678.cjs.log")];
    for (const file of [old, fresh]) writeFileSync(file, "");
    utimesSync(old, 0, Date.now() / 1000 - 40 * 24 * 60 * 60);
    start(LARGE);
    expect([old, fresh].map((file) => existsSync(file))).toEqual([false, true]);
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
    expect(loaded.sort()).toEqual([
      expect.stringMatching(/^command-summaries-/),
      "jpg.js",
      "load-command.js",
      "main.cjs",
    ]);
    for (const words of [["-h"], ["help"], ["--quiet", "--help"], ["c", "--help"]])
      expect(ask(words)).toMatchObject({ status: 0, stderr: "", stdout: asked.stdout });
  });
});
