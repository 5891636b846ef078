// Whether a program can be started by its name: a file that may be run, in a folder of PATH.

import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { findPosixShell, findProgram, hasProgram, programCall } from "../../src/store/program-call.ts";
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

describe("on Windows", () => {
  const env = {
    Path: String.raw`C:\Windows\System32;"C:\Program Files\Git\cmd";.;tools;\bin;C:bin;;D:\npm`,
    SystemRoot: String.raw`C:\Windows`,
  };
  const files = new Set(
    [
      String.raw`C:\Program Files\Git\cmd\git.exe`,
      String.raw`C:\Program Files\Git\bin\sh.exe`,
      String.raw`D:\npm\claude`,
      String.raw`D:\npm\claude.cmd`,
      String.raw`D:\npm\both.exe`,
      String.raw`D:\npm\both.cmd`,
      String.raw`D:\npm\script.js`,
      String.raw`C:\project\evil.exe`,
      String.raw`C:\project\tools\evil.exe`,
      String.raw`C:\project\run.bat`,
    ].map((path) => path.toLowerCase()),
  );
  const place = {
    env,
    cwd: String.raw`C:\project`,
    platform: "win32" as const,
    isProgram: (path: string) => files.has(path.toLowerCase()),
  };

  it.each([
    ["git", String.raw`C:\Program Files\Git\cmd\git.exe`],
    ["GIT.EXE", String.raw`C:\Program Files\Git\cmd\GIT.EXE`],
    ["claude", String.raw`D:\npm\claude.cmd`],
    ["claude.cmd", String.raw`D:\npm\claude.cmd`],
    ["both", String.raw`D:\npm\both.exe`],
    ["script", null],
    ["script.js", null],
    ["evil", null],
    [String.raw`.\evil`, String.raw`C:\project\evil.exe`],
    ["tools/evil", String.raw`C:\project\tools\evil.exe`],
    [String.raw`D:\npm\claude`, String.raw`D:\npm\claude.cmd`],
  ])("%s is found where PATH says, never in the current folder", (name, path) => {
    expect(findProgram(name, place)).toBe(path);
  });

  it("the order of endings is the user's", () => {
    const own = { ...place, env: { ...env, PATHEXT: ".CMD;.EXE;.JS" } };
    expect(findProgram("both", own)).toBe(String.raw`D:\npm\both.cmd`);
    expect(findProgram("script", own)).toBeNull();
  });

  it("a program is started by its path, a batch file by cmd.exe", () => {
    expect(programCall(["git", "log", "a b"], place)).toEqual({
      file: String.raw`C:\Program Files\Git\cmd\git.exe`,
      args: ["log", "a b"],
      options: {},
    });
    const line = String.raw`""D:\npm\claude.cmd" --resume "a & b""`;
    expect(programCall(["claude", "--resume", "a & b"], place)).toEqual({
      file: String.raw`C:\Windows\System32\cmd.exe`,
      args: ["/e:ON", "/v:OFF", "/d", "/s", "/c", line],
      options: { windowsVerbatimArguments: true },
    });
    expect(programCall([String.raw`.\run.bat`], place).args.at(-1)).toBe(String.raw`""C:\project\run.bat""`);
  });

  it("a program that PATH does not have is not started from the current folder", () => {
    expect(programCall(["evil"], place).file).toBe(String.raw`\\?\nowhere\evil`);
  });

  it("a shell comes with git", () => {
    expect(findPosixShell(place)).toBe(String.raw`C:\Program Files\Git\bin\sh.exe`);
    expect(findPosixShell({ ...place, env: { PATH: String.raw`D:\npm` } })).toBeNull();
  });
});

it("elsewhere a program is started by its name", () => {
  const place = { env: {}, platform: "linux" as const };
  expect(programCall(["claude", "%PATH% & x"], place)).toEqual({ file: "claude", args: ["%PATH% & x"], options: {} });
});
