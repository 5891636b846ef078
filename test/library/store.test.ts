// @module-tag slow
// The library: a store opened by a program, in folders and an environment of its own.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as library from "../../src/index.ts";
import { JpgError, type ListOptions, type OpenOptions, openStore, type Store } from "../../src/index.ts";
import { createLibraryRuntime } from "../../src/library/runtime.ts";
import { createTempFolder, initRepository, type TempFolder, testEnvironment } from "../helpers/temp-repository.ts";

const SAMPLE = fileURLToPath(new URL("../../examples/sample-session.jsonl", import.meta.url));

let folder: TempFolder;
let options: OpenOptions;
let store: Store;
let imported: string;

beforeAll(async () => {
  folder = createTempFolder();
  const env = testEnvironment(join(folder.path, "home"));
  initRepository(folder.path);
  options = { directory: folder.path, env };
  store = await openStore({ ...options, create: true });
  const { sessions } = await store.import(SAMPLE);
  imported = sessions[0]!.id;
});

afterAll(async () => {
  await store.close();
  folder.remove();
});

describe("opening", () => {
  it("finds the project's store from any folder in it, and one by its own folder", async () => {
    expect(store.path).toBe(join(folder.path, ".git/jpg"));
    const again = await openStore({ ...options, directory: ".", store: store.path });
    expect((await again.list()).map(({ id }) => id)).toContain(imported);
    await again.close();
    await again.close();
  });

  it("creates nothing unless it is asked to, and then at the first write", async () => {
    const empty = { ...options, store: join(folder.path, "other") };
    await expect(openStore(empty)).rejects.toMatchObject({ kind: "repository", code: "no_store" });
    const other = await openStore({ ...empty, create: true });
    expect(await other.list()).toEqual([]);
    await other.close();
    await expect(openStore(empty)).rejects.toBeInstanceOf(JpgError);
  });

  it("names a folder that is none", async () => {
    for (const directory of [join(folder.path, "gone"), SAMPLE])
      await expect(openStore({ ...options, directory })).rejects.toMatchObject({
        kind: "user",
        code: "no_such_folder",
      });
  });

  it("refuses an order and a limit that are none", async () => {
    const wrong = [{ order: "sise" }, { limit: -1 }, { limit: 1.5 }, { limit: "x" }];
    for (const choice of wrong)
      await expect(store.list(choice as ListOptions)).rejects.toMatchObject({ kind: "user", code: "usage" });
    expect(await store.list({ limit: 0 })).toEqual([]);
  });

  it("reads no key of the process unless it is given one", () => {
    process.env["ANTHROPIC_API_KEY"] = "key-of-a-test";
    process.env["JPG_STORE"] = "/nowhere";
    try {
      const { env } = createLibraryRuntime(".", {});
      expect(env["PATH"]).toBe(process.env["PATH"]);
      expect([env["ANTHROPIC_API_KEY"], env["JPG_STORE"]]).toEqual([undefined, undefined]);
      expect(createLibraryRuntime(".", { env: process.env }).env["ANTHROPIC_API_KEY"]).toBe("key-of-a-test");
    } finally {
      delete process.env["ANTHROPIC_API_KEY"];
      delete process.env["JPG_STORE"];
    }
  });

  it("reads the clock that it is given", async () => {
    const now = (): Date => new Date("2027-01-02T03:04:05Z");
    const other = await openStore({ ...options, store: join(folder.path, "clock"), create: true, now });
    const { conversation } = await other.create([{ type: "chat_request", content: "What time is it?" }]);
    const { turns } = await other.history(conversation);
    expect(turns[0]!.events[0]!.timestamp).toBe("2027-01-02T03:04:05.000Z");
    await other.close();
  });
});

describe("closing", () => {
  /** Calls of each method that work while the store is open. */
  const CALLS: { readonly [Name in Exclude<keyof Store, "path" | "close">]: (from: Store) => Promise<unknown> } = {
    list: (from) => from.list(),
    import: (from) => from.import(SAMPLE),
    create: (from) => from.create([{ type: "chat_request", content: "Too late?" }]),
    append: (from) => from.append(imported, [{ type: "chat_request", content: "Too late?" }]),
    compact: (from) => from.compact(imported),
    view: (from) => from.view(imported),
    history: (from) => from.history(imported),
    export: (from) => from.export(imported, { to: "jsonl" }),
    diff: (from) => from.diff(imported, "@..@"),
    show: (from) => from.show(imported),
    search: (from) => from.search("delimiter"),
    fork: (from) => from.fork(imported),
    revert: (from) => from.revert("nothing"),
  };

  it("makes every method say that the store is closed, and changes nothing after it", async () => {
    expect([...Object.keys(CALLS), "close", "path"].sort()).toEqual(Object.keys(store).sort());
    const before = await store.list({ forks: true });
    const other = await openStore(options);
    await other.close();
    for (const [name, call] of Object.entries(CALLS))
      await expect(call(other), name).rejects.toMatchObject({
        kind: "user",
        code: "store_closed",
        message: `The store ${other.path} was closed.`,
      });
    await other.close();
    expect(await store.list({ forks: true })).toEqual(before);
  });

  it("waits for what is running, and refuses what comes after the call", async () => {
    const other = await openStore(options);
    const running = Promise.allSettled([other.list(), other.create([{ type: "chat_request", content: "In time?" }])]);
    const closed = [other.close(), other.close()];
    await expect(other.list()).rejects.toMatchObject({ code: "store_closed" });
    await Promise.all(closed);
    const [, created] = await running;
    expect(created.status).toBe("fulfilled");
    const { conversation } = (created as PromiseFulfilledResult<{ conversation: string }>).value;
    expect((await store.list()).map(({ id }) => id)).toContain(conversation);
  });
});

