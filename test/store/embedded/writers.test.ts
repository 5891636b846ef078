// @module-tag slow
// Both engines write one store at once, each in processes of its own: nothing is lost, and git finds nothing wrong.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openNativeStore } from "../../../src/store/git/store.ts";
import { type BundledProgram, bundleProgram } from "../../helpers/bundle-program.ts";
import { append, commit, file } from "../../helpers/store-writes.ts";
import { createTempStore, git, type TempStore } from "../../helpers/temp-repository.ts";

const WRITER = fileURLToPath(new URL("../../helpers/append-writer.ts", import.meta.url));
const WRITERS = 4;
const APPENDS = 50;
/** On a machine that does other things as well; milliseconds. */
const LONGEST_MS = 300_000;

let writer: BundledProgram;
beforeAll(async () => {
  writer = await bundleProgram(WRITER);
});
afterAll(() => writer.remove());

let temp: TempStore;
beforeEach(async () => {
  temp = await createTempStore();
});
afterEach(() => temp.remove());

async function startWriters(branches: readonly string[], writers = WRITERS, appends = APPENDS): Promise<void> {
  const engines = ["native", "embedded"].flatMap((engine) => Array.from({ length: writers }, (_, n) => [engine, n]));
  await Promise.all(
    engines.map(([engine, n]) => {
      const args = [writer.path, temp.root, String(engine), `${engine}-${n}`, String(appends), ...branches];
      return promisify(execFile)(process.execPath, args, { env: { ...temp.env } });
    }),
  );
}

describe("4 native and 4 embedded writers", () => {
  it(
    "land all of 400 appends to one branch",
    async () => {
      const store = await openNativeStore({ root: temp.root, env: temp.env });
      await append(store, "talk/main", [commit("root", [file("conversation.json", "{}")])]);
      await startWriters(["talk/main"]);
      expect(await store.listTree("talk/main", { under: ["turns"] })).toHaveLength(2 * WRITERS * APPENDS);
      expect(await store.readLog({ from: "talk/main" })).toHaveLength(2 * WRITERS * APPENDS + 1);
      expect(git(temp.root, temp.env, ["fsck", "--full", "--strict", "--no-dangling"])).toBe("");
      const reflog = readFileSync(join(temp.root, ".git/logs/refs/heads/talk/main"), "utf8").trimEnd().split("\n");
      expect(reflog).toHaveLength(2 * WRITERS * APPENDS + 1);
      // Each line begins where the one before it ended.
      expect(reflog.slice(1).map((line) => line.slice(0, 40))).toEqual(
        reflog.slice(0, -1).map((line) => line.slice(41, 81)),
      );
      await store.close();
    },
    LONGEST_MS,
  );

  it(
    "land all on several branches, while git packs refs",
    async () => {
      const branches = ["a/main", "b/main", "c/main"];
      const store = await openNativeStore({ root: temp.root, env: temp.env });
      for (const branch of branches) await append(store, branch, [commit("root", [file("conversation.json", "{}")])]);
      let isDone = false;
      const writing = startWriters(branches, 2, 15).finally(() => {
        isDone = true;
      });
      while (!isDone) {
        await promisify(execFile)("git", ["pack-refs", "--all"], { cwd: temp.root, env: { ...temp.env } }).catch(
          () => null,
        );
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      await writing;
      const found = await Promise.all(branches.map((branch) => store.listTree(branch, { under: ["turns"] })));
      expect(found.flat()).toHaveLength(2 * 2 * 15);
      expect(git(temp.root, temp.env, ["fsck", "--full", "--strict", "--no-dangling"])).toBe("");
      await store.close();
    },
    LONGEST_MS,
  );
});
