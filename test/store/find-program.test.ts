// Whether a program can be started by its name: a file that may be run, in a folder of PATH.

import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, it } from "vitest";
import { hasProgram } from "../../src/store/git-dir.ts";
import { createTempFolder } from "../helpers/temp-repository.ts";

it("a program is one where a shell would find it", () => {
  const folder = createTempFolder();
  const place = (name: string): string => join(folder.path, name);
  for (const name of ["none", "folder", "text", "right", "link"]) mkdirSync(place(name));
  mkdirSync(join(place("folder"), "tide"));
  writeFileSync(join(place("text"), "tide"), "");
  writeFileSync(join(place("right"), "tide"), "");
  chmodSync(join(place("right"), "tide"), 0o755);
  symlinkSync(join(place("right"), "tide"), join(place("link"), "tide"));
  const missing = ["none", "folder", "text", "gone"].map(place).join(delimiter);
  expect(hasProgram("tide", missing)).toBe(false);
  expect(hasProgram("tide", "")).toBe(false);
  expect(hasProgram("tide", `${missing}${delimiter}${place("right")}`)).toBe(true);
  expect(hasProgram("tide", place("link"))).toBe(true);
  // Without a PATH the system's own folders are searched.
  expect(hasProgram("sh", undefined)).toBe(true);
  folder.remove();
});
