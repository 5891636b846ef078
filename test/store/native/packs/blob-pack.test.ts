import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runGit } from "../../../../src/store/native/git/git-process.ts";
import { createBlobPacker } from "../../../../src/store/native/packs/blob-pack.ts";

let gitDir: string;
const git = async (...args: readonly string[]): Promise<string> => {
  const { stdout, stderr, code } = await runGit([`--git-dir=${gitDir}`, ...args], { cwd: tmpdir(), env: process.env });
  expect({ code, stderr: args[0] === "fsck" ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.toString();
};

beforeEach(async () => {
  gitDir = await mkdtemp(join(tmpdir(), "jpg-pack-"));
  await git("init", "--quiet", "--bare");
});
afterEach(() => rm(gitDir, { recursive: true, force: true }));

const text = (seed: number, lines: number): string =>
  Array.from({ length: lines }, (_, at) => `${seed}:${at}:${Math.imul(seed + at, 0x9e3779b1).toString(36)}\n`).join("");
const packFiles = async (): Promise<string[]> => (await readdir(join(gitDir, "objects", "pack"))).sort();

describe("createBlobPacker", () => {
  it("writes packs that git reads and verifies: whole blobs, differences, empty and repeated ones", async () => {
    const packer = createBlobPacker(gitDir);
    const events = text(1, 5000);
    const lines = `${text(7, 20)}${events}${text(9, 900)}`;
    const blobs = [events, lines, "", "x", text(3, 300), "x", events];
    const starts = [true, false, false, false, true, false, false];
    blobs.forEach((blob, at) => {
      packer.add(Buffer.from(blob), starts[at] === true);
    });
    const oids = packer.flush();
    expect(oids).toHaveLength(blobs.length);
    expect(oids[5]).toBe(oids[3]);
    for (const [at, blob] of blobs.entries()) expect(await git("cat-file", "blob", oids[at]!)).toBe(blob);
    const [, pack] = await packFiles();
    const listing = await git("verify-pack", "-v", join(gitDir, "objects", "pack", pack!));
    expect(listing).toContain("chain length = 1: 1 object\n");
    expect(listing).toContain("non delta: 4 objects");
    await git("fsck", "--strict", "--full", "--no-dangling");
  });

  it("writes a blob once, into the pack it came to first, and no pack without one", async () => {
    const packer = createBlobPacker(gitDir);
    const bytes = Buffer.from(text(5, 100));
    packer.add(bytes, true);
    const first = packer.flush();
    packer.add(bytes, true);
    expect(packer.flush()).toEqual(first);
    expect(packer.flush()).toEqual([]);
    const files = await packFiles();
    expect(files).toHaveLength(2);
    expect(files.map((name) => name.replace(/^pack-[0-9a-f]{40}/, ""))).toEqual([".idx", ".pack"]);
  });

  it("makes the same packs of the same blobs", async () => {
    const write = (): void => {
      const packer = createBlobPacker(gitDir);
      for (let at = 0; at < 40; at++) packer.add(Buffer.from(text(at >> 1, 200 + at)), at % 2 === 0);
      packer.flush();
    };
    write();
    const before = await packFiles();
    write();
    expect(await packFiles()).toEqual(before);
  });
});
