// What a project may have in the place of its settings: whoever clones it did not put it there.
import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox, smallSession } from "../helpers/run-jpg.ts";

const made: Sandbox[] = [];
afterEach(() => {
  for (const sandbox of made.splice(0)) sandbox.remove();
});

describe("a project's .jpg.toml that is no file", () => {
  it.each<[string, (path: string, secret: string) => void]>([
    ["a link to a private file", (path, secret) => symlinkSync(secret, path)],
    ["a pipe", (path) => execFileSync("sh", ["-c", `mkfifo "$0"`, path])],
  ])("is refused, not followed and not waited for: %s", async (_, plant) => {
    const sandbox = createSandbox();
    made.push(sandbox);
    await sandbox.jpg(["import", sandbox.session("small.jsonl", smallSession())]);
    const secret = join(sandbox.root, "secret");
    writeFileSync(secret, "token = hunter2 hunter2\n");
    plant(join(sandbox.project, ".jpg.toml"), secret);
    for (const words of [["compact"], ["trust", "--dry-run"], ["config"]]) {
      const { code, stdout, stderr } = await sandbox.jpg(words);
      expect(code, words.join(" ")).toBe(2);
      expect(stderr).toMatch(/\.jpg\.toml is (a symbolic link|not a file), but .*\nhint: .*rm /);
      expect(stdout + stderr).not.toContain("hunter2");
    }
  });
});
