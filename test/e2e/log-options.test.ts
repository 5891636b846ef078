// @module-tag slow
// `jpg log -n`, `-p`, `--oneline` and `--graph`.
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

it("draws the forks of a conversation as git does, and no other conversation", async () => {
  const { jpg, json, remove } = await copyImportedSandbox();
  await jpg(["fork", "try", "--first", "1"]);
  await jpg(["compact", "0"]);
  const drawn = (await jpg(["log", "--graph"])).stdout;
  expect(drawn).toMatch(/^\* [0-9a-f]{7} \(try\) compact 0\.\.0/);
  expect(drawn).toMatch(/^\| \* [0-9a-f]{7} \(main\) turn \d/m);
  expect(drawn).toMatch(/^\|\/\s*\n\* [0-9a-f]{7} turn 0/m);
  expect((await jpg(["log", "--oneline", "--graph", "-n", "1"])).stdout.trim().split("\n")).toHaveLength(1);
  expect(await json(["log", "--graph"])).toHaveLength(1);
  remove();
});
