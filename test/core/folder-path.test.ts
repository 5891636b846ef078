// Paths of folders in the notations of several systems. Node's own path functions for Windows say what `localFolder` has to give.
import { win32 } from "node:path";
import { describe, expect, it } from "vitest";
import { folderKey, isSameFolder, localFolder, parseWindows, spellingsOf } from "../../src/core/folder-path.ts";

const APP = [
  "C:\\Users\\ada\\app",
  "c:\\users\\Ada\\APP",
  "C:/Users/ada/app",
  "C:\\Users/ada//app/",
  "C:\\Users\\.\\ada\\app",
  "/c/Users/ada/app",
  "/mnt/c/Users/ada/app/",
  "/cygdrive/c/Users/ada/app",
  "\\\\?\\C:\\Users\\ada\\app",
  "//?/C:/Users/ada/app",
  "\\\\.\\C:\\Users\\ada\\app",
];
const SHARED = [
  "\\\\server\\talks\\app",
  "//server/talks/app",
  "\\\\?\\UNC\\server\\talks\\app",
  "\\\\SERVER\\Talks\\app\\",
];
const OTHERS = [
  "C:\\Users\\ada\\app2",
  "D:\\Users\\ada\\app",
  "C:\\Users\\ada",
  "\\\\other\\talks\\app",
  "/home/ada/app",
];

describe("on Windows", () => {
  it.each([APP, SHARED])("all notations of a folder name one folder: %s …", (...paths) => {
    const [first = ""] = paths;
    for (const path of paths) expect([path, isSameFolder(path, first, "win32")]).toEqual([path, true]);
    for (const path of OTHERS) expect([path, isSameFolder(path, first, "win32")]).toEqual([path, false]);
  });

  it.each([...APP, ...SHARED, "C:\\", "C:/", "/d/x"])("a path is written as programs there write it: %s", (path) => {
    const written = localFolder(path, "win32");
    expect(win32.isAbsolute(written)).toBe(true);
    expect(written).not.toMatch(/^\/|^\\\\[?.]\\/);
    expect(win32.normalize(written)).toBe(written);
    expect(isSameFolder(written, path, "win32")).toBe(true);
  });

  it("a drive's top keeps its separator, and what is no path of Windows stays", () => {
    expect(localFolder("c:/", "win32")).toBe("C:\\");
    expect(localFolder("/home/ada", "win32")).toBe("/home/ada");
    expect(localFolder("src\\x", "win32")).toBe("src\\x");
  });
});

describe("elsewhere", () => {
  it("a path of Windows is where WSL has it", () => {
    expect(localFolder("C:\\Users\\ada\\app", "linux")).toBe("/mnt/c/Users/ada/app");
    expect(localFolder("c:/Users/ada", undefined)).toBe("/mnt/c/Users/ada");
    expect(localFolder("\\\\server\\talks\\app", "linux")).toBe("\\\\server\\talks\\app");
    expect(isSameFolder("C:\\Users\\ada\\app", "/mnt/c/Users/ada/app", "linux")).toBe(true);
  });

  it("a folder with one letter is no drive", () => {
    expect(localFolder("/c/Users", "linux")).toBe("/c/Users");
    expect(isSameFolder("/c/Users", "/c/users", "linux")).toBe(false);
    expect(isSameFolder("/c/Users", "C:\\Users", "linux")).toBe(false);
  });

  it("case counts on Linux, and not on macOS", () => {
    expect(isSameFolder("/home/ada/App", "/home/ada/app", "linux")).toBe(false);
    expect(isSameFolder("/home/ada/App/", "/home/ada/App", "linux")).toBe(true);
    expect(isSameFolder("/Users/ada/App", "/Users/ada/app", "darwin")).toBe(true);
  });

  it("an accented letter is one however macOS writes it; on Linux it is two names", () => {
    const [one, two] = ["/Users/ada/café".normalize("NFC"), "/Users/ada/café".normalize("NFD")];
    expect(one).not.toBe(two);
    expect(isSameFolder(one, two, "darwin")).toBe(true);
    expect(isSameFolder(one, two, "linux")).toBe(false);
    expect(folderKey(one)).toBe(folderKey(two));
  });
});

describe("what an agent may have been given for a path", () => {
  it("has either letter of a drive, or small letters only", () => {
    expect(spellingsOf("C:\\Ada")).toEqual(["C:\\Ada", "c:\\Ada", "c:\\ada"]);
  });

  it("has either form of an accented letter", () => {
    const path = "/Users/ada/café";
    expect(new Set(spellingsOf(path))).toEqual(new Set([path.normalize("NFC"), path.normalize("NFD")]));
    expect(spellingsOf("/home/ada")).toEqual(["/home/ada"]);
  });
});

it.each(["/home/ada", "home", "", "/", "C:x", "1:\\x", "/cc/x", "\\\\?\\x"])("%j is no folder of Windows", (path) => {
  expect(parseWindows(path)).toBeNull();
});
