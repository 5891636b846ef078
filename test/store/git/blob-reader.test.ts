import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BlobReader, createBlobReader } from "../../../src/store/git/objects.ts";
import { createTempStore, git, type TempStore } from "../../helpers/temp-repository.ts";

describe("createBlobReader", () => {
  let temp: TempStore;
  beforeEach(async () => {
    temp = await createTempStore();
  });
  afterEach(() => temp.remove());
  const put = (text: string): string => git(temp.root, temp.env, ["hash-object", "-w", "--stdin"], text);
  const readerOf = () => createBlobReader({ gitDir: join(temp.root, ".git"), cwd: temp.root, env: temp.env });

  const contents = async (reader: BlobReader, oids: readonly string[]): Promise<string[]> => {
    const texts: string[] = [];
    for await (const bytes of reader.readAll(oids)) texts.push(Buffer.from(bytes).toString());
    return texts;
  };

  it("reads objects written after it was started, and works again after close", async () => {
    const reader = readerOf();
    expect((await reader.read(put("one")))?.bytes.toString()).toBe("one");
    const later = put("two");
    expect((await reader.read(later))?.bytes.toString()).toBe("two");
    await reader.close();
    expect((await reader.read(later))?.bytes.toString()).toBe("two");
    expect(reader.count).toBe(3);
    await reader.close();
  });

  it("reads the commit of an id without starting git; git peels a tag", async () => {
    git(temp.root, temp.env, ["commit", "--allow-empty", "-qm", "one"]);
    const commit = git(temp.root, temp.env, ["rev-parse", "HEAD"]);
    git(temp.root, temp.env, ["tag", "-am", "one", "first"]);
    const tag = git(temp.root, temp.env, ["rev-parse", "first"]);
    const withoutGit = { ...temp.env, PATH: "/nowhere" };
    const alone = createBlobReader({ gitDir: join(temp.root, ".git"), cwd: temp.root, env: withoutGit });
    expect((await alone.read(`${commit}^{commit}`))?.oid).toBe(commit);
    await alone.close();
    const reader = readerOf();
    expect((await reader.read(`${tag}^{commit}`))?.oid).toBe(commit);
    expect(await reader.read(`${put("no commit")}^{commit}`)).toBeNull();
    await reader.close();
  });

  it("answers a thousand requests made at once", async () => {
    const reader = readerOf();
    const oid = put("x".repeat(3000));
    const all = await Promise.all(
      Array.from({ length: 1000 }, (_, i) => reader.read(i % 10 === 0 ? "nothing here" : oid)),
    );
    expect(all.filter((object) => object === null)).toHaveLength(100);
    expect(all.every((object) => object === null || object.bytes.length === 3000)).toBe(true);
    await reader.close();
  });

  it("streams many objects in the order asked, of any size, and may be left early", async () => {
    const reader = readerOf();
    const sizes = [0, 1, 3000, 200_000];
    const known = sizes.map((size) => put("x".repeat(size)));
    const oids = Array.from({ length: 400 }, (_, i) => known[i % known.length] ?? "");
    expect((await contents(reader, oids)).map((text) => text.length)).toEqual(oids.map((_, i) => sizes[i % 4]));
    expect(reader.count).toBe(400);
    for await (const bytes of reader.readAll(oids)) {
      expect(bytes.length).toBe(0);
      break;
    }
    expect(reader.count).toBeGreaterThan(400);
    await reader.close();
  });

  it.each([1, 300])("names the object that is missing among %i others", async (others) => {
    const reader = readerOf();
    const oid = put("here");
    const missing = "12".repeat(20);
    const seen: string[] = [];
    const read = async (): Promise<void> => {
      for await (const bytes of reader.readAll([...Array<string>(others).fill(oid), missing, oid])) {
        seen.push(Buffer.from(bytes).toString());
      }
    };
    await expect(read()).rejects.toMatchObject({ code: "object_missing", data: { oid: missing } });
    expect(seen).toHaveLength(others);
    await reader.close();
  });

  it("says that the store is damaged when an object is", async () => {
    const oid = put("will be broken, and is long enough to be read as an object");
    const path = join(temp.root, ".git", "objects", oid.slice(0, 2), oid.slice(2));
    chmodSync(path, 0o644);
    writeFileSync(path, "not zlib data");
    const reader = readerOf();
    await expect(contents(reader, [oid])).rejects.toMatchObject({ kind: "repository", code: "store_damaged" });
    const many = Array<string>(300).fill(oid);
    await expect(contents(reader, many)).rejects.toMatchObject({ kind: "repository", code: "store_damaged" });
    await expect(contents(reader, ["12".repeat(20)])).rejects.toMatchObject({ code: "object_missing" });
    expect((await reader.read(put("still works")))?.bytes.toString()).toBe("still works");
    await reader.close();
  });
});
