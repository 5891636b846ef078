// @module-tag law

import { readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listBranchFiles, listRefFiles, parsePackedRefs } from "../../../src/store/git/refs.ts";
import { runs } from "../../helpers/runs.ts";
import { createTempStore, git, type TempStore, writeText } from "../../helpers/temp-repository.ts";

let temp: TempStore;
let gitDir: string;
beforeEach(async () => {
  temp = await createTempStore();
  gitDir = join(temp.root, ".git");
});
afterEach(() => temp.remove());

const run = (args: readonly string[]): string => git(temp.root, temp.env, args).trim();
const commit = (message: string): string =>
  run(["commit-tree", "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "-m", message]);

/** What git says, in its order. */
function listed(): readonly { readonly name: string; readonly commit: string }[] {
  const text = run(["for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads/"]);
  return text.split("\n").flatMap((line) => {
    const [name = "", oid = ""] = line.split(" ");
    return name === "" ? [] : [{ name, commit: oid }];
  });
}

describe("listBranchFiles", () => {
  it("lists what git lists, whatever is packed, loose, moved since or gone", async () => {
    run(["hash-object", "-w", "-t", "tree", "/dev/null"]);
    const commits = [commit("a"), commit("b")];
    const name = fc.constantFrom("a/main", "a-b/main", "a/try", "a.b/main", "a/x/y", "plain", "B/main");
    const step = fc.oneof(
      fc.record({ put: name, at: fc.nat({ max: 1 }) }),
      fc.record({ drop: name }),
      fc.constant("pack" as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        run(["pack-refs", "--all"]);
        for (const done of steps) {
          if (done === "pack") run(["pack-refs", "--all"]);
          else if ("put" in done) run(["update-ref", `refs/heads/${done.put}`, commits[done.at] ?? ""]);
          else run(["update-ref", "-d", `refs/heads/${done.drop}`]);
        }
        const all = listed();
        expect(await listBranchFiles(gitDir)).toEqual(all.length === 0 ? null : all);
      }),
      { numRuns: runs(8) },
    );
  });

  it("leaves to git what is not plain", async () => {
    expect(await listBranchFiles(gitDir)).toBeNull();
    run(["hash-object", "-w", "-t", "tree", "/dev/null"]);
    run(["update-ref", "refs/heads/a/main", commit("a")]);
    expect(await listBranchFiles(gitDir)).toEqual(listed());
    run(["pack-refs", "--all"]);
    expect(await listBranchFiles(gitDir)).toEqual(listed());
    const file = join(gitDir, "refs", "heads", "b", "main");
    for (const text of ["garbage\n", "ref: refs/heads/a/main\n", `${"0".repeat(40)}\n`, `${"a".repeat(41)}\n`, ""]) {
      writeText(file, text);
      expect(await listBranchFiles(gitDir)).toBeNull();
    }
    rmSync(file);
    symlinkSync("../a/main", file);
    expect(await listBranchFiles(gitDir)).toBeNull();
    rmSync(file);
    expect(await listBranchFiles(gitDir)).toEqual(listed());
    const misnamed = join(gitDir, "refs", "heads", "b..c");
    writeText(misnamed, `${commit("a")}\n`);
    expect(await listBranchFiles(gitDir)).toBeNull();
    rmSync(misnamed);
    for (const name of ["HEAD", "config"]) {
      const path = join(gitDir, name);
      const whole = readFileSync(path, "utf8");
      writeText(path, "[garbage\n");
      expect(await listBranchFiles(gitDir)).toBeNull();
      writeText(path, whole);
    }
    expect(await listBranchFiles(gitDir)).toEqual(listed());
    for (let n = 0; n < 51; n++) run(["update-ref", `refs/heads/c/${n}`, "refs/heads/a/main"]);
    expect(await listBranchFiles(gitDir)).toBeNull();
    writeText(join(gitDir, "reftable", "tables.list"), "");
    run(["pack-refs", "--all"]);
    expect(await listBranchFiles(gitDir)).toBeNull();
  });
});

describe("parsePackedRefs", () => {
  it("reads refs of the folder alone, and nothing of a file that is damaged", () => {
    const [a, b] = ["a".repeat(40), "b".repeat(40)];
    const text = `# pack-refs with: peeled fully-peeled sorted \n${a} refs/heads/x/main\n${b} refs/tags/v1\n^${a}\n`;
    expect(parsePackedRefs(text, "refs/heads/")).toEqual([{ name: "x/main", commit: a }]);
    expect(parsePackedRefs("", "refs/heads/")).toEqual([]);
    expect(parsePackedRefs(`${text}${a} refs/heads/y`, "refs/heads/")).toBeNull();
    expect(parsePackedRefs(`${text}garbage\n`, "refs/heads/")).toBeNull();
    expect(parsePackedRefs(`${text}${"z".repeat(40)} refs/heads/y\n`, "refs/heads/")).toBeNull();
  });
});

describe("listRefFiles", () => {
  it("lists what git lists below a folder, which may be empty or not there", async () => {
    run(["hash-object", "-w", "-t", "tree", "/dev/null"]);
    const [one, other] = [commit("a"), commit("b")];
    const below = (folder: string): unknown[] =>
      run(["for-each-ref", "--format=%(refname) %(objectname)", folder])
        .split("\n")
        .flatMap((line) => {
          const [ref = "", oid] = line.split(" ");
          return ref === "" ? [] : [{ name: ref.slice(folder.length), commit: oid }];
        });
    expect(await listRefFiles(gitDir, "refs/remotes/team/")).toEqual([]);
    for (const ref of [
      "heads/a/main",
      "remotes/team/a/main",
      "remotes/team/b/main",
      "remotes/team2/a/main",
      "trash/x/a/main",
    ])
      run(["update-ref", `refs/${ref}`, one ?? ""]);
    run(["pack-refs", "--all"]);
    run(["update-ref", "refs/remotes/team/a/main", other ?? ""]);
    run(["update-ref", "refs/remotes/team/0/main", other ?? ""]);
    for (const folder of ["refs/remotes/team/", "refs/remotes/team2/", "refs/trash/", "refs/remotes/nobody/"])
      expect(await listRefFiles(gitDir, folder)).toEqual(below(folder));
    expect((await listRefFiles(gitDir, "refs/remotes/team/"))?.map(({ name }) => name)).toEqual([
      "0/main",
      "a/main",
      "b/main",
    ]);
  });

  it("leaves to git a symbolic ref, and a folder that leads elsewhere", async () => {
    run(["hash-object", "-w", "-t", "tree", "/dev/null"]);
    run(["update-ref", "refs/remotes/team/a/main", commit("a")]);
    for (const folder of [
      "refs/remotes/../remotes/team/",
      "refs/remotes/te*/",
      "refs/remotes//",
      "refs/remotes/./team/",
    ])
      expect(await listRefFiles(gitDir, folder)).toBeNull();
    run(["symbolic-ref", "refs/remotes/team/HEAD", "refs/remotes/team/a/main"]);
    expect(await listRefFiles(gitDir, "refs/remotes/team/")).toBeNull();
  });
});
