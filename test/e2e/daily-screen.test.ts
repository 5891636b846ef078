// `jpg` alone in a real terminal: the list, its keys, and the terminal after it.
// @module-tag slow
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox, smallSession } from "../helpers/run-jpg.ts";
import { openPane, type Pane, tmuxMissing } from "../helpers/tmux.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));

let sandbox: Sandbox;
let pane: Pane;
beforeEach(async () => {
  sandbox = createSandbox();
  keep("f1", "Measure the tide at the pier");
  await sandbox.jpg(["import"]);
  keep("f2", "Paint \u001b[2J\u001b]0;owned\u0007 the wall");
});
afterEach(() => {
  pane.close();
  sandbox.remove();
});

function keep(end: string, request: string): void {
  const folder = join(sandbox.home, ".claude/projects", sandbox.project.replace(/[^A-Za-z0-9]/g, "-"));
  mkdirSync(folder, { recursive: true });
  const id = `5e551073-0000-4000-8000-0000000000${end}`;
  const said = smallSession({ id })
    .toString()
    .replace("Measure the tide at the pier", JSON.stringify(request).slice(1, -1))
    // So much that a list's rounded figures change when it is hidden.
    .replaceAll("the gauge at the pier is read first", "the gauge is read and read again. ".repeat(600));
  writeFileSync(join(folder, `${id}.jsonl`), said);
}

async function open(): Promise<void> {
  start();
  await pane.shows(/q quit/);
}

function start(...words: readonly string[]): void {
  const programs = [join(sandbox.home, "bin"), process.env["PATH"] ?? ""].join(":");
  const env = { ...sandbox.env, PATH: programs, TERM: "screen" } as Record<string, string>;
  pane = openPane([process.execPath, BIN, ...words], { cwd: sandbox.project, env, columns: 80 });
}

/** Filters by a word, and leaves the filter. */
async function choose(word: string): Promise<void> {
  pane.type("/", word);
  await pane.shows(`/${word}`);
  pane.type("Enter");
}

