// Objects read from git's files: the same bytes as git gives, and nothing where git could see it otherwise.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createObjectFiles, type ObjectFiles } from "../../../src/store/git/object-files.ts";
import { createBlobReader } from "../../../src/store/git/objects.ts";
import type { RawObject } from "../../../src/store/git/pack-file.ts";
import { isWindows } from "../../helpers/platform.ts";
import { createTempStore, git, type TempStore } from "../../helpers/temp-repository.ts";

let temp: TempStore;
let files: ObjectFiles;
beforeEach(async () => {
  temp = await createTempStore();
  files = createObjectFiles(join(temp.root, ".git"));
});
afterEach(() => {
  files.close();
  temp.remove();
});
const run = (args: readonly string[], input?: string): string => git(temp.root, temp.env, args, input);
const put = (text: string): string => run(["hash-object", "-w", "--stdin"], text);
const reread = (): ObjectFiles => {
  files.close();
  return files;
};
const packFolder = (): string => join(temp.root, ".git/objects/pack");

/** Commits versions of files, each a little other than the one before, and gives all texts. */
function commitVersions(count: number, seed = ""): string[] {
  const texts: string[] = [];
  for (let version = 0; version < count; version++) {
    const lines = Array.from(
      { length: 400 },
      (_, at) => `${seed} line ${at} ${(at * 7919 + (at % 12 <= version ? 1 : 0)) % 104729} é`,
    );
    texts.push(`${lines.join("\n")}\nversion ${version}`);
    writeFileSync(join(temp.root, "grown.txt"), texts[version] ?? "");
    run(["add", "--force", "grown.txt"]);
    run(["commit", "--quiet", "--message", `version ${version}`]);
  }
  return texts;
}

/** An object's id is the hash of all it holds. */
function objectId(object: RawObject | null): string {
  if (object === null) return "";
  return createHash("sha1").update(`${object.type} ${object.bytes.length}\0`).update(object.bytes).digest("hex");
}

function expectAsGit(reader: ObjectFiles): { readonly kinds: Set<string>; readonly count: number } {
  const list = run(["cat-file", "--batch-all-objects", "--batch-check"]).split("\n");
  const kinds = new Set<string>();
  for (const [oid = "", type = ""] of list.map((line) => line.split(" "))) {
    const object = reader.read(oid);
    expect(object?.type).toBe(type);
    expect(objectId(object)).toBe(oid);
    expect(reader.size(oid)).toBe(object?.bytes.length);
    kinds.add(type);
  }
  return { kinds, count: list.length };
}

