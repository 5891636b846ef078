// A bundle of some kB that declares files of GBs: it is refused by what it declares, and no branch and no object comes of it.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";

let eve: Sandbox;
beforeEach(() => {
  eve = createSandbox();
});
afterEach(() => eve.remove());

const COMMIT = 1;
const TREE = 2;
const BLOB = 3;
const DELTA = 7;
const NAMES: Readonly<Record<number, string>> = { [COMMIT]: "commit", [TREE]: "tree", [BLOB]: "blob" };

/** An object in a pack, with the size that it says it has. */
function packed(
  type: number,
  bytes: Uint8Array,
  { size = bytes.length, base = new Uint8Array() as Uint8Array } = {},
): Buffer {
  const head = [(type << 4) | (size % 16)];
  for (let left = Math.floor(size / 16); left > 0; left = Math.floor(left / 128)) {
    head[head.length - 1] = (head.at(-1) ?? 0) | 128;
    head.push(left % 128);
  }
  return Buffer.concat([Buffer.from(head), base, deflateSync(bytes)]);
}

function idOf(type: number, bytes: Uint8Array): Buffer {
  return createHash("sha1").update(`${NAMES[type]} ${bytes.length}\0`).update(bytes).digest();
}

function varint(value: number): readonly number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}

/** A branch with one turn, whose file is what is given: no id of it is right, for nobody gets as far. */
function bundleOf(...blob: readonly Buffer[]): Buffer {
  const entry = (mode: string, name: string, id: Uint8Array) => Buffer.concat([Buffer.from(`${mode} ${name}\0`), id]);
  const turns = entry("100644", "000000.jsonl", createHash("sha1").update("none").digest());
  const folder = entry("40000", "0000", idOf(TREE, turns));
  const root = entry("40000", "turns", idOf(TREE, folder));
  const person = "Eve <eve@example.org> 1760000000 +0000";
  const id = idOf(TREE, root).toString("hex");
  const commit = Buffer.from(`tree ${id}\nauthor ${person}\ncommitter ${person}\n\nturn 0\n`);
  const trees = [turns, folder, root].map((bytes) => packed(TREE, bytes));
  const objects = [...blob, ...trees, packed(COMMIT, commit)];
  const head = Buffer.from("PACK\0\0\0\u0002\0\0\0\0", "latin1");
  head.writeUInt32BE(objects.length, 8);
  const pack = Buffer.concat([head, ...objects]);
  const line = `${idOf(COMMIT, commit).toString("hex")} refs/heads/large-aaaa/main`;
  return Buffer.concat([Buffer.from(`# v2 git bundle\n${line}\n\n`), pack, createHash("sha1").update(pack).digest()]);
}

/** A file that is said to be of 3 GB. */
const declared = (): readonly Buffer[] => [packed(BLOB, Buffer.from("{}"), { size: 3 * 2 ** 30 })];

/** 16 MB of blanks, and a file that is made of them sixty-four times. */
function copies(): readonly Buffer[] {
  const base = Buffer.from(" ".repeat(2 ** 24 - 1));
  const copy = [0xf0, 0xff, 0xff, 0xff];
  const delta = [...varint(base.length), ...varint(64 * base.length), ...Array.from({ length: 64 }, () => copy).flat()];
  return [packed(BLOB, base), packed(DELTA, Buffer.from(delta), { base: idOf(BLOB, base) })];
}

describe("jpg import of a bundle that unpacks to GBs", () => {
  it.each([
    ["a size", declared],
    ["a delta", copies],
  ])("refuses it by %s, and takes nothing over", { tags: ["slow"] }, async (_, blob) => {
    const path = join(eve.root, "large.bundle");
    writeFileSync(path, bundleOf(...blob()));
    expect(await eve.jpg(["import", path])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("large.bundle holds a file that unpacks to more than half a GB"),
    });
    expect(await eve.json(["ls"])).toEqual([]);
    const packs = join(eve.store, ".git", "objects", "pack");
    expect(existsSync(packs) ? readdirSync(packs) : []).toEqual([]);
  });
});
