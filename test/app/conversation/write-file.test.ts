import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { writeResultFile } from "../../../src/app/conversation/runtime.ts";
import { createTempFolder, type TempFolder } from "../../helpers/temp-repository.ts";

let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
});
afterEach(() => folder.remove());

it("writes a new file and replaces an old one, through a symbolic link too", async () => {
  const file = join(folder.path, "file");
  const link = join(folder.path, "link");
  await writeResultFile(file, "one");
  symlinkSync(file, link);
  await writeResultFile(link, Buffer.from("two"));
  expect(readFileSync(file, "utf8")).toBe("two");
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readdirSync(folder.path)).toEqual(["file", "link"]);
});

it("writes to what is not an ordinary file without replacing it", async () => {
  await writeResultFile("/dev/null", "gone");
  expect(lstatSync("/dev/null").isCharacterDevice()).toBe(true);
});

it("leaves what was there, and nothing half written, when it cannot write", async () => {
  const taken = join(folder.path, "taken");
  mkdirSync(join(taken, "inner"), { recursive: true });
  writeFileSync(join(folder.path, "kept"), "kept");
  for (const path of [taken, join(folder.path, "no", "file"), join(folder.path, "kept", "below")]) {
    await expect(writeResultFile(path, "text")).rejects.toMatchObject({
      kind: "user",
      code: "cannot_write",
      hints: [expect.any(String)],
    });
  }
  chmodSync(taken, 0o755);
  expect(readdirSync(folder.path)).toEqual(["kept", "taken"]);
  expect(readFileSync(join(folder.path, "kept"), "utf8")).toBe("kept");
});
