import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { listJournals, readJournal } from "../../src/app/conversation/journal.ts";
import { readOwnFile, readOwnText } from "../../src/store/files.ts";
import { openCache } from "../../src/store/git-dir.ts";
import { isWindows } from "../helpers/platform.ts";
import { createTempFolder } from "../helpers/temp-repository.ts";

let folder: ReturnType<typeof createTempFolder>;
const at = (name: string): string => join(folder.path, name);
beforeEach(() => {
  folder = createTempFolder();
  writeFileSync(at("file"), "text");
  symlinkSync(at("file"), at("link"));
  mkdirSync(at("folder"));
  execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", at("pipe")]);
});
afterEach(() => folder.remove());

it("reads a file, and a link only if asked to", () => {
  expect(readOwnFile(at("file")).toString()).toBe("text");
  expect(() => readOwnText(at("link"))).toThrow(expect.objectContaining({ code: "ELOOP" }));
  expect(readOwnText(at("link"), { followLink: true })).toBe("text");
  expect(() => readOwnText(at("none"))).toThrow(expect.objectContaining({ code: "ENOENT" }));
});

it("does not wait at a pipe, and reads no folder", () => {
  const read = (name: string) => (): string => readOwnText(at(name), { followLink: true });
  expect(read("folder")).toThrow(expect.objectContaining({ code: "EINVAL" }));
  expect(read("pipe")).toThrow(expect.objectContaining({ code: "store_unsafe", data: { path: at("pipe") } }));
});

it.skipIf(isWindows)("a journal that is a link or a pipe is none (POSIX)", async () => {
  const [link, pipe] = ["a.jsonl", "b.jsonl"].map((name) => join(at("folder"), name));
  symlinkSync(at("file"), link ?? "");
  execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", pipe ?? ""]);
  expect(await listJournals(at("folder"), new Date())).toHaveLength(2);
  expect([await readJournal(link ?? ""), await readJournal(pipe ?? "")]).toEqual([null, null]);
});

it.skipIf(isWindows)(
  "a cache that is a link or a pipe is none, and a folder of caches that is a link is not written to (POSIX)",
  async () => {
    mkdirSync(at("jpg-cache"));
    symlinkSync(at("file"), at("jpg-cache/link"));
    execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", at("jpg-cache/pipe")]);
    expect(["link", "pipe"].map((name) => openCache(folder.path, name).read())).toEqual([null, null]);
    mkdirSync(at("store"));
    symlinkSync(at("folder"), at("store/jpg-cache"));
    await openCache(at("store"), "facts").write("text");
    expect(readdirSync(at("folder"))).toEqual([]);
  },
);
