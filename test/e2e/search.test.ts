// `jpg search` as a user types it: text, JSON, exit codes.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Json } from "../helpers/claude-session.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { expectRefusal } from "../helpers/refusal.ts";

describe("jpg search", () => {
  let sandbox: ImportedSandbox;
  beforeAll(async () => {
    sandbox = await copyImportedSandbox();
  });
  afterAll(() => sandbox.remove());

  it("prints events with the line that holds the text; `show` takes what it names", async () => {
    const { stdout, code } = await sandbox.jpg(["search", "stood at 4"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      new RegExp(`^${sandbox.conversation}/main\n  4:\\S+  assistant  Answer 4: the water stood at 4 metres\\.\n$`),
    );
    const [hit] = await sandbox.json<Json[]>(["search", "stood at 4"]);
    const event = String(hit?.["event"]);
    expect((await sandbox.jpg(["show", event])).stdout).toContain("the water stood at 4 metres");
  });

  it("prints an array as JSON, and says what compactions hide", async () => {
    await sandbox.jpg(["compact", "--to", "2"]);
    const hits = await sandbox.json<Json[]>(["search", "-i", "THOUGHT", "@"]);
    expect(hits.map(({ turn, state }) => `${String(turn)} ${String(state)}`)).toEqual([
      "0 hidden",
      "1 hidden",
      "2 hidden",
      "3 shown",
      "4 shown",
      "5 shown",
    ]);
    expect(hits[0]).toMatchObject({ conversation: sandbox.conversation, compaction: expect.any(String) as string });
    expect(await sandbox.json(["search", "--regex", "th[aou]+ght", "--limit", "2"])).toHaveLength(2);
  });

  it("ranks, and says who may have said it", async () => {
    const hits = await sandbox.json<Json[]>([
      "search",
      "--rank",
      "--in",
      "assistant",
      "--limit",
      "3",
      "metres water stood",
    ]);
    expect(hits.map(({ type }) => type)).toEqual(["chat_response", "chat_response", "chat_response"]);
    for (const [words, says] of [
      [["--rank", "--regex", "x"], /--rank/],
      [["--in", "me", "x"], /user, assistant, tool/],
    ] as const)
      await expectRefusal(sandbox, ["search", ...words], { code: "usage", exit: 2, says });
    await expectRefusal(sandbox, ["search", "--rank", "?"], { code: "bad_pattern", exit: 2, says: /word/ });
  });

  it("exits with 1 when nothing is found", async () => {
    expect(await sandbox.jpg(["search", "no such words"])).toEqual({ stdout: "", stderr: "Nothing found.\n", code: 1 });
    expect(await sandbox.jpg(["search", "no such words", "--json"])).toMatchObject({ stdout: "[]\n", code: 1 });
  });

  it("refuses what cannot be searched for, or in", async () => {
    await expectRefusal(sandbox, ["search", ""], { code: "bad_pattern", exit: 2, says: /empty/ });
    await expectRefusal(sandbox, ["search", "--regex", "("], { code: "bad_pattern", exit: 2, says: /group/ });
    await expectRefusal(sandbox, ["search", "x", "nowhere"], { code: "unknown_id", exit: 2, says: /nowhere/ });
    await expectRefusal(sandbox, ["search", "x", "--limit", "0"], {
      code: "bad_number",
      exit: 2,
      says: /--limit/,
      hint: /./,
    });
    await expectRefusal(sandbox, ["search"], { code: "usage", exit: 2, says: /needs PATTERN/ });
  });
});
