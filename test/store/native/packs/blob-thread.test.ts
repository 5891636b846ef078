import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createBlobPacker } from "../../../../src/store/native/packs/blob-pack.ts";
import { startBlobThread } from "../../../../src/store/native/packs/blob-thread.ts";
import { packError } from "../../../../src/store/native/packs/pack-error.ts";

let gitDir: string;
beforeEach(async () => {
  gitDir = await mkdtemp(join(tmpdir(), "jpg-thread-"));
});
afterEach(() => rm(gitDir, { recursive: true, force: true }));

describe("startBlobThread", () => {
  it("writes the packs that the packer writes", async () => {
    const blobs = Array.from({ length: 30 }, (_, at) => Buffer.from(`${at >> 1}\n`.repeat(5000 + at)));
    const packer = createBlobPacker(gitDir);
    for (const [at, blob] of blobs.entries()) packer.add(blob, at % 2 === 0);
    const oids = packer.flush();
    const files = await readdir(join(gitDir, "objects", "pack"));
    await rm(join(gitDir, "objects"), { recursive: true });
    const thread = startBlobThread(gitDir);
    for (const [at, blob] of blobs.entries()) {
      thread.add(blob, at % 2 === 0);
      await thread.settled();
    }
    expect(await thread.flush()).toEqual(oids);
    await thread.close();
    expect((await readdir(join(gitDir, "objects", "pack"))).sort()).toEqual(files.sort());
  });

  it("says when a pack could not be written, and can be closed then", async () => {
    await mkdir(join(gitDir, "objects"));
    await writeFile(join(gitDir, "objects", "pack"), "");
    const thread = startBlobThread(gitDir);
    thread.add(Buffer.from("text"), true);
    await expect(thread.flush()).rejects.toMatchObject({ kind: "repository", code: "pack_not_written" });
    await thread.close();
  });

  it("names the reason as git does where there is one", () => {
    const codeOf = (code: string): string => packError("/store/.git", Object.assign(new Error(code), { code })).code;
    expect(["ENOSPC", "EDQUOT", "EACCES", "EROFS", "EIO"].map(codeOf)).toEqual([
      "disk_full",
      "disk_full",
      "store_not_writable",
      "store_not_writable",
      "pack_not_written",
    ]);
    expect(packError("/store/.git", "stopped").message).toContain("/store/.git/objects/pack");
  });
});
