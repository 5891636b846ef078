import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { keepTypedMessage, readTypedMessages } from "../../../src/app/talk/chat-model.ts";
import { createTempFolder, type TempFolder } from "../../helpers/temp-repository.ts";

let user: { readonly env: Readonly<Record<string, string>>; readonly home: string };
let path: string;
let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
  user = { env: {}, home: folder.path };
  path = join(user.home, ".local", "state", "jpg", "chat-history.jsonl");
});
afterEach(() => folder.remove());

describe("messages typed in chats", () => {
  it("are had again in the next one, newest first, from a file of the user's own", async () => {
    expect(await readTypedMessages(user)).toEqual([]);
    for (const text of ["first", "of two\nlines", "third"]) await keepTypedMessage(user, text);
    expect(await readTypedMessages(user)).toEqual(["third", "of two\nlines", "first"]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("are not kept when they begin with a blank, are empty or very long", async () => {
    for (const text of [" a secret", "", "\n", "x".repeat(10_001)]) await keepTypedMessage(user, text);
    expect(await readTypedMessages(user)).toEqual([]);
  });

  it("are the newest 500, whatever else is in the file", async () => {
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, `${'"old"\n'.repeat(700)}{"no":"text"}\nhalf a li`);
    await keepTypedMessage(user, "new");
    expect((await readTypedMessages(user)).slice(0, 2)).toEqual(["new", "old"]);
    expect(readFileSync(path, "utf8").trimEnd().split("\n")).toHaveLength(500);
  });
});
