// The whole machine: what is in several projects and in none, and what keeps it.
// @module-tag slow
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createSandbox, type Sandbox, smallSession } from "../helpers/run-jpg.ts";

interface Row {
  readonly id: string;
  readonly title: string;
  readonly project: string | null;
  readonly session?: { readonly path: string };
}

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.remove());

const idOf = (end: string): string => `5e551073-0000-4000-8000-0000000000${end}`;

/** Keeps a session that was begun in a directory where the agent keeps it, last changed so many days ago. */
function keep(directory: string, end: string, daysAgo: number): string {
  const folder = join(sandbox.home, ".claude/projects", directory.replace(/[^A-Za-z0-9]/g, "-"));
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${idOf(end)}.jsonl`);
  const lines = smallSession({ id: idOf(end) })
    .toString()
    .replace(/"cwd":"[^"]*"/g, `"cwd":${JSON.stringify(directory)}`);
  writeFileSync(path, lines);
  const changed = (Date.now() - daysAgo * 24 * 3600 * 1000) / 1000;
  utimesSync(path, changed, changed);
  return path;
}

function newProject(name: string): string {
  const directory = join(sandbox.root, name);
  mkdirSync(directory);
  sandbox.git(["init", "-q"], directory);
  return directory;
}

it("is listed by project, imported or not, and each session is kept where a hook would put it", async () => {
  const other = newProject("other");
  const loose = join(sandbox.root, "loose");
  const gone = join(sandbox.root, "gone");
  mkdirSync(loose);
  keep(sandbox.project, "a1", 1);
  keep(other, "b2", 20.5);
  keep(loose, "c3", 2);
  keep(gone, "d4", 3);
  await sandbox.jpg(["import"]);
  const before = await sandbox.json<Row[]>(["ls", "--all"]);
  const state = (rows: readonly Row[]) =>
    rows.map(({ project, session }) => [project, session === undefined ? "kept" : "new"]).sort();
  expect(state(before)).toEqual(
    [
      [sandbox.project, "kept"],
      [other, "new"],
      [null, "new"],
      [null, "new"],
    ].sort(),
  );
  expect(existsSync(join(other, ".git/jpg"))).toBe(false);
  const said = await sandbox.jpg(["--all"]);
  expect(said.stdout).toMatch(/^AGE +AGENT +PROJECT +TITLE/);
  expect(said.stderr).toContain(
    "3 sessions will be deleted by Claude Code, the first in 9 days: `jpg sync --all` keeps them",
  );
  expect(await sandbox.jpg(["sync", "--all"])).toMatchObject({ code: 0 });
  const after = await sandbox.json<Row[]>(["ls", "--all"]);
  expect(state(after)).toEqual(state(before).map(([project]) => [project, "kept"]));
  expect(existsSync(join(other, ".git/jpg"))).toBe(true);
  expect([readdirSync(loose), existsSync(gone)]).toEqual([[], false]);
  expect((await sandbox.jpg(["sync", "--all"])).stderr).toContain("Everything on this machine is kept already.");
});

it("knows a project whose sessions the agent has deleted, and one store that cannot be read hides no other", async () => {
  const other = newProject("other");
  rmSync(keep(other, "b2", 1).replace(/[^/]+$/, ""), { recursive: true });
  const path = keep(other, "b2", 1);
  await sandbox.jpg(["sync", "--all"]);
  rmSync(path);
  expect(await sandbox.json<Row[]>(["ls", "--all"])).toMatchObject([{ project: other }]);
  keep(sandbox.project, "a1", 1);
  writeFileSync(join(other, ".git/jpg/.git/HEAD"), "nonsense");
  const { stdout, stderr } = await sandbox.jpg(["ls", "--all"]);
  expect(stdout).toMatch(/ new$/m);
  expect(stderr).toContain(`The store of ${other} cannot be read`);
});

it("is nothing on a new machine, and cannot be mixed with what is of one store", async () => {
  expect(await sandbox.jpg(["ls", "--all"])).toMatchObject({ code: 1, stdout: "" });
  for (const words of [
    ["ls", "--all", "--archived"],
    ["sync", "--all", "--watch"],
    ["sync", "--all", "x.jsonl"],
  ])
    expect((await sandbox.jpg(words)).code, words.join(" ")).toBe(2);
  expect(existsSync(sandbox.store)).toBe(false);
});