describe.skipIf(tmuxMissing !== null)("jpg alone on a terminal (tmux)", () => {
  it("lists what is imported and what is not, on 80 columns, without a stranger's control sequences", async () => {
    await open();
    const screen = pane.visible();
    expect(screen).toMatch(/^[ >] +\S+ +claude +Paint .*the wall .* new$/m);
    expect(screen).toMatch(/^[ >] +\S+ +claude +Measure the tide at the pier .*\*\w{4}$/m);
    expect(screen.split("\n").every((line) => line.length <= 80)).toBe(true);
    expect(pane.sent()).not.toContain("\u001b]0;");
    pane.type("q");
    await pane.shows("left with 0");
  });

  it("filters, and imports a session when something is to be done with it", async () => {
    await open();
    pane.type("/");
    pane.type("paint");
    await pane.shows("/paint");
    expect(pane.visible()).toMatch(/^type words of a row {2}enter keep the filter {2}esc all rows$/m);
    expect(pane.visible()).not.toContain("Measure");
    pane.type("Enter");
    pane.type("s");
    const shown = await pane.shows("any key: back to the list");
    expect(shown).toMatch(/\$ jpg show paint-\S+\/main/);
    expect(await sandbox.json<unknown[]>(["ls"])).toHaveLength(2);
  });

  it("finds a word of a title that the line has no room for", async () => {
    keep("f3", `Describe ${"the long wall, ".repeat(3)}and the lighthouse`);
    await open();
    expect(pane.visible()).not.toContain("lighthouse");
    pane.type("/");
    pane.type("lighthouse");
    await pane.shows("/lighthouse");
    expect(pane.visible()).toContain("Describe the long");
    expect(pane.visible()).not.toContain("Measure");
  });

  it("asks before it compacts and undoes, and comes back to the same row with its figures", async () => {
    await open();
    await choose("measure");
    pane.type("c");
    expect(await pane.shows("Compact it? [y/N]")).toContain("Would compact measure-");
    pane.type("Enter");
    await pane.shows(/^> .*Measure the tide .*\n[\s\S]*q quit/m);
    expect(await sandbox.json<unknown[]>(["log"])).toEqual([]);
    pane.type("c");
    await pane.shows("Compact it? [y/N]");
    pane.type("y", "Enter");
    await pane.shows("any key: back to the list");
    expect(await sandbox.json<unknown[]>(["log"])).toHaveLength(1);
    pane.type("x");
    await pane.shows(/^> .*Measure the tide .*→.*\n[\s\S]*q quit/m);
    pane.type("u");
    expect(await pane.shows("Undo it? [y/N]")).toMatch(/The newest compaction of measure-[\s\S]* compact 0/);
    pane.type("y", "Enter");
    await pane.shows("any key: back to the list");
    pane.type("Escape");
    await pane.shows(/^> .*Measure the tide (?!.*→).*\n[\s\S]*q quit/m);
    pane.type("u");
    await pane.shows("no live compaction to undo");
    pane.type("C-c");
    expect(await pane.shows("left with 0")).toMatch(/ icanon/);
  });

  it("names the chosen conversation in what comes next where another one is active, and reviews it with d", async () => {
    await sandbox.jpg(["import"]);
    await sandbox.jpg(["use", "measure"]);
    await open();
    await choose("paint");
    pane.type("c");
    await pane.shows("Compact it? [y/N]");
    pane.type("y", "Enter");
    const done = await pane.shows("any key: back to the list");
    const [, id = "-"] = /What is hidden: jpg diff (\w{4}) --stat/.exec(done) ?? [];
    expect(done).toMatch(new RegExp(`^Continue: jpg resume ${id} --exec$`, "m"));
    expect(done).toMatch(new RegExp(`^Undo: jpg undo ${id}$`, "m"));
    pane.type("x");
    await pane.shows(/q quit/);
    pane.type("d");
    expect(await pane.shows(/jpg diff --stat paint-[\s\S]*any key: back/)).toMatch(/compacted/i);
  });

  it("opens the page of the chosen conversation", async () => {
    await open();
    await choose("measure");
    pane.type("w");
    await pane.shows(/http:\/\/127\.0\.0\.1:\d+\/\w+\/c\/measure-\w[^ ]*%2Fmain\?token=/);
    // Once the pages are no longer served, the list is there again, at the same row.
    pane.type("C-c");
    await pane.shows(/^> .*Measure the tide .*\n[\s\S]*q quit/m);
  });

  it("says which program failed, on what, and how to start it again, and comes back to the same row", async () => {
    const folder = join(sandbox.home, "bin");
    mkdirSync(folder);
    writeFileSync(join(folder, "claude"), "#!/bin/sh\necho no licence >&2\nexit 3\n", { mode: 0o755 });
    await open();
    await choose("measure");
    pane.type("r");
    await pane.shows("Start Claude Code with it now? [Y/n]");
    pane.type("Enter");
    const failed = await pane.shows("any key: back to the list");
    expect(failed).toContain("no licence");
    expect(failed).toMatch(/claude ended with exit code 3\. It was to continue\s+"Measure the tide/);
    expect(failed).toMatch(/To start it again:\s+claude --resume/);
    pane.type("x");
    await pane.shows(/^> .*Measure the tide .*\n[\s\S]*q quit/m);
  });

  it("names the newest conversation in what comes next after an import", async () => {
    start("import", "--all");
    const shown = await pane.shows("left with 0");
    const [conversation] = (await sandbox.json<{ id: string }[]>(["ls"])).filter(({ id }) => id.startsWith("paint"));
    const name = conversation?.id.split("-").at(-1);
    expect(shown.replace(/\s+/g, " ")).toContain(`Next: \`jpg compact ${name} && jpg resume ${name} --exec\` goes on`);
  });

  it("says which key Enter is, and what the star means", async () => {
    await open();
    expect(pane.visible()).toContain("enter resume");
    expect(pane.visible()).toContain("* the active conversation");
  });

  it("shows the whole machine and comes back", async () => {
    await open();
    pane.type("Tab");
    await pane.shows("PROJECT");
    pane.type("Tab");
    await pane.shows("tab machine");
    pane.type("Escape");
    await pane.shows("left with 0");
  });

  it.each([
    ["q", 0],
    ["Escape", 0],
    ["C-c", 0],
  ])("leaves the terminal as it was after %s", async (key, code) => {
    await open();
    pane.type(key);
    const after = await pane.shows(`left with ${code}`);
    expect(after).toMatch(/ icanon/);
    expect(after).toMatch(/(?<!-)\becho\b/);
    expect(after).not.toContain("q quit");
  });
});
