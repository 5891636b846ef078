// @module-tag slow
// The tour is the newcomer's first command: it runs to its end without HOME or git identity. README.md begins with it, and names only
// commands, options and files that exist; test/docs/run-pages.test.ts runs what it shows.
import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CommandSpec } from "../../src/cli/frame/command.ts";
import { displayWidth } from "../../src/cli/frame/terminal.ts";
import { loadCommands } from "../../src/cli/help.ts";
import { parseArguments } from "../../src/cli/parse-arguments.ts";
import { forTerminal } from "../../src/core/safe-text.ts";
import { createTempFolder, type TempFolder } from "../helpers/temp-repository.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");

/** Longest a tour may take on a busy machine: 35 commands, milliseconds. */
const TOUR_MS = 600_000;

let folder: TempFolder;
let printed = "";

interface Tour {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the tour with an empty HOME and no git identity, its temporary folders in ours. Rejects when it stops. */
function runTour(words: readonly string[] = [], path = process.env["PATH"] ?? ""): Promise<Tour> {
  const [home, tmp, cache] = ["home", "tmp", "cache"].map((name) => join(folder.path, name));
  const env = { PATH: path, HOME: home, TMPDIR: tmp, XDG_CACHE_HOME: cache };
  return promisify(execFile)(process.execPath, ["scripts/tour.mjs", ...words], { cwd: root, env });
}

beforeAll(async () => {
  folder = createTempFolder();
  mkdirSync(join(folder.path, "home"));
  mkdirSync(join(folder.path, "tmp"));
  const { stdout, stderr } = await runTour();
  expect(stderr).toBe("");
  printed = stdout;
}, TOUR_MS);
afterAll(() => folder.remove());

/** The README's fenced blocks of a language. */
function blocks(language: string): string[] {
  const fenced = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms");
  return [...readme.matchAll(fenced)].map(([, block]) => block ?? "");
}

describe("jpg tour, as `npm run tour` calls it", () => {
  it("shows the main job from import to export", () => {
    const commands = [...printed.matchAll(/^\$ (\S+ ?\S*)/gm)].map(([, words]) => words);
    for (const name of [
      "import",
      "log",
      "compact",
      "diff",
      "revert",
      "undo",
      "fork",
      "pin",
      "blame",
      "check",
      "checkout",
      "export",
    ]) {
      expect(commands).toContain(`jpg ${name}`);
    }
    expect(printed).toContain("\n$ jpg compact --dry-run\n");
    expect(printed).toContain('\n$ git -C "$(jpg path)" revert --no-edit HEAD\n');
    expect(printed).toContain("original.jsonl and sample-session.jsonl are equal, byte for byte.");
    expect(printed).toMatch(/27 \(\+1\)/);
  });

  it("prints lists and its own words in 80 columns, and asks nothing without a terminal", () => {
    const rows = printed
      .split("\n")
      .filter((line) => /^(?:AGE|now|\d+(?:mo|[smhdwy])|STATUS|created|updated) .*(?:TURNS|\d)/.test(line));
    expect(rows.length).toBeGreaterThanOrEqual(9);
    const texts = [...printed.matchAll(/^\d+\. .*\n(.+(?:\n.+)*)\n\n/gm)].flatMap(
      ([, text]) => text?.split("\n") ?? [],
    );
    expect(texts.length).toBeGreaterThan(15);
    expect([...rows, ...texts].filter((line) => displayWidth(forTerminal(line)) > 80)).toEqual([]);
    expect(printed).not.toContain("Stay here");
  });

  it("names its folder, removes it, and leaves HOME empty", () => {
    expect(printed).toContain(`Everything happens in ${join(folder.path, "tmp/jpg-tour-")}`);
    expect(readdirSync(join(folder.path, "tmp"))).toEqual([]);
    expect(readdirSync(join(folder.path, "home"))).toEqual([]);
  });

  it("says that it needs git where there is none", async () => {
    const bin = join(folder.path, "only-node");
    mkdirSync(bin);
    symlinkSync(process.execPath, join(bin, "node"));
    const stopped = await runTour([], bin).catch((error: Tour) => error);
    expect(stopped).toMatchObject({ code: 3, stdout: "" });
    expect(stopped.stderr).toMatch(/`jpg tour` needs git, .*Install/s);
  });

  it(
    "keeps its folder with --keep, and where a step goes wrong names it",
    async () => {
      // Far enough to leave something: a git that has no log ends it in the second chapter.
      const bin = join(folder.path, "bin");
      mkdirSync(bin);
      const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
      const script = `#!/bin/sh\nfor word; do [ "$word" = log ] && exit 9; done\nexec "${real}" "$@"\n`;
      writeFileSync(join(bin, "git"), script, { mode: 0o755 });
      const stopped = await runTour(["--keep"], `${bin}:${process.env["PATH"]}`).catch((error: Tour) => error);
      expect(stopped).toMatchObject({
        code: 3,
        stderr: expect.stringMatching(/The tour stopped: `jpg log` ended with exit code/) as string,
      });
      const kept = /Everything happens in (\S+)\./.exec(stopped.stdout)?.[1] ?? "";
      expect(existsSync(join(kept, "tidepool/.git/jpg/VIEW.md"))).toBe(true);
    },
    TOUR_MS,
  );
});

describe("README.md", () => {
  it("begins with exactly two commands: one tries jpg, one runs the tests", () => {
    const top = readme.slice(0, readme.indexOf("\n## "));
    const commands = [...top.matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, text]) => text?.trim());
    expect(commands).toEqual(["npm install && npm run tour", "npm install && npm test"]);
  });

  it("names only commands and options that exist", async () => {
    const specs = new Map((await loadCommands()).map((command) => [command.name, command]));
    const typed = [
      ...blocks("sh").flatMap((text) => text.split("\n")),
      ...[...readme.matchAll(/`(jpg [a-z][^`]*)`/g)].map(([, command]) => command ?? ""),
    ]
      .flatMap((line) => line.split(" && "))
      .filter((line) => line.startsWith("jpg ") && !line.includes("…"));
    expect(typed.length).toBeGreaterThan(20);
    for (const line of typed) {
      const [, name, ...words] = line.replace(/ +[<>#].*$/, "").split(" ");
      // `jpg` alone is the list.
      if (name === undefined) continue;
      expect(specs.has(name), line).toBe(true);
      expect(() => parseArguments(specs.get(name) as CommandSpec, words), line).not.toThrow();
    }
  });

  it("links only to files that exist", () => {
    const links = [...readme.matchAll(/\]\(([^)#]+)/g)].map(([, path]) => path ?? "");
    expect(links.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});