describe("the loop", () => {
  it("imports, compacts, compares, undoes, as the command does", async () => {
    expect((await store.import([SAMPLE])).sessions).toMatchObject([{ id: imported, status: "unchanged" }]);
    const before = await store.view(imported);
    const dry = await store.compact(imported, {
      strategies: ["auto:protect=0", "truncate:head=0.7"],
      force: true,
      dryRun: true,
    });
    expect([dry.commit, await store.view(imported)]).toEqual([null, before]);
    const done = await store.compact(imported, { strategies: "auto:protect=0", force: true });
    expect(done.tokens.after).toBeLessThan(done.tokens.before);
    expect((await store.diff(imported)).hunks.length).toBeGreaterThan(0);
    const shown = await store.show(done.compaction!.id);
    expect(shown).toMatchObject({ kind: "compaction", live: true });
    expect(await store.view(imported)).not.toEqual(before);
    expect((await store.revert(done.compaction!.id)).reverted).toEqual([done.compaction!.id]);
    expect(await store.view(imported)).toEqual(before);
  });

  it("asks no model that was not named: a profile that summarises makes an extract", async () => {
    const { branch } = await store.fork(imported, { name: "extract" });
    const report = await store.compact(branch, { profile: "heavy", from: 17, to: 24, force: true });
    expect(report.compaction?.summary?.model).toBe("extractive");
  });

  it("takes bounds as positions or words, and refuses others", async () => {
    const range = { dryRun: true, force: true, profile: "light" };
    expect(await store.compact(imported, { ...range, from: 1, to: "3" })).toMatchObject({ from_turn: 1, to_turn: 3 });
    await expect(store.compact(imported, { ...range, from: "soon" })).rejects.toMatchObject({ code: "bad_bound" });
    await expect(store.compact(imported, { strategies: "classify-tangents" })).rejects.toMatchObject({
      code: "asks_a_person",
    });
    await expect(store.compact(imported, { strategies: ["auto:protect=5", "tiered:protect=6"] })).rejects.toMatchObject(
      {
        code: "contradictory_flags",
      },
    );
  });

  it("exports, searches and forks", async () => {
    const body = JSON.parse(await store.export(imported, { to: "anthropic", messages: true })) as {
      messages: unknown[];
    };
    expect(body.messages.length).toBeGreaterThan(1);
    await expect(store.export(imported, { to: "nowhere" })).rejects.toMatchObject({ code: "unknown_format" });
    const [hit] = await store.search("tidepool", { conversation: imported, limit: 1 });
    expect(hit).toMatchObject({ conversation: imported, turn: 0 });
    expect(await store.fork(imported, { name: "short", first: 2 })).toMatchObject({ turns: 2, activated: false });
    expect((await store.list({ forks: true })).map(({ branch }) => branch)).toContain(`${imported}/short`);
  });

  it("refuses a file that is no session, and names those of several that are none", async () => {
    const other = join(folder.path, "notes.jsonl");
    writeFileSync(other, "no session\n");
    await expect(store.import(other)).rejects.toMatchObject({ code: "not_a_session" });
    const { sessions, failed } = await store.import([other, SAMPLE]);
    expect([sessions.length, failed[0]!.error.code]).toEqual([1, "not_a_session"]);
    await expect(store.import([])).rejects.toMatchObject({ code: "usage" });
  });
});

describe("what is promised", () => {
  it("is what is exported, which changes only with the version", () => {
    expect(Object.keys(library).sort()).toMatchInlineSnapshot(`
      [
        "JpgError",
        "checkCoverage",
        "estimateView",
        "formatCompactionLine",
        "formatEventLine",
        "openStore",
        "parseCompactionLine",
        "parseEventLine",
        "project",
        "projectTurns",
        "splitTurns",
      ]
    `);
  });

  it("has these methods", () => {
    expect(Object.keys(store).sort()).toMatchInlineSnapshot(`
      [
        "append",
        "close",
        "compact",
        "create",
        "diff",
        "export",
        "fork",
        "history",
        "import",
        "list",
        "path",
        "revert",
        "search",
        "show",
        "view",
      ]
    `);
  });
});
