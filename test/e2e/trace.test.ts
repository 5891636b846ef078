// `jpg trace` as a user types it: text, JSON, exit codes, what it refuses.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { expectRefusal } from "../helpers/refusal.ts";
import { createTerminalSession } from "../helpers/terminal-session.ts";

describe("jpg trace", () => {
  let sandbox: ImportedSandbox;
  beforeAll(async () => {
    sandbox = await copyImportedSandbox();
  });
  afterAll(() => sandbox.remove());

  it("says who was first, then every place", async () => {
    const { run } = createTerminalSession(sandbox);
    const input = "The water stood at 2 metres. The keeper is called Lotte.";
    await run("jpg compact --from 0 --to 2 --accept - --force", { input });
    const session = [
      await run("jpg trace 'THE WATER stood at 2'"),
      await run('jpg trace "called Lotte"'),
      await run("jpg trace 'no such words'"),
    ].join("\n");
    expect(session).toMatchInlineSnapshot(`
      "$ jpg trace 'THE WATER stood at 2'
      Said in turn 2 by the assistant, spelling aside, before any summary.

        2:00000000-0000-4000-8000-000000000030  assistant  2026-03-01 09:00
          Answer 2: the water stood at 2 metres.
          (spelling aside, not in the view)

        summary 6yzrhc of 0..2  authored  2026-05-01 12:00
          The water stood at 2 metres. The keeper is called Lotte.
          (spelling aside)

      $ jpg trace "called Lotte"
      Only summary 6yzrhc says it.

        summary 6yzrhc of 0..2  authored  2026-05-01 12:00
          The water stood at 2 metres. The keeper is called Lotte.

      $ jpg trace 'no such words'
      Nobody said it, and no summary does.
      [exit 1]
      "
    `);
  });

  it("prints a report as JSON", async () => {
    expect(await sandbox.json(["trace", "stood at 4"])).toMatchObject({
      branch: `${sandbox.conversation}/main`,
      verdict: "said",
      places: [{ kind: "event", who: "assistant", turn: 4, match: "exact", times: 1, in_view: true }],
    });
  });

  it("refuses what cannot be traced, and a conversation that is not here", async () => {
    await expectRefusal(sandbox, ["trace", " \n"], { code: "bad_phrase", exit: 2, says: /phrase is empty/ });
    await expectRefusal(sandbox, ["trace"], { code: "usage", exit: 2, says: /phrase/ });
    await expectRefusal(sandbox, ["trace", "x", "nowhere"], { code: "unknown_id", exit: 2, says: /nowhere/ });
    expect(await sandbox.jpg(["trace", "\u001b[2J\u0007"])).toMatchObject({ code: 1 });
  });
});
