// Folders are made with those above them, and what cannot be made is an error at once.

import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { makeFolders } from "../../src/store/files.ts";
import { createTempFolder, type TempFolder } from "../helpers/temp-repository.ts";

let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
});
afterEach(() => folder.remove());

it("makes all that are missing, with the mode that is asked for, and is content with one that is there", () => {
  const path = join(folder.path, "a/b/c");
  makeFolders(path, 0o700);
  makeFolders(path);
  expect(["a", "a/b", "a/b/c"].map((name) => statSync(join(folder.path, name)).mode & 0o777)).toEqual([
    0o700, 0o700, 0o700,
  ]);
});

it.runIf(existsSync("/proc/self"))("ends where a folder says that what is made in it does not exist", () => {
  for (const path of ["/proc/.config/jpg", "/proc/.cache/jpg/code"])
    expect(() => makeFolders(path)).toThrow(expect.objectContaining({ code: "ENOENT" }));
});

it.each(["file", "file/below"])("names what is in the way of %s", (path) => {
  writeFileSync(join(folder.path, "file"), "");
  expect(() => makeFolders(join(folder.path, path))).toThrow(
    expect.objectContaining({ code: expect.stringMatching(/^(EEXIST|ENOTDIR)$/) }),
  );
});
