// What a store asks and sets by platform.
import { expect, it } from "vitest";
import { fileSystemSettings, startQuestion } from "../../src/store/platform.ts";

it.each([
  ["linux", ["core.filemode=true"]],
  ["darwin", ["core.filemode=true", "core.ignorecase=true", "core.precomposeunicode=true"]],
  ["win32", ["core.filemode=false", "core.ignorecase=true"]],
])("a new store's settings are those that git would find out on %s", (platform, expected) => {
  expect(fileSystemSettings(platform).map((setting) => setting.join("="))).toEqual(expected);
});

it("asks a program of the system when a process started", () => {
  expect(startQuestion(12, "darwin", {})).toEqual(["/bin/ps", ["-o", "lstart=", "-p", "12"]]);
  const [program, args] = startQuestion(12, "win32", { SystemRoot: String.raw`D:\Win` });
  expect(program).toBe(String.raw`D:\Win\System32\WindowsPowerShell\v1.0\powershell.exe`);
  expect(args.at(-1)).toBe("(Get-Process -Id 12).StartTime.ToUniversalTime().ToString('o')");
});
