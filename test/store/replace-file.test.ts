// Files are replaced as a whole, exclusively, and never through a link in their place.

import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { makeOwnFolder, openDraft, replaceFile, writerOfDraft } from "../../src/store/files.ts";
import { markThisProcess, stateOfProcess } from "../../src/store/running-process.ts";
import { createTempFolder, type TempFolder } from "../helpers/temp-repository.ts";

let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
});
afterEach(() => folder.remove());

const at = (...names: string[]): string => join(folder.path, ...names);

it("makes a file with the permissions that the umask leaves, and no other file", async () => {
  await replaceFile(at("new"), "text");
  expect(readFileSync(at("new"), "utf8")).toBe("text");
  expect(statSync(at("new")).mode & 0o777).toBe(0o666 & ~process.umask());
  expect(readdirSync(folder.path)).toEqual(["new"]);
});

it("replaces a link, and does not touch what it points to", async () => {
  writeFileSync(at("bashrc"), "mine");
  symlinkSync(at("bashrc"), at("file"));
  await replaceFile(at("file"), "theirs");
  expect(readFileSync(at("bashrc"), "utf8")).toBe("mine");
  expect(lstatSync(at("file")).isFile()).toBe(true);
});

it("gives no two drafts one name, and none that the pid reveals", async () => {
  const drafts = [await openDraft(folder.path), await openDraft(folder.path)];
  const names = readdirSync(folder.path);
  await Promise.all(drafts.map((draft) => draft.discard()));
  expect(new Set(names).size).toBe(2);
  for (const name of names) expect(name).toMatch(/_[0-9a-f]{32}$/);
  expect(readdirSync(folder.path)).toEqual([]);
});

it("leaves what was there, and no draft, when the file cannot be put in place", async () => {
  mkdirSync(at("taken", "inner"), { recursive: true });
  await expect(replaceFile(at("taken"), "text")).rejects.toMatchObject({ syscall: "rename" });
  expect(readdirSync(folder.path)).toEqual(["taken"]);
  expect(readdirSync(at("taken"))).toEqual(["inner"]);
});

it("says in a draft's name who writes it", async () => {
  const draft = await openDraft(folder.path);
  const [name = ""] = readdirSync(folder.path);
  await draft.discard();
  const writer = writerOfDraft(name);
  expect(writer).toMatchObject({ pid: process.pid, started: (await markThisProcess()).started });
  expect(writer === null ? null : await stateOfProcess(writer)).toBe("running");
  expect(writerOfDraft("VIEW.md")).toBeNull();
  expect(writerOfDraft(".jpg-draft_x_y_z")).toBeNull();
});

it("makes a folder of its own, and takes no link for one", async () => {
  await makeOwnFolder(at("own"));
  await makeOwnFolder(at("own"));
  expect(statSync(at("own")).mode & 0o777).toBe(0o777 & ~process.umask());
  symlinkSync(at("own"), at("link"));
  await expect(makeOwnFolder(at("link"))).rejects.toMatchObject({ code: "ENOTDIR" });
  chmodSync(at("own"), 0o755);
  await makeOwnFolder(at("own"));
  expect(statSync(at("own")).mode & 0o777).toBe(0o755);
});

it("writes what comes in pieces, and leaves what was there where the making of one fails", async () => {
  const path = at("pieces");
  await replaceFile(path, piecesOf(["one ", "two"]));
  expect(readFileSync(path, "utf8")).toBe("one two");
  await expect(replaceFile(path, piecesOf(["three ", null]))).rejects.toThrow("no more");
  expect(readFileSync(path, "utf8")).toBe("one two");
  expect(readdirSync(folder.path)).toEqual(["pieces"]);
});

async function* piecesOf(texts: readonly (string | null)[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    if (text === null) throw new Error("no more");
    yield Buffer.from(text);
  }
}
