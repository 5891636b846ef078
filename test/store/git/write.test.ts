import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openNativeStore } from "../../../src/store/git/store.ts";
import { createDeltaBase, formatMessage, parseMarks, quotePath } from "../../../src/store/git/write.ts";
import { formatSignature } from "../../../src/store/ref-files.ts";
import type { ConversationStore } from "../../../src/store/store.ts";
import { append, commit, file, readText } from "../../helpers/store-writes.ts";
import { createTempStore, git, type TempStore } from "../../helpers/temp-repository.ts";

const ids = ["a".repeat(40), "b".repeat(40)];

describe("parseMarks", () => {
  it("leaves out what git printed of blobs, whatever they hold", () => {
    const blob = `${ids[1]}\n${ids[1]} blob 9\nä\n`;
    const printed = `${ids[1]} blob ${Buffer.byteLength(blob)}\n${blob}\n`;
    const answer = Buffer.from(`${ids[0]}\n${printed}${printed}${ids[1]}\n`).toString("latin1");
    expect(parseMarks(answer)).toEqual(ids);
  });

  it("gives what is there where git ended early", () => {
    expect(parseMarks(`${ids[0]}\n${ids[1]}`)).toEqual(ids);
    expect(parseMarks(`${ids[0]}\n${ids[1]} blob 100\n{`)).toEqual([ids[0]]);
    expect(parseMarks("")).toEqual([]);
  });
});

describe("createDeltaBase", () => {
  const bytes = (count: number): Uint8Array => new Uint8Array(count);

  it("names a small blob before a file that would be a delta of a long one of another commit", () => {
    const base = createDeltaBase();
    expect(base.before(bytes(3), true)).toBe("");
    expect(base.before(bytes(100_000), true)).toBe("");
    // printf '\0\0\0' | git hash-object --stdin
    expect(base.before(bytes(90_000), true)).toBe("cat-blob 4227ca4e8736af63036e7457e2db376ddf7e5795\n");
  });

  it("lets a file be a delta of one of its commit that is about as long, and of any that is short", () => {
    const base = createDeltaBase();
    base.before(bytes(3), true);
    expect(base.before(bytes(40_000), true)).toBe("");
    expect(base.before(bytes(100_000), false)).toBe("");
    expect(base.before(bytes(30_000), false)).toBe("");
    expect(base.before(bytes(2000), false)).not.toBe("");
    expect(base.before(bytes(3000), true)).toBe("");
  });

  it("sends nothing where nothing small was sent yet", () => {
    const base = createDeltaBase();
    base.before(bytes(100_000), true);
    expect(base.before(bytes(2000), true)).toBe("");
  });
});

describe("a write", () => {
  let temp: TempStore;
  let store: ConversationStore;
  beforeEach(async () => {
    temp = await createTempStore();
    store = await openNativeStore(temp);
  });
  afterEach(async () => {
    await store.close();
    temp.remove();
  });

  it("names what is missing or no commit, and moves nothing", async () => {
    const missing = "1234567890123456789012345678901234567890";
    const write = { branch: "t/main", expected: null, parent: missing, commits: [commit("x", [file("x", "1")])] };
    await expect(store.write([write])).rejects.toMatchObject({ kind: "repository" });
    const { commit: parent } = await append(store, "u/main", [commit("root", [file("x", "1")])]);
    const named = { ...write, parent, commits: [commit("y", [{ path: "y", oid: missing }])] };
    await expect(store.write([named])).rejects.toMatchObject({ code: "object_missing" });
    const merged = { ...write, parent, commits: [{ ...commit("z", [file("z", "1")]), merges: [missing] }] };
    await expect(store.write([merged])).rejects.toMatchObject({ kind: "repository" });
    expect(await store.readBranch("t/main")).toBeNull();
  });

  it("stores turns whole and their long sources as deltas of them", async () => {
    const said = (turn: number): string =>
      Array.from({ length: 400 }, (_, line) => `{"turn":${turn},"line":${line},"text":"${"word ".repeat(12)}"}\n`).join(
        "",
      );
    const commits = Array.from({ length: 40 }, (_, turn) =>
      commit(`turn ${turn}`, [file(`turns/${turn}`, said(turn)), file(`sources/${turn}`, `[${said(turn)}]`)], turn),
    );
    const result = await append(store, "long/main", [commit("root", [file("conversation.json", "{}\n")]), ...commits]);
    expect(result.commits).toEqual(git(temp.root, temp.env, ["rev-list", "--reverse", "long/main"]).split("\n"));
    expect(await readText(store, "long/main", "turns/7")).toBe(said(7));
    const tree = git(temp.root, temp.env, ["ls-tree", "-r", "long/main"]).split("\n");
    const paths = new Map(tree.map((line) => line.split(/\s/).slice(2) as [string, string]));
    const packs = join(temp.root, ".git/objects/pack");
    const indexes = readdirSync(packs).filter((name) => name.endsWith(".idx"));
    const objects = git(packs, temp.env, ["verify-pack", "-v", ...indexes]).split("\n");
    // id, type, size, size in the pack, offset; of a delta its depth and base, too.
    const deltas = objects.flatMap((line) => {
      const [oid = "", , , , , depth] = line.split(/ +/);
      const path = paths.get(oid);
      return depth === undefined || path === undefined ? [] : [path];
    });
    expect(deltas.sort()).toEqual(commits.map((_, turn) => `sources/${turn}`).sort());
    expect(git(temp.root, temp.env, ["fsck", "--no-progress"])).toBe("");
  });
});

describe("formatSignature", () => {
  it("writes zones as git does", () => {
    const person = { name: "A", email: "a@b", seconds: 100 };
    expect(formatSignature(person)).toBe("A <a@b> 100 +0000");
    expect(formatSignature({ ...person, offsetMinutes: 330 })).toBe("A <a@b> 100 +0530");
    expect(formatSignature({ ...person, offsetMinutes: -90 })).toBe("A <a@b> 100 -0130");
  });

  it("keeps out what would break the line, and dates before 1970", () => {
    expect(formatSignature({ name: "A <x>\n", email: "a>b", seconds: -5.5 })).toBe("A x <ab> 0 +0000");
  });
});

describe("formatMessage", () => {
  it("ends in one line end", () => {
    expect(formatMessage("a\n\nb\n\n")).toBe("a\n\nb\n");
    expect(formatMessage("a\0b")).toBe("ab\n");
  });
});

describe("quotePath", () => {
  it("escapes quotes, backslashes and line ends, and keeps the rest", () => {
    expect(quotePath('ü "x"\\y\nz')).toBe('"ü \\"x\\"\\\\y\\nz"');
  });

  it("refuses what is no path in a tree", () => {
    for (const path of ["", "a//b", "a/../b", ".GIT/hooks/x", "a\0"]) {
      expect(() => quotePath(path)).toThrow(expect.objectContaining({ code: "bad_path" }));
    }
  });
});