describe("createObjectFiles", () => {
  it("reads what git wrote: loose, packed, as deltas of either kind and in several packs", () => {
    commitVersions(12);
    expect(expectAsGit(files)).toMatchObject({ kinds: new Set(["blob", "commit", "tree"]) });
    run(["repack", "-adfq", "--depth=50", "--window=2"]);
    expect(run(["verify-pack", "--verbose", join(packFolder(), packs()[0] ?? "")])).toMatch(/chain length = [2-9]/);
    expectAsGit(reread());
    commitVersions(3, "other");
    run(["repack", "-dq"]);
    expect(packs()).toHaveLength(2);
    expectAsGit(reread());
    run(["-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq", "--depth=50"]);
    expectAsGit(reread());
  });
  const packs = (): string[] => readdirSync(packFolder()).filter((name) => name.endsWith(".idx"));

  it("reads any bytes, trees too", async () => {
    const blob = fc.uint8Array({ maxLength: 5000 });
    const oids = new Map<string, Uint8Array>();
    for (const bytes of fc.sample(blob, 40)) {
      writeFileSync(join(temp.root, "any"), bytes);
      oids.set(run(["hash-object", "-w", "--no-filters", "any"]), bytes);
    }
    const names = [...oids.keys()];
    run(["update-ref", "refs/heads/any", run(["commit-tree", "-m", "any", treeOf(names)])]);
    const same = (): void => {
      for (const [oid, bytes] of oids) expect(reread().read(oid)?.bytes.equals(bytes)).toBe(true);
    };
    same();
    run(["repack", "-adfq"]);
    same();
  });
  const treeOf = (oids: readonly string[]): string =>
    run(["mktree"], oids.map((oid, index) => `100644 blob ${oid}\tf${index}\n`).join(""));

  it("gives the start of a long object where that is all that is asked for", () => {
    const text = Array.from({ length: 9000 }, (_, at) => `line ${at * 7919}`).join("\n");
    const oid = commitBlob(text);
    run(["repack", "-adq"]);
    const start = files.read(oid, 1000)?.bytes;
    expect(start?.length).toBeGreaterThanOrEqual(1000);
    expect(start?.length).toBeLessThan(text.length / 2);
    expect(text.startsWith(start?.toString() ?? "-")).toBe(true);
    expect(files.read(oid)?.bytes.toString()).toBe(text);
    expect(files.read(oid, 1_000_000)?.bytes.toString()).toBe(text);
  });
  function commitBlob(text: string): string {
    writeFileSync(join(temp.root, "one.txt"), text);
    run(["add", "--force", "one.txt"]);
    run(["commit", "--quiet", "--message", "one"]);
    return run(["rev-parse", "HEAD:one.txt"]);
  }

  it("finds a pack that was made after it began to read", () => {
    expect(files.read(commitBlob("before"))?.bytes.toString()).toBe("before");
    const oid = commitBlob("after");
    run(["repack", "-adq"]);
    expect(files.read(oid)?.bytes.toString()).toBe("after");
  });

  it("leaves to git what is missing, replaced, in other places, or no object id of its own kind", () => {
    const [oid, other] = [put("one"), put("two")];
    expect(files.read("12".repeat(20))).toBeNull();
    expect(files.read("12".repeat(32))).toBeNull();
    run(["replace", oid, other]);
    expect(reread().read(oid)).toBeNull();
    run(["pack-refs", "--all"]);
    rmSync(join(temp.root, ".git/refs/replace"), { recursive: true, force: true });
    expect(reread().read(oid)).toBeNull();
  });

  it("leaves to git what is damaged, and git says so", async () => {
    const oid = commitBlob("long enough to be more than a header in its pack ".repeat(50));
    run(["repack", "-adq"]);
    const pack = join(packFolder(), readdirSync(packFolder()).find((name) => name.endsWith(".pack")) ?? "");
    const whole = readFileSync(pack);
    chmodSync(pack, 0o644);
    for (const damage of [
      (bytes: Buffer) => bytes.fill(0x55, 12, bytes.length - 20),
      (bytes: Buffer) => bytes.subarray(0, 20),
    ]) {
      writeFileSync(pack, damage(Buffer.from(whole)));
      expect(reread().read(oid)).toBeNull();
    }
    const reader = createBlobReader({ gitDir: join(temp.root, ".git"), cwd: temp.root, env: temp.env });
    const readAll = async (): Promise<void> => {
      for await (const bytes of reader.readAll([oid])) expect(bytes.length).toBe(-1);
    };
    await expect(readAll()).rejects.toMatchObject({ kind: "repository" });
    await reader.close();
  });
});

describe("a store that a stranger made", () => {
  it.skipIf(isWindows)(
    "has pipes for packs: they are skipped, and so is the index or pack of a sound one (POSIX)",
    () => {
      mkdirSync(packFolder(), { recursive: true });
      const oid = put("text");
      const pipe = (name: string): void =>
        void execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", join(packFolder(), name)]);
      pipe("pack-1.idx");
      pipe("pack-1.pack");
      run(["commit", "--quiet", "--allow-empty", "-m", "one"]);
      run(["repack", "-a", "-d", "-q"]);
      const index = readdirSync(packFolder()).find(
        (name) => name.startsWith("pack-") && name.length > 20 && name.endsWith(".idx"),
      );
      writeFileSync(join(packFolder(), "pack-2.idx"), readFileSync(join(packFolder(), index ?? "")));
      pipe("pack-2.pack");
      symlinkSync(join(packFolder(), "pack-2.pack"), join(packFolder(), "pack-3.idx"));
      expect(reread().read(oid)?.bytes.toString()).toBe("text");
      expect(reread().read("0".repeat(40))).toBeNull();
    },
  );
});
