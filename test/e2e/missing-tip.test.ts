// A packed ref whose commit is not in the store, after a copy that was cut short: that branch is named, all others are read.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { smallSession } from "../helpers/run-jpg.ts";

const MISSING = "1234567890123456789012345678901234567890";
const OTHER = "0f0f0f0f-0000-4000-8000-000000000001";

let box: ImportedSandbox;
let bad: string;
beforeEach(async () => {
  box = await copyImportedSandbox();
  bad = box.git(["symbolic-ref", "--short", "HEAD"]);
  expect(await box.jpg(["import", box.session("other.jsonl", smallSession({ id: OTHER }))])).toMatchObject({ code: 0 });
  const good = box
    .git(["for-each-ref", "--format=%(refname:short)"])
    .split("\n")
    .find((name) => name !== bad);
  await box.jpg(["use", String(good)]);
  box.git(["pack-refs", "--all"]);
  const packed = join(box.store, ".git", "packed-refs");
  const lines = readFileSync(packed, "utf8").split("\n");
  const broken = lines.map((line) => (line.endsWith(` refs/heads/${bad}`) ? `${MISSING} refs/heads/${bad}` : line));
  writeFileSync(packed, broken.join("\n"));
});
afterEach(() => box.remove());

it.each([["ls"], ["search", "tide"]])("jpg %s shows the others and names the one", async (...args) => {
  const { code, stdout, stderr } = await box.jpg(args);
  expect(code).toBe(3);
  expect(stdout).toMatch(/measure.the.tide/i);
  expect(stderr).toContain(`warning: ${bad} cannot be read: Object ${MISSING} is not in the store`);
});

it("import of a folder goes on behind the session whose branch it is", async () => {
  const folder = join(box.root, "both");
  mkdirSync(folder);
  writeFileSync(join(folder, "a.jsonl"), smallSession({ turns: 8 }));
  writeFileSync(join(folder, "b.jsonl"), smallSession({ turns: 8, id: OTHER }));
  const { code, stdout, stderr } = await box.jpg(["import", folder]);
  expect([code, stdout]).toEqual([1, expect.stringMatching(/updated.* 8 /)]);
  expect(stderr).toContain(`a.jsonl: Object ${MISSING} is not in the store`);
});

it("what is active is read and written as ever", async () => {
  for (const args of [["status"], ["log"], ["print"], ["compact", "--keep", "0"], ["fork", "@", "try"], ["undo"]])
    expect([args, (await box.jpg(args)).code]).toEqual([args, 0]);
});

it("a fetch, which git refuses in such a store, names the store and not the remote", async () => {
  const remote = join(box.root, "remote.git");
  box.git(["init", "--quiet", "--bare", remote], box.root);
  expect(await box.jpg(["remote", "add", "origin", remote])).toMatchObject({ code: 0 });
  expect(await box.jpg(["push"])).toMatchObject({ code: 0 });
  const { code, stderr } = await box.jpg(["fetch"]);
  expect(code).toBe(3);
  expect(stderr).toContain(`failed in ${box.store}: fatal: bad object refs/heads/${bad}`);
  expect(stderr).toContain(`hint: To see what is damaged: git -C ${box.store} fsck --full`);
});

it("fsck names it, and what brings it back", async () => {
  const { code, stdout } = await box.jpg(["fsck"]);
  expect(code).toBe(1);
  expect(stdout).toContain(`E object_damaged ${bad}: Object ${MISSING} is not in the store`);
});
