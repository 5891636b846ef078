// `jpg show SUMMARY --sources` as a user types it.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { expectRefusal } from "../helpers/refusal.ts";
import { createTerminalSession } from "../helpers/terminal-session.ts";

describe("jpg show --sources", () => {
  let sandbox: ImportedSandbox;
  beforeAll(async () => {
    sandbox = await copyImportedSandbox();
  });
  afterAll(() => sandbox.remove());

  it("names what nobody said, and who said the rest first", async () => {
    const { run } = createTerminalSession(sandbox);
    const input =
      'Asked to "Measure the tide at the pier"; 2 metres. See docs/tide.md, "the keeper is Lotte", 4711 boats.';
    await run("jpg compact --from 0 --to 2 --accept - --force", { input });
    const [{ compaction }] = await sandbox.json<[{ compaction: string }]>(["log"]);
    expect((await run(`jpg show ${compaction} --sources`)).replaceAll(compaction, "<summary>")).toMatchInlineSnapshot(`
      "$ jpg show <summary> --sources
      summary <summary> of 0..2: 4 facts, 3 that nobody said

      Nobody said:
        quote   the keeper is Lotte
        path    docs/tide.md
        number  4711

      First said:
        quote  Measure the tide at the pier  turn 0  user
      "
    `);
    expect(await sandbox.json(["show", compaction, "--sources"])).toMatchObject({
      branch: `${sandbox.conversation}/main`,
      summaries: [{ compaction, from_turn: 0, to_turn: 2, facts: expect.any(Array) as unknown }],
    });
  });

  it("refuses what is no summary", async () => {
    await expectRefusal(sandbox, ["show", "@", "--sources"], {
      code: "not_a_summary",
      exit: 2,
      says: /is not a summary, so it has no sources/,
      hint: /jpg log/,
    });
  });
});
