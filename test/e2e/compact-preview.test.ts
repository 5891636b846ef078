// What `jpg compact --dry-run` shows of the view as it would be, against what stands there once it is done.
import { describe, expect, it, onTestFinished } from "vitest";
import { copyImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { storeState } from "../helpers/run-jpg.ts";

describe("compact --dry-run", () => {
  it("shows with --diff and --text what diff and print show afterwards, and commits nothing", async () => {
    const sandbox = await copyImportedSandbox(6);
    onTestFinished(() => sandbox.remove());
    const before = storeState(sandbox);
    const diff = await sandbox.jpg(["compact", "--dry-run", "--diff"]);
    const text = await sandbox.jpg(["compact", "--dry-run", "--text"]);
    const json = JSON.parse((await sandbox.jpg(["compact", "--dry-run", "--diff", "--json"])).stdout);
    expect(storeState(sandbox)).toEqual(before);
    const done = JSON.parse((await sandbox.jpg(["compact", "--json"])).stdout);
    const bodyOf = (printed: string): string => printed.split("\n").slice(2).join("\n");
    expect(bodyOf(diff.stdout)).toBe(bodyOf((await sandbox.jpg(["diff"])).stdout));
    expect(bodyOf(diff.stdout)).toContain("[compacted]");
    expect((await sandbox.jpg(["print", "--compacted"])).stdout).toContain(text.stdout.trim());
    expect(json.diff.hunks).toEqual(JSON.parse((await sandbox.jpg(["diff", "--json"])).stdout).hunks);
    expect(json).not.toHaveProperty("views");
    expect(done.event.stats.events_removed).toBe(done.report.events_removed);
  });

  it("says beside the view which summary is still to be written, and names none that has no id", async () => {
    const sandbox = await copyImportedSandbox(6);
    onTestFinished(() => sandbox.remove());
    const args = ["compact", "--dry-run", "--profile", "heavy", "--model", "extractive"];
    for (const option of ["--diff", "--text"]) {
      const { stdout, stderr } = await sandbox.jpg([...args, option]);
      expect(stderr).toMatch(/^note: will generate a summary for turns 0-2 using model extractive/);
      expect(stdout).toMatch(/turns 0\.\.2(: summary| · compaction) planned/);
      expect(stdout).not.toContain("\uffff");
    }
  });

  it.each(["--diff", "--text"])("is what %s asks for", async (option) => {
    const sandbox = await copyImportedSandbox(6);
    onTestFinished(() => sandbox.remove());
    const { code, stderr } = await sandbox.jpg(["compact", option]);
    expect(code).toBe(2);
    expect(stderr).toContain("--dry-run");
  });
});
