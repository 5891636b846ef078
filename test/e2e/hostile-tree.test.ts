// A clone of a stranger's conversation whose tree holds links where jpg writes its views: no file outside is touched.
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isWindows } from "../helpers/platform.ts";
import { copyImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { type JpgResult, type Sandbox, smallSession } from "../helpers/run-jpg.ts";

const JPG = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));

let box: Sandbox & { readonly conversation: string };
let target: string;
let clone: string;

beforeEach(async () => {
  box = await copyImportedSandbox(4);
  target = join(box.home, ".bashrc");
  clone = join(box.root, "clone");
  writeFileSync(target, "# mine\n");
});
afterEach(() => box.remove());

/** Commits what `plant` puts into a stranger's tree, and clones that. */
function cloneWith(plant: (folder: string) => void): void {
  const evil = join(box.root, "evil");
  const branch = box.git(["symbolic-ref", "--short", "HEAD"]);
  box.git(["clone", "--quiet", box.store, evil], box.root);
  plant(evil);
  box.git(["add", "--all", "--force"], evil);
  box.git(["commit", "--quiet", "-m", "compact 0..3: reasoning stripped"], evil);
  box.git(["clone", "--quiet", "--branch", branch, evil, clone], box.root);
}

function compactInClone(): Promise<JpgResult> {
  return box.jpg(["compact", "--keep", "0"], { cwd: clone });
}

it("a link whose name somebody foresaw is not written through", async () => {
  cloneWith((folder) => writeFileSync(join(folder, "notes"), "anything"));
  // The process's number is known beforehand here; a tree with links for all 32768 of them does the same.
  const script = 'ln -s "$1" "VIEW.md.$$.tmp" && shift && exec "$@"';
  const command = [process.execPath, JPG, "compact", "--keep", "0"];
  execFileSync("sh", ["-c", script, "sh", target, ...command], { cwd: clone, env: box.env, stdio: "pipe" });
  expect(readFileSync(target, "utf8")).toBe("# mine\n");
  expect(lstatSync(join(clone, "VIEW.md")).isFile()).toBe(true);
});

it.each(["VIEW.md", "view.jsonl"])("a link at the place of %s is replaced, not followed", async (name) => {
  cloneWith((folder) => symlinkSync(target, join(folder, name)));
  expect(await compactInClone()).toMatchObject({ code: 0 });
  expect(lstatSync(join(clone, name)).isFile()).toBe(true);
  expect(readFileSync(target, "utf8")).toBe("# mine\n");
});

it.each(["VIEW.md", "view.jsonl"])("a turn is not added through a link that took the place of %s", async (name) => {
  const view = join(box.store, name);
  const text = "x".repeat(readFileSync(view).length);
  writeFileSync(target, text);
  await rm(view);
  symlinkSync(target, view);
  const grown = box.session("small.jsonl", smallSession({ turns: 5 }));
  expect(await box.jpg(["import", grown])).toMatchObject({ code: 0 });
  expect(readFileSync(target, "utf8")).toBe(text);
  expect(readFileSync(view, "utf8")).toContain("Request 4");
});

it.skipIf(isWindows)(
  "a pipe and a folder at the places of the views neither hold a command up nor take what was committed back (POSIX)",
  async () => {
    cloneWith((folder) => {
      mkdirSync(join(folder, "VIEW.md"));
      writeFileSync(join(folder, "VIEW.md", "x"), "x");
    });
    execFileSync("sh", ["-c", "mkfifo view.jsonl"], { cwd: clone });
    const { code, stderr } = await compactInClone();
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning: .*something else is in the place of VIEW.md or view.jsonl/m);
    expect(box.git(["log", "-1", "--format=%s"], clone)).toMatch(/^compact /);
  },
);

it("folders that are links take no file of jpg's", async () => {
  const outside = join(box.root, "outside");
  mkdirSync(outside);
  const branch = box.git(["symbolic-ref", "--short", "HEAD"]);
  cloneWith((folder) => {
    // What a compaction would write to, were it written by name.
    symlinkSync(outside, join(folder, "config"));
  });
  await box.jpg(["use", branch], { cwd: clone });
  expect(await compactInClone()).toMatchObject({ code: 0 });
  await box.jpg(["compact", "--keep", "1", "--cfg", "conversation.compaction.keep_last=1"], { cwd: clone });
  expect(readdirSync(outside)).toEqual([]);
});

it("hooks are written to a folder of the store's own, through no link", async () => {
  const hooks = join(box.store, ".git", "hooks");
  const outside = join(box.root, "outside");
  mkdirSync(outside);
  await rm(hooks, { recursive: true });
  mkdirSync(hooks);
  symlinkSync(join(outside, "program"), join(hooks, "post-commit.new"));
  expect(await box.jpg(["init"])).toMatchObject({ code: 0 });
  expect(existsSync(join(outside, "program"))).toBe(false);
  await rm(hooks, { recursive: true });
  symlinkSync(outside, hooks);
  expect(await box.jpg(["init"])).toMatchObject({ code: 3 });
  expect(readdirSync(outside)).toEqual([]);
});
