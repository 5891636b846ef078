// How the command starts.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import nodeModule from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { jpgEnvironment } from "../helpers/run-jpg.ts";
import { createTempFolder } from "../helpers/temp-repository.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));
/** Node 20 keeps none. */
const KEEPS = "enableCompileCache" in nodeModule;

describe("starting jpg", () => {
  let folder: ReturnType<typeof createTempFolder>;
  beforeEach(() => {
    folder = createTempFolder();
  });
  afterEach(() => folder.remove());

  function ask(words: readonly string[], env: Record<string, string> = {}): ReturnType<typeof spawnSync> {
    const options = { cwd: folder.path, env: { ...jpgEnvironment(folder.path), ...env }, encoding: "utf8" } as const;
    return spawnSync(process.execPath, [BIN, ...words], options);
  }

  /** Starts jpg; gives the folder that compiled code was kept in, relative to that of the test; null = none was kept. */
  function start(env: Record<string, string> = {}): string | null {
    expect(ask(["completion", "bash"], env)).toMatchObject({ status: 0, stderr: "" });
    const files = readdirSync(folder.path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const [kept, ...others] = new Set(files.map(({ parentPath }) => relative(folder.path, join(parentPath, ".."))));
    expect(others).toEqual([]);
    return kept ?? null;
  }

  it("has node keep compiled code below the user's cache folder", () => {
    expect(start()).toBe(KEEPS ? join(".cache", "jpg", "code") : null);
  });

  it("follows XDG_CACHE_HOME where it is absolute", () => {
    expect(start({ XDG_CACHE_HOME: join(folder.path, "named") })).toBe(KEEPS ? join("named", "jpg", "code") : null);
  });

  it("keeps nothing in the folder it runs in", () => {
    for (const home of ["", "relative"]) expect(start({ HOME: home, XDG_CACHE_HOME: "relative" })).toBeNull();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it.each([".cache", ".cache/jpg", ".cache/jpg/code"])("trusts no %s that others can write in", (name) => {
    mkdirSync(join(folder.path, ".cache/jpg/code"), { recursive: true, mode: 0o700 });
    chmodSync(join(folder.path, name), 0o777);
    expect(start()).toBeNull();
  });

  it("works where nothing can be kept", () => {
    const file = join(folder.path, "file");
    writeFileSync(file, "");
    for (const place of [file, "/proc"]) expect(ask(["--version"], { XDG_CACHE_HOME: place }).status).toBe(0);
  });

  it("lists the commands however it is asked", { tags: ["slow"] }, () => {
    const asked = ask(["--help"]);
    expect(asked).toMatchObject({
      status: 0,
      stderr: "",
      stdout: expect.stringContaining("Options of every command:") as string,
    });
    for (const words of [["-h"], ["help"], ["--quiet", "--help"], ["c", "--help"]])
      expect(ask(words)).toMatchObject({ status: 0, stderr: "", stdout: asked.stdout });
  });
});
