// What a command loads before it does anything, read off the bundle: a group too much costs it what a third of an empty node does.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const CHUNKS = fileURLToPath(new URL("../../dist/chunks/", import.meta.url));
const read = (file: string): string => readFileSync(CHUNKS + file, "utf8");
/** A chunk's name without its hash. */
const named = (file: string): string => file.replace(/-[\w-]{8}\.cjs$/, "");
const main = readFileSync(`${CHUNKS}../cli/main.cjs`, "utf8");
/** What main.cjs loads: older builds may lie beside it. */
const table = read(/every-command-[\w-]{8}\.cjs/.exec(main)?.[0] ?? "");

/** The chunks that node loads with a command's own, by name. */
function loadedBy(command: string): readonly string[] {
  const own = new RegExp(`\\b${command}:\\(\\)=>[^,]*?\\brequire\\("\\./([^"]+)"`).exec(table)?.[1];
  if (own === undefined) throw new Error(`no ${command} in the table of commands`);
  const loaded = new Set([own]);
  for (const file of loaded)
    for (const [, next = ""] of read(file).matchAll(/=require\("\.\/([^"]+\.cjs)"\)/g)) loaded.add(basename(next));
  return [...loaded].map(named);
}

describe("the bundle", () => {
  it.each(["ls", "log", "print", "stats", "show", "diff"])("loads no settings and no query for jpg %s", (command) => {
    const loaded = loadedBy(command);
    expect(loaded).toEqual(expect.arrayContaining(["every-command", "reading"]));
    for (const group of ["settings", "models", "query"]) expect(loaded).not.toContain(group);
  });

  it("loads for jpg query what it asks with, nothing that compares views, and no schema of the settings", () => {
    const loaded = loadedBy("query");
    expect(loaded).toEqual(expect.arrayContaining(["every-command", "reading", "models"]));
    for (const group of ["settings", "planning"]) expect(loaded).not.toContain(group);
  });

  it("loads for jpg compact one file of its own, and no schema of the settings", () => {
    expect(loadedBy("compact").toSorted()).toEqual(
      ["compacting", "every-command", "models", "planning", "reading", "rolldown-runtime"].toSorted(),
    );
  });

  it.each(["log", "show"])("loads for jpg %s no file of a few lines", (command) => {
    const groups = ["every-command", "log", "planning", "reading", "rolldown-runtime", "show"];
    expect(groups).toEqual(expect.arrayContaining([...loadedBy(command)]));
  });

  it("is ASCII, which node reads fastest", () => {
    for (const [file] of table.matchAll(/[\w-]+-[\w-]{8}\.cjs/g)) expect(read(file)).toMatch(/^[\0-\x7f]*$/);
  });
});
