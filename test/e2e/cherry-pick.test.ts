// Stock `git cherry-pick` of a compaction of one fork onto another: `jpg git cherry-pick`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";

let sandbox: ImportedSandbox;
let main: string;
beforeEach(async () => {
  sandbox = await copyImportedSandbox();
  main = `${sandbox.conversation}/main`;
  await sandbox.jpg(["fork", "@", "other"]);
});
afterEach(() => sandbox.remove());

const tree = (branch: string): string => sandbox.git(["rev-parse", `${branch}^{tree}`]);

describe("jpg git cherry-pick", () => {
  it("applies a compaction of one fork to another, view and all", async () => {
    const made = await sandbox.json<{ compaction: string; commit: string }>(["compact"]);
    await sandbox.jpg(["use", main]);
    const before = readFileSync(join(sandbox.store, "view.jsonl"), "utf8");
    expect(await sandbox.jpg(["git", "cherry-pick", made.commit])).toMatchObject({ code: 0 });
    expect(tree(main)).toBe(tree(`${sandbox.conversation}/other`));
    const after = readFileSync(join(sandbox.store, "view.jsonl"), "utf8");
    expect(after).not.toBe(before);
    expect((await sandbox.jpg(["print", main, "--compacted", "--format", "jsonl"])).stdout).toBe(
      (await sandbox.jpg(["print", "other", "--compacted", "--format", "jsonl"])).stdout,
    );
    const [logged] = await sandbox.json<[{ compaction: string; live: boolean }]>(["log", main]);
    expect(logged).toMatchObject({ compaction: made.compaction, live: true });
    expect(await sandbox.json(["fsck"])).toMatchObject({ ok: true });
    expect(await sandbox.json(["undo"])).toMatchObject({ reverted: [made.compaction] });
    expect(readFileSync(join(sandbox.store, "view.jsonl"), "utf8")).toBe(before);
  });

  it("takes the place of jpg cherry-pick, which says so", async () => {
    const refused = await sandbox.jpg(["cherry-pick", "abcdef", "--onto", main]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("jpg git cherry-pick COMMIT") });
    expect(await sandbox.jpg(["trace", "words"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("jpg search TEXT"),
    });
  });

  it.each(["drop-failed", "strip-arguments"])("and --strategy %s and --heads say what to use", async (name) => {
    expect(await sandbox.jpg(["compact", "-s", name])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("fade-tools"),
    });
    expect(await sandbox.jpg(["compact", "--heads"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--pointers"),
    });
  });
});

describe("the commit of a fork of the newest turns", () => {
  it("quotes what the model sees no more, as that of any compaction", async () => {
    await sandbox.jpg(["fork", main, "tail", "--last", "2"]);
    const body = sandbox.git(["show", "--no-patch", "--format=%B", `${sandbox.conversation}/tail`]);
    expect(body).toMatch(/^compact 0\.\.3: turns omitted/);
    expect(body).toMatch(/largest of \d+ changes|all \d+ changes/);
    expect(body).toContain("Measure the tide at the pier");
  });
});
