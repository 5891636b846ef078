// What is printed of a long conversation is short, and turns are named as a range.
// @module-tag slow
import { afterEach, beforeEach, expect, it } from "vitest";
import { createImportedSandbox, type Sandbox } from "../helpers/run-jpg.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await createImportedSandbox(30);
});
afterEach(() => sandbox.remove());

it("shows a compaction of many turns on one screen, and stats --anatomy without rows of nothing", async () => {
  const { id } = await sandbox.json<{ id: string }>(["compact"]);
  const { stdout, code } = await sandbox.jpg(["show", id]);
  expect(code).toBe(0);
  expect(stdout.trimEnd().split("\n").length).toBeLessThanOrEqual(25);
  const anatomy = (await sandbox.jpg(["stats", "--anatomy"])).stdout;
  expect(anatomy).toMatch(/^TURN /m);
  expect(anatomy).not.toMatch(/ 0(?:\.0)?% /);
});

it("takes turns as a range: diff 3..7, pin 3..7", async () => {
  expect(await sandbox.jpg(["compact", "0..9"])).toMatchObject({ code: 0 });
  expect(await sandbox.jpg(["diff", "3..7"])).toMatchObject({ code: 0, stderr: "" });
  expect(await sandbox.jpg(["diff", "3..7"])).not.toEqual(await sandbox.jpg(["diff", "4..5"]));
  const pinned = await sandbox.jpg(["pin", "3..7"]);
  expect(pinned.stdout.match(/(?<=^Pinned )\d+/gm)).toEqual(["3", "4", "5", "6", "7"]);
});
