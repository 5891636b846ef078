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

const compaction = async (...words: string[]): Promise<string> =>
  (await sandbox.json<{ compaction: string }>(["compact", ...words])).compaction;
const tree = (branch: string): string => sandbox.git(["rev-parse", `${branch}^{tree}`]);

describe("jpg cherry-pick", () => {
  it("makes the same tree as stock git, once", { tags: ["slow"] }, async () => {
    const id = await compaction();
    const start = sandbox.git(["rev-parse", main]);
    const picked = await sandbox.jpg(["cherry-pick", id, "--onto", main]);
    expect(picked).toMatchObject({ code: 0, stdout: expect.stringContaining(`Applied ${id} to ${main}`) });
    expect(tree(main)).toBe(tree(`${sandbox.conversation}/other`));
    const [logged] = await sandbox.json<[{ compaction: string; live: boolean }]>(["log", main]);
    expect(logged).toMatchObject({ compaction: id, live: true });
    // A fork goes by its own name here as in merge and review.
    const again = await sandbox.jpg(["cherry-pick", id, "--onto", "main"]);
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("has") });
    // It says of this fork what it says of the other.
    const body = (branch: string): string => sandbox.git(["show", "--no-patch", "--format=%B", branch]);
    expect(body(main)).toMatch(/largest of \d+ changes|all \d+ changes|the only change/);
    expect(body(main)).toBe(body(`${sandbox.conversation}/other`));
    sandbox.git(["switch", "--quiet", "--create", "stock/main", start]);
    sandbox.git(["cherry-pick", `${sandbox.conversation}/other`]);
    expect(tree("stock/main")).toBe(tree(main));
  });

  it("refuses a fork with fewer or other turns, and changes nothing", async () => {
    const id = await compaction("--to", "4");
    await sandbox.jpg(["fork", main, "short", "--first", "3", "--no-activate"]);
    const short = `${sandbox.conversation}/short`;
    const before = tree(short);
    const refused = await sandbox.jpg(["cherry-pick", id, "--onto", short]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`${short} has 3 turns.`) });
    expect(tree(short)).toBe(before);
    const [, command = ""] = /`jpg (compact [^`]*)`/.exec(refused.stderr) ?? [];
    expect(await sandbox.json(command.split(" "))).toMatchObject({ branch: short, from_turn: 0, to_turn: 2 });
    expect(await sandbox.jpg(["cherry-pick", "nosuch", "--onto", main])).toMatchObject({ code: 2 });
    for (const none of ["", "@"])
      expect(await sandbox.jpg(["cherry-pick", none, "--onto", main])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`${JSON.stringify(none)} is not a compaction.`),
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
