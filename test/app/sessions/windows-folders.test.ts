// The folders that agents on Windows and macOS name after a directory. None of it runs there: the paths are Windows', the disk is not.
import { posix, win32 } from "node:path";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import type { AgentFormat, Machine } from "../../../src/formats/agent-format.ts";
import { CLAUDE_CODE } from "../../../src/formats/claude-code/agent.ts";
import { GEMINI_CLI } from "../../../src/formats/gemini-cli/agent.ts";
import { PI } from "../../../src/formats/pi/agent.ts";

const HOME = "C:\\Users\\Ada Löw";
const APP = `${HOME}\\My App`;

function windows(files: Readonly<Record<string, string>> = {}): Machine {
  const folders = Object.keys(files).map((path) => win32.dirname(path));
  return {
    env: {},
    home: HOME,
    join: win32.join,
    sha256: (text) => `digest of ${text}`,
    readText: (path) => files[path] ?? null,
    namesIn: (path) => [
      ...new Set(folders.filter((one) => win32.dirname(one) === path).map((one) => win32.basename(one))),
    ],
  };
}

const ownFolders = (agent: AgentFormat, machine: Machine, directory: string): readonly string[] =>
  (agent.files.folders?.(machine, directory, []) ?? [])
    .filter(({ isOwn, directory: named }) => isOwn === true || named === directory)
    .map(({ path }) => path);

const directoryOf = (cwd: string, folder: string) =>
  CLAUDE_CODE.files.directory?.(createBufferSource(Buffer.from(`${JSON.stringify({ cwd })}\n`)), folder);

describe("Claude Code", () => {
  it("names a folder after a path with the drive's letter as it was given", () => {
    const [first, ...others] = ownFolders(CLAUDE_CODE, windows(), APP);
    expect(first).toBe(`${HOME}\\.claude\\projects\\C--Users-Ada-L-w-My-App`);
    expect(others).toContain(`${HOME}\\.claude\\projects\\c--Users-Ada-L-w-My-App`);
  });

  it("has not moved a session whose folder has the other letter of the drive", () => {
    for (const folder of ["C--Users-ada", "c--Users-ada"])
      for (const cwd of ["C:\\Users\\ada", "c:\\Users\\ada"]) expect(directoryOf(cwd, folder)).toEqual({ path: cwd });
    expect(directoryOf("D:\\Users\\ada", "C--Users-ada")).toEqual({ path: "D:\\Users\\ada", wasMoved: true });
    expect(directoryOf("/home/App", "-home-app")).toMatchObject({ wasMoved: true });
  });

  it("may have named a folder after either form of an accented letter", () => {
    const machine = { ...windows(), home: "/Users/ada", join: posix.join };
    expect(ownFolders(CLAUDE_CODE, machine, "/Users/ada/café".normalize("NFC"))).toEqual(
      ["-Users-ada-caf-", "-Users-ada-cafe-"].map((name) => `/Users/ada/.claude/projects/${name}`),
    );
  });
});

describe("Gemini CLI", () => {
  const tmp = `${HOME}\\.gemini\\tmp`;
  it("lists directories in small letters", () => {
    const list = JSON.stringify({ projects: { [APP.toLowerCase()]: "my-app-1" } });
    const machine = windows({ [`${HOME}\\.gemini\\projects.json`]: list });
    expect(ownFolders(GEMINI_CLI, machine, APP)[0]).toBe(`${tmp}\\my-app-1\\chats`);
  });

  it("marks a folder with its directory in small letters", () => {
    const machine = windows({ [`${tmp}\\my-app\\.project_root`]: `${APP.toLowerCase()}\n` });
    expect(ownFolders(GEMINI_CLI, machine, APP)[0]).toBe(`${tmp}\\my-app\\chats`);
    const taken = windows({ [`${tmp}\\my-app\\.project_root`]: "d:\\my app\n" });
    expect(ownFolders(GEMINI_CLI, taken, APP)[0]).toBe(`${tmp}\\my-app-1\\chats`);
  });
});

it("pi names a folder after a path without its colon", () => {
  expect(ownFolders(PI, windows(), "C:\\Users\\ada\\app")[0]).toBe(
    `${HOME}\\.pi\\agent\\sessions\\--C--Users-ada-app--`,
  );
});
