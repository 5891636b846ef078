import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readBundleHeader, requireWhole } from "../../../src/app/share/bundle.ts";
import { formatBundleHeader } from "../../../src/core/conversation/name.ts";
import { createTempFolder, type TempFolder } from "../../helpers/temp-repository.ts";

let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
});
afterEach(() => folder.remove());

const commit = "0123456789abcdef0123456789abcdef01234567";
const branches = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ name: `talk-k3f9/fork-with-a-long-name-${at}`, commit }));

it("the head of a bundle is read to its end, however many branches it names", async () => {
  const path = join(folder.path, "many.bundle");
  const head = formatBundleHeader(branches(5000));
  expect(head.length).toBeGreaterThan(256 * 1024);
  writeFileSync(path, `${head}PACK`);
  const header = await readBundleHeader(path);
  expect([header?.branches.length, header?.packAt]).toEqual([5000, head.length]);
});

it("a pack is whole when it ends in its own digest", async () => {
  const path = join(folder.path, "one.bundle");
  const head = Buffer.from(formatBundleHeader(branches(1)));
  const pack = Buffer.concat([Buffer.from("PACK"), Buffer.alloc(200_000, 7)]);
  const whole = Buffer.concat([head, pack, createHash("sha1").update(pack).digest()]);
  const check = async (bytes: Uint8Array): Promise<void> => {
    writeFileSync(path, bytes);
    await requireWhole(path, { packAt: head.length });
  };
  await expect(check(whole)).resolves.toBeUndefined();
  for (const cut of [1, 20, 21, 100_000, pack.length, pack.length + 20])
    await expect(check(whole.subarray(0, -cut)), `${cut} bytes less`).rejects.toMatchObject({ code: "damaged_bundle" });
  await expect(check(Buffer.concat([whole, Buffer.from([0])]))).rejects.toMatchObject({ code: "damaged_bundle" });
});
