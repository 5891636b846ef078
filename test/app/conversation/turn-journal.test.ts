// The journal of an open turn: the lock of its branch, written before anything is shown, removed only by its own turn.

import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  hasJournals,
  type JournalHead,
  journalPath,
  openJournal,
  readJournal,
} from "../../../src/app/conversation/journal.ts";
import { setSharingUmask } from "../../../src/app/conversation/runtime.ts";
import type { ChatResponse } from "../../../src/core/conversation/event.ts";
import { markThisProcess } from "../../../src/store/running-process.ts";
import { createTempFolder, type TempFolder } from "../../helpers/temp-repository.ts";

let folder: TempFolder;
let head: JournalHead;
const timestamp = "2026-05-01T12:00:00.000Z";
const ANSWER: ChatResponse = { type: "chat_response", id: "live2", timestamp, message: "" };

beforeEach(async () => {
  folder = createTempFolder();
  const writer = await markThisProcess();
  head = { journal: 1, branch: "pier-k3f9/main", turn: 2, start: "live0", parent: null, prev: null, writer };
});

afterEach(() => folder.remove());

const journals = (): string => join(folder.path, "jpg-journal");
const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(() => null).catch((error: unknown) => error);

describe("a journal", () => {
  it("holds each piece as soon as it is written, and is nobody else's to read in a private store", async () => {
    setSharingUmask(undefined);
    const journal = await openJournal(journals(), head);
    journal.open(ANSWER);
    for (const piece of ["Five ", "me"]) {
      journal.delta("live2", piece);
      expect(readFileSync(journal.path, "utf8")).toContain(JSON.stringify(piece));
    }
    expect(await readJournal(journal.path)).toMatchObject({ events: [{ message: "Five me" }], isComplete: false });
    expect(statSync(journal.path).mode & 0o077).toBe(0);
    await journal.complete();
    expect(await readJournal(journal.path)).toMatchObject({ isComplete: true });
    await journal.remove();
    expect(await hasJournals(journals())).toBe(false);
  });

  it("is the lock of its branch, and of no other", async () => {
    const journal = await openJournal(journals(), head);
    const error = await failure(openJournal(journals(), { ...head, start: "other" }));
    expect(error).toMatchObject({ kind: "user", code: "turn_open", data: { pid: process.pid } });
    const other = await openJournal(journals(), { ...head, branch: "pier-k3f9/try-b" });
    expect(readdirSync(journals())).toHaveLength(2);
    await journal.remove();
    await other.remove();
    await (await openJournal(journals(), head)).remove();
  });

  it("has a name that any file system takes, whatever the branch is called", async () => {
    const branch = `${"ü".repeat(90)}/main`;
    const journal = await openJournal(journals(), { ...head, branch });
    expect(journal.path).toBe(journalPath(journals(), branch));
    expect((await readJournal(journal.path))?.head.branch).toBe(branch);
    await journal.remove();
  });

  it("that is abandoned frees the branch and keeps what it holds", async () => {
    const journal = await openJournal(journals(), head);
    journal.event({ ...ANSWER, message: "Five metres." });
    const path = await journal.abandon();
    const next = await openJournal(journals(), { ...head, start: "other" });
    expect(await readJournal(path)).toMatchObject({ head: { start: "live0" }, events: [{ message: "Five metres." }] });
    await next.remove();
    expect(existsSync(path)).toBe(true);
  });

  it("does not remove what another turn has put in its place", async () => {
    const journal = await openJournal(journals(), head);
    const text = readFileSync(journal.path, "utf8").replace('"live0"', '"other"');
    writeFileSync(journal.path, text);
    await journal.remove();
    expect(readFileSync(journal.path, "utf8")).toBe(text);
  });

  it("that cannot be created says where, and leaves no file", async () => {
    writeFileSync(journals(), "in the way");
    expect(await failure(openJournal(journals(), head))).toMatchObject({
      kind: "repository",
      code: "journal_not_written",
      message: expect.stringContaining(join(folder.path, "jpg-journal")),
    });
  });
});
