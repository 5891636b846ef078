// The manual pages: every command has one that says what its declaration says, and the programs that show them find no fault.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
// @ts-expect-error: a script without types
import { renderManPages } from "../../scripts/generate-man-pages.mjs";
import { type Fronts, GLOBAL_OPTIONS } from "../../src/cli/frame/command.ts";
import { loadCommands } from "../../src/cli/help.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { createUserRuntime } from "../helpers/run-in-process.ts";
import { createTempFolder, type TempFolder } from "../helpers/temp-repository.ts";

const EDITION = { version: "1.2.3", day: "2026-11-29" };
const isMissing = (program: string, flag: string): boolean => spawnSync(program, [flag]).error !== undefined;

let folder: TempFolder;
let pages: ReadonlyMap<string, string>;

beforeAll(async () => {
  pages = renderManPages(await loadCommands(), EDITION) as ReadonlyMap<string, string>;
  folder = createTempFolder();
  mkdirSync(join(folder.path, "man1"));
  for (const [name, text] of pages) writeFileSync(join(folder.path, "man1", name), text);
});
afterAll(() => folder.remove());

/** What a reader of the source sees: without the escapes of roff. */
function plain(roff = ""): string {
  const signs: Readonly<Record<string, string>> = { aq: "'", ga: "`", ha: "^", ti: "~" };
  return roff
    .replace(/\\f[BIR]/g, "")
    .replace(/\\\[u([0-9A-F]+)\]/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replace(/\\\((\w\w)/g, (_, name: string) => signs[name] ?? "?")
    .replace(/\\&/g, "")
    .replaceAll("\\-", "-")
    .replaceAll("\\e", "\\");
}

describe("manual pages", () => {
  it("are jpg's, one for each command that people call, and git-jpg's, which is jpg's", async () => {
    const names = (await loadCommands()).map(({ name }) => `jpg-${name}.1`);
    expect([...pages.keys()]).toEqual(["jpg.1", "git-jpg.1", ...names]);
    expect(pages.get("git-jpg.1")).toBe(".so man1/jpg.1\n");
    const overview = plain(pages.get("jpg.1"));
    for (const { name, summary } of await loadCommands())
      expect(overview.toLowerCase()).toContain(`jpg ${name}\n${summary.replaceAll("`", "")}.`.toLowerCase());
    for (const { flags } of GLOBAL_OPTIONS) expect(overview).toContain(flags);
  });

  it("say what the declarations say", async () => {
    for (const { name, summary, options = [], examples = [] } of await loadCommands()) {
      const text = plain(pages.get(`jpg-${name}.1`));
      expect(text).toContain(`jpg-${name} - ${summary}`);
      for (const { flags, listed } of options)
        expect(text.includes(flags), `${name} ${flags}`).toBe(listed !== "never");
      for (const { command, explains } of examples)
        expect(text).toContain(`${command}\n${explains.replaceAll(/`+ ?(.+?) ?`+/g, "$1")}`);
    }
  });

  it("begin no line of text as a request of roff", () => {
    for (const [name, text] of pages)
      for (const line of text.split("\n"))
        expect(line, name).toMatch(/^(?:\.(?:\\"|TH|SH|PP|TP|IP|B|br|so)(?: |$)|[^.']|$)/);
  });

  it.skipIf(isMissing("mandoc", "-h"))("are without fault for mandoc (mandoc)", () => {
    const files = [...pages.keys()].filter((name) => name !== "git-jpg.1");
    const cwd = join(folder.path, "man1");
    const { stdout } = spawnSync("mandoc", ["-Tlint", "-Wwarning", ...files], { cwd });
    expect(stdout.toString()).toBe("");
    expect(spawnSync("mandoc", ["-Tlint", "-Wwarning"], { input: ".TH X\n.nonsense\n" }).stdout.toString()).not.toBe(
      "",
    );
  });

  it.skipIf(isMissing("man", "--version"))(
    "are without fault for man, also by git-jpg (man)",
    { tags: ["slow"] },
    () => {
      const env = { ...process.env, LC_ALL: "C.UTF-8", MANWIDTH: "80", MANPATH: folder.path };
      for (const name of ["jpg", "git-jpg", "jpg-compact", "jpg-git", "jpg-search"]) {
        const { stdout, stderr } = spawnSync("man", ["--warnings", "1", name], { env });
        expect(stderr.toString(), name).toBe("");
        expect(stdout.toString(), name).toContain(name.replace("git-", "").toUpperCase());
      }
    },
  );
});

describe("jpg help COMMAND", () => {
  /** Runs `jpg help …` with a `man` that fails or says what it was asked for; gives that and what jpg printed. */
  async function help(words: readonly string[], how: { isTTY: boolean; man?: string; page?: boolean }) {
    const root = createTempFolder();
    try {
      for (const name of ["bin", "man"]) mkdirSync(join(root.path, name));
      if (how.page !== false) writeFileSync(join(root.path, "man/jpg-compact.1"), "");
      const script = `#!/bin/sh\necho "$@" > "$0.asked"\n${how.man ?? "exit 0"}\n`;
      if (how.man !== "missing") writeFileSync(join(root.path, "bin/man"), script, { mode: 0o755 });
      const runtime = {
        ...createUserRuntime(root.path, { HOME: root.path, PATH: join(root.path, "bin") }),
        jpgPath: join(root.path, "bin/jpg.js"),
      };
      let stdout = "";
      const stream = {
        isTTY: how.isTTY,
        write(text: string | Uint8Array) {
          stdout += String(text);
          return true;
        },
        on: () => 0,
      };
      const options = { runtime, stdout: stream, stderr: stream, onClosed: () => {}, onFailed: () => {} };
      const code = await runCommandLine(["help", ...words], { ...options, fronts: {} as Fronts });
      const asked = join(root.path, "bin/man.asked");
      const shown = existsSync(asked) ? relative(root.path, readFileSync(asked, "utf8").trim()) : null;
      return { code, shown, isHelp: stdout.startsWith("Usage: jpg compact") };
    } finally {
      root.remove();
    }
  }

  it("opens the page on a terminal", async () => {
    expect(await help(["compact"], { isTTY: true })).toEqual({ code: 0, shown: "man/jpg-compact.1", isHelp: false });
  });

  it("prints the help of --help where no page can be shown, or nobody reads it on a terminal", async () => {
    const printed = { code: 0, shown: null, isHelp: true };
    expect(await help(["compact"], { isTTY: false })).toEqual(printed);
    expect(await help(["compact", "--all"], { isTTY: true })).toEqual(printed);
    expect(await help(["compact"], { isTTY: true, page: false })).toEqual(printed);
    expect(await help(["compact"], { isTTY: true, man: "missing" })).toEqual(printed);
    expect(await help(["compact"], { isTTY: true, man: "exit 3" })).toMatchObject({ code: 0, isHelp: true });
  });
});
