// @module-tag slow
// `jpg log -n`, `-p` and `--oneline`.
import { expect, it } from "vitest";
import { copyImportedSandbox } from "../helpers/prepared-sandbox.ts";

it("lists the newest only, in one line each, or with what each changed and its date", async () => {
  const { jpg, json, remove } = await copyImportedSandbox();
  await jpg(["compact", "0..1"]);
  await jpg(["undo"]);
  const all = (await jpg(["log", "--oneline"])).stdout;
  expect(all.trim().split("\n")).toHaveLength(2);
  expect((await jpg(["log"])).stdout).toBe(all);
  expect((await jpg(["log", "-n", "1"])).stdout.trim()).toBe(all.split("\n")[0]);
  expect(await json(["log", "--limit", "1"])).toHaveLength(1);
  const patches = (await jpg(["log", "-p"])).stdout;
  expect(patches.match(/^--- /gm)).toHaveLength(2);
  expect(patches).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d [0-9a-f]{7} /m);
  remove();
});
