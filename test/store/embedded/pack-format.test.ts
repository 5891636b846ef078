import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { expect, it } from "vitest";
import { formatPack, writePack } from "../../../src/store/embedded/pack-format.ts";
import { createTempFolder, git, testEnvironment } from "../../helpers/temp-repository.ts";

it("git reads and verifies a pack: empty, small and large objects, and the same pack written twice", async () => {
  const folder = createTempFolder();
  const env = testEnvironment(folder.path);
  git(folder.path, env, ["init", "--quiet", "--bare", "."]);
  const texts = ["", "x", "y".repeat(15), "z".repeat(16), "large ".repeat(50_000)];
  const objects = texts.map((text) => ({
    type: "blob" as const,
    oid: createHash("sha1").update(`blob ${text.length}\0${text}`).digest("hex"),
    size: text.length,
    deflated: deflateSync(text),
  }));
  const packs = join(folder.path, "objects", "pack");
  for (let time = 0; time < 2; time++) await writePack(packs, formatPack(objects));
  const names = readdirSync(packs).map((name) => name.replace(/^pack-[0-9a-f]{40}/, ""));
  expect(names.sort()).toEqual([".idx", ".pack"]);
  for (const [at, text] of texts.entries())
    expect(git(folder.path, env, ["cat-file", "blob", objects[at]!.oid])).toBe(text.trimEnd());
  const pack = readdirSync(packs).find((name) => name.endsWith(".pack"))!;
  expect(git(folder.path, env, ["verify-pack", "-v", join(packs, pack)])).toContain("non delta: 5 objects");
  expect(git(folder.path, env, ["fsck", "--strict", "--full", "--no-dangling"])).toBe("");
  folder.remove();
});
