// Turns beyond the end: every command that takes turns refuses them in the same words; a range that only ends there is cut.
// @module-tag slow
import { afterEach, beforeEach, expect, it } from "vitest";
import { createSandbox, type Sandbox, smallSession } from "../helpers/run-jpg.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = createSandbox();
  await sandbox.jpg(["import", sandbox.session("small.jsonl", smallSession({ turns: 6 }))]);
});
afterEach(() => sandbox.remove());

it.each(["6", "6..9", "9.."])(
  "refuses the turns %s of a conversation of six, and says how many there are",
  async (turns) => {
    // A single number of `diff` is no range, and refused as such.
    for (const command of turns === "6" ? ["compact", "print"] : ["compact", "print", "diff"]) {
      expect(await sandbox.json([command, turns])).toMatchObject({
        error: { code: "bad_turns", message: `${turns} names no turns here: the conversation has 6 turns: 0..5.` },
      });
      expect((await sandbox.jpg([command, turns])).code).toBe(2);
    }
  },
);

it("compacts what there is of a range that begins before the end, and says so", async () => {
  expect(await sandbox.json(["compact", "4..9", "--dry-run", "--force"])).toMatchObject({ from_turn: 4, to_turn: 5 });
});
