// bench/: what measures loads, a part that fails stops no other and is named, what was measured is printed when its part ends, and
// a signal ends all of it. The figures themselves are no test.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
// @ts-expect-error: a script without types
import { PARTS } from "../../bench/part.mjs";
import { createTempFolder, type TempFolder } from "../helpers/temp-repository.ts";

const RUN = fileURLToPath(new URL("../../bench/run.mjs", import.meta.url));
let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
  mkdirSync(join(folder.path, "tmp"));
});
afterEach(() => folder.remove());

/** Starts the benchmarks of some parts on what is built, with a corpus below the folder. */
function startBench(...words: readonly string[]) {
  const args = [RUN, "--no-build", "--repetitions", "1", ...words];
  const env = { ...process.env, JPG_CORPUS: join(folder.path, "shared"), TMPDIR: join(folder.path, "tmp") };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      said[name] += text;
    });
  return { child, said, ended: once(child, "close") };
}

/** A corpus whose only session is none. */
function writeBrokenCorpus(): void {
  mkdirSync(join(folder.path, "shared/corpus/claude-code"), { recursive: true });
  writeFileSync(join(folder.path, "shared/corpus/claude-code/session.jsonl"), "no session\n");
}

describe("the benchmarks", () => {
  it.each(Object.keys(PARTS))("have a part %s that loads", async (name) => {
    expect(await PARTS[name]()).toBeTypeOf("function");
  });

  it("go on after a part that fails, name it at the end, and exit with 1", { tags: ["slow"] }, async () => {
    writeBrokenCorpus();
    const { said, ended } = startBench("--only", "view,start");
    expect(await ended).toEqual([1, null]);
    expect(said.stdout).toMatch(/\| version +\| jpg --version ÷ an empty node/);
    expect(said.stderr).toMatch(/^bench: failed view: .* ended with [1-9]/m);
    expect(readdirSync(join(folder.path, "tmp"))).toEqual([]);
  });

  it("say in --json, too, which part failed and why", { tags: ["slow"] }, async () => {
    writeBrokenCorpus();
    const { said, ended } = startBench("--only", "view,hindsight", "--json");
    expect(await ended).toEqual([1, null]);
    const failed = [{ part: "view", error: expect.stringContaining("ended with") }];
    expect(JSON.parse(said.stdout)).toMatchObject({
      machine: { repetitions: 1 },
      failed: expect.arrayContaining(failed),
    });
  });

  it.each(["SIGINT", "SIGTERM"] as const)(
    "end by %s with what was measured, and leave nothing",
    { tags: ["slow"] },
    async (signal) => {
      const { child, said, ended } = startBench("--only", "start,list");
      await expect.poll(() => said.stderr).toContain("bench: list …");
      child.kill(signal);
      expect(await ended).toEqual([null, signal]);
      expect(said.stdout).toMatch(/\| version +\| jpg --version/);
      expect(said.stderr).toContain(`bench: failed list: it was ended by ${signal}`);
      expect(readdirSync(join(folder.path, "tmp"))).toEqual([]);
    },
  );
});
