// `jpg comment`: said, listed, taken back; where a comment goes when a branch is forked, merged, masked, handed over.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MADE_SECRETS } from "../helpers/made-secrets.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { expectRefusal } from "../helpers/refusal.ts";
import { createTerminalSession } from "../helpers/terminal-session.ts";

interface Listed {
  readonly id: string;
  readonly turn: number;
  readonly event?: string;
  readonly text: string;
  readonly author?: string;
}

let sandbox: ImportedSandbox;
beforeEach(async () => {
  sandbox = await copyImportedSandbox();
});
afterEach(() => sandbox.remove());

const listed = (id = "@"): Promise<readonly Listed[]> => sandbox.json<readonly Listed[]>(["comment", id]);
const said = async (id = "@"): Promise<readonly string[]> => (await listed(id)).map(({ text }) => text);

describe("jpg comment", () => {
  it("says something about a turn or an event, lists it with who said it, and takes it back", async () => {
    const { run } = createTerminalSession(sandbox);
    expect(await run("jpg comment")).toContain("Nobody has commented.");
    const [event] = await sandbox.json<readonly { event: string }[]>(["search", "stood at 1 metres"]);
    await sandbox.jpg(["comment", "-1", "-"], { input: "Over two\nlines, \u001b[31mred.\n" });
    expect((await run(`jpg comment 1:${event?.event} How was that measured?`)).split("\n")[1]).toMatch(
      /^Comment \w{6} on 1:\S+\.$/,
    );
    const [first, second] = await listed();
    expect(first).toMatchObject({ turn: 1, event: event?.event, text: "How was that measured?", author: "Ada Test" });
    expect(second).toMatchObject({ turn: 4, text: "Over two\nlines, \u001b[31mred." });
    const shown = await run("jpg comment");
    expect(shown).toMatch(/\n4 {2}Ada Test, \S+ \S+ {2}\w{6}\n {4}Over two\n {4}lines, ␛\[31mred\.\n/);
    expect(await run(`jpg comment --remove ${second?.id.slice(0, 5).replace(/^\d*$/, second.id)}`)).toContain(
      `Removed comment ${second?.id} on 4.`,
    );
    expect(await said()).toEqual(["How was that measured?"]);
    expect((await sandbox.jpg(["fsck"])).code).toBe(0);
  });

  it("changes nothing for the model, and stock git takes it back and brings it back", async () => {
    const view = (await sandbox.jpg(["print", "--compacted"])).stdout;
    await sandbox.jpg(["comment", "0", "Look here."]);
    await sandbox.jpg(["compact", "--to", "3"]);
    await sandbox.jpg(["undo"]);
    expect((await sandbox.jpg(["print", "--compacted"])).stdout).toBe(view);
    expect(await said()).toEqual(["Look here."]);
    const commit = sandbox.git(["log", "--format=%H", "-1", "--grep=^comment: 0$"]).trim();
    sandbox.git(["revert", "--no-edit", commit]);
    expect(await said()).toEqual([]);
    sandbox.git(["revert", "--no-edit", "HEAD"]);
    expect(await said()).toEqual(["Look here."]);
  });

  it("goes along with the turns of a fork, and what was taken back stays so", async () => {
    await sandbox.jpg(["comment", "1", "Stays."]);
    await sandbox.jpg(["comment", "1", "Goes."]);
    await sandbox.jpg(["comment", "5", "Of a later turn."]);
    const goes = (await listed()).find(({ text }) => text === "Goes.");
    await sandbox.jpg(["comment", "--remove", goes?.id ?? ""]);
    await sandbox.jpg(["fork", "@", "early", "--first", "3", "--no-activate"]);
    expect(await said(`${sandbox.conversation}/early`)).toEqual(["Stays."]);
    await sandbox.jpg(["fork", "@", "whole", "--no-activate"]);
    expect(await said(`${sandbox.conversation}/whole`)).toEqual(["Stays.", "Of a later turn."]);
    expect((await sandbox.jpg(["fsck"])).code).toBe(0);
  });

  it("comes together with those of others: neither side's is lost", async () => {
    await sandbox.jpg(["fork", "@", "theirs", "--no-activate"]);
    await sandbox.jpg(["comment", "2", "Mine."]);
    await sandbox.jpg(["comment", `${sandbox.conversation}/theirs`, "2", "Theirs."]);
    sandbox.git(["merge", "--no-edit", "--quiet", `${sandbox.conversation}/theirs`]);
    expect((await said()).toSorted()).toEqual(["Mine.", "Theirs."]);
  });

  it("is masked in a masked copy, and left out of what is handed over", async () => {
    const secret = MADE_SECRETS.find(([rule]) => rule === "github")?.[1] ?? "";
    await sandbox.jpg(["comment", "0", `It used ${secret} here.`]);
    const { redacted } = await sandbox.json<{ redacted: string }>(["redact"]);
    const [copy] = await said(redacted);
    expect(copy).toMatch(/^It used \S*redacted-\S+ here\.$/);
    const { left_out } = await sandbox.json<{ left_out: object }>(["share", redacted, "-o", "talk.bundle"]);
    expect(left_out).toMatchObject({ comments: 1 });
  });

  it("says what is wrong, and writes nothing then", async () => {
    const before = sandbox.git(["rev-parse", "HEAD"]);
    await expectRefusal(sandbox, ["comment", "99", "Nowhere."], { code: "unknown_turn", exit: 2, says: /no turn 99/ });
    await expectRefusal(sandbox, ["comment", "0", " "], { code: "bad_comment", exit: 2, says: /needs a text/ });
    await expectRefusal(sandbox, ["comment", "--remove", "zzzz"], {
      code: "unknown_comment",
      exit: 2,
      says: /no comment zzzz/,
      hint: /jpg comment/,
    });
    expect(sandbox.git(["rev-parse", "HEAD"])).toBe(before);
  });
});
