import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { scanFolder } from "../../../src/app/sessions/session-files.ts";
import { createTempFolder, type TempFolder, writeText } from "../../helpers/temp-repository.ts";

let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
});
afterEach(() => folder.remove());

const make = (...names: string[]): void => {
  for (const name of names) writeText(join(folder.path, name), "{}\n");
};
const scan = async (): Promise<string[]> =>
  (await scanFolder(folder.path)).files.map((path) => path.slice(folder.path.length + 1));

describe("the session files below a folder", () => {
  it("are its .jsonl files, ordered, except side files of another", async () => {
    make("b.jsonl", "a/c.jsonl", "notes.txt", "b/subagents/agent-1.jsonl", "b/d.jsonl");
    expect(await scan()).toEqual(["a/c.jsonl", "b.jsonl", "b/d.jsonl"]);
  });

  it("are documents that an agent names so, and no other .json files", async () => {
    make("session-2026-01-15T20-51-f7633853.json", "package.json", "a/session-x.json", "a/tsconfig.json");
    expect(await scan()).toEqual(["a/session-x.json", "session-2026-01-15T20-51-f7633853.json"]);
  });

  it("are not looked for in git's folders, in installed packages, through links, or in jpg's own folders", async () => {
    make("a.jsonl", ".git/jpg/s.jsonl", "sub/.git/s.jsonl", "node_modules/x/s.jsonl");
    make(...["conversation.json", ".gitattributes", "view.jsonl"].map((name) => `tree/${name}`));
    make("tree/sources/s/0000/000000.jsonl", "tree/turns/0000/000000.jsonl", "tree/mine.jsonl");
    make("elsewhere.d/s.jsonl");
    symlinkSync(join(folder.path, "elsewhere.d"), join(folder.path, "link"));
    symlinkSync(join(folder.path, "a.jsonl"), join(folder.path, "link.jsonl"));
    symlinkSync(folder.path, join(folder.path, "loop"));
    expect(await scan()).toEqual(["a.jsonl", "elsewhere.d/s.jsonl", "tree/mine.jsonl"]);
  });

  it("name what cannot be read", async () => {
    const absent = join(folder.path, "absent");
    const { files, failed } = await scanFolder(absent);
    expect(files).toEqual([]);
    expect(failed).toMatchObject([{ path: absent, error: { code: "unreadable_file" } }]);
  });
});
