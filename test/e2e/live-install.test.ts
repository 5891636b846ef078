// `jpg hooks install --live`: plug-ins come into an agent's folder, are kept up to date, and go without a trace; what the user has
// there stays.
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeOlder } from "../helpers/older-plugin.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";
import { openPane, tmuxMissing } from "../helpers/tmux.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const BIN = join(ROOT, "bin", "jpg.js");

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.remove());

const home = (...names: string[]): string => join(sandbox.home, ...names);
const plugin = (...names: string[]): string => home(".claude", "skills", "jpg", ...names);
const record = (): string => home(".local", "state", "jpg", "hooks", "installed.json");
const read = (path: string): string => readFileSync(path, "utf8");

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Runs jpg and expects its exit code; gives all that it printed. */
async function jpg(args: readonly string[], code = 0): Promise<string> {
  const { stdout, stderr, ...result } = await sandbox.jpg(args);
  expect([result.code, stdout + stderr]).toEqual([code, expect.any(String)]);
  return stdout + stderr;
}

/** Files and folders below a folder of the agents', with the files' contents; jpg's own state is left out. */
function everything(): ReadonlyMap<string, string | null> {
  const found = readdirSync(sandbox.home, { recursive: true, withFileTypes: true });
  const all = found.map((entry): [string, string | null] => {
    const path = join(entry.parentPath, entry.name);
    return [relative(sandbox.home, path), entry.isFile() ? read(path) : null];
  });
  return new Map(all.filter(([path]) => !/^\.(local|cache)(\/|$)/.test(path)).sort());
}

const AGENTS = ["claude-code", "pi", "opencode", "codex"];
const MINE = '{\n  "model": "opus"\n}\n';

describe("hooks install --live", () => {
  it.each(AGENTS)(
    "makes what %s needs once, says what to do and how to take it back, and leaves no trace",
    async (agent) => {
      write(home(".claude", "settings.json"), MINE);
      write(home(".claude", "skills", "mine", "SKILL.md"), "mine");
      const before = everything();
      const said = await jpg(["hooks", "install", agent, "--live"]);
      expect(said).toContain(`Live part of ${agent} installed: `);
      expect(said).toContain(`To take it back: jpg hooks uninstall ${agent}\n`);
      const installed = everything();
      expect(await jpg(["hooks", "install", agent, "--live"])).toContain("is there already");
      expect(everything()).toEqual(installed);
      const rows = await sandbox.json<{ agent: string; what: string; project: null; state: string }[]>(["hooks"]);
      const own = rows.filter((row) => row.agent === agent && row.project === null && row.state === "installed");
      expect(own.map(({ what }) => what)).toEqual(["hooks", "live"]);
      expect(await jpg(["hooks", "uninstall", agent])).toContain(`Live part of ${agent} removed: `);
      expect(everything()).toEqual(before);
    },
  );

  it("copies every file of the plug-ins, which then start this jpg", async () => {
    await jpg(["hooks", "install", "claude-code", "pi", "opencode", "--live"]);
    const start = /^const JPG = (\[.*\]);$/m;
    const places = [
      ["claude-code", plugin(), "hooks/register.js"],
      ["pi", home(".pi", "agent", "extensions"), "jpg.ts"],
      ["opencode", home(".config", "opencode", "plugin"), "jpg.js"],
    ] as const;
    for (const [source, folder, starts] of places) {
      const from = join(ROOT, "plugins", source);
      const names = readdirSync(from, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(from, join(entry.parentPath, entry.name)))
        // Tests, what Claude Code writes for whoever edits a plug-in, and what pi and OpenCode install the folder by.
        .filter((name) => !/^tests\/|\/types\/|tsconfig\.json$|^README|^package\.json$/.test(name));
      const there = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      expect(there.map((entry) => relative(folder, join(entry.parentPath, entry.name))).sort()).toEqual(names.sort());
      for (const name of names)
        expect([name, read(join(from, name))]).toEqual([
          name,
          expect.stringContaining(`jpg hooks uninstall ${source}`),
        ]);
      expect(start.exec(read(join(from, starts)))?.[1]).toBe('["jpg", "live"]');
      expect(JSON.parse(start.exec(read(join(folder, starts)))?.[1] ?? "")).toEqual([
        expect.stringMatching(/^\//),
        expect.stringMatching(/^\//),
        "live",
        "--plugin",
        expect.any(String),
      ]);
    }
    const { version } = JSON.parse(read(join(ROOT, "package.json"))) as { version: string };
    expect(JSON.parse(read(plugin(".claude-plugin", "plugin.json")))).toMatchObject({ name: "jpg", version });
  });

  it("names no path of this user in a project's files, which others share", async () => {
    await jpg(["hooks", "install", ...AGENTS, "--live", "--project"]);
    expect(everything().size).toBe(0);
    const files = readdirSync(sandbox.project, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const texts = files
      .filter(({ parentPath }) => !parentPath.includes(".git"))
      .map((entry) => read(join(entry.parentPath, entry.name)));
    expect(texts.length).toBe(9);
    // Claude Code has settings for the user alone.
    expect(texts.filter((text) => text.includes(sandbox.home))).toHaveLength(0);
    await jpg(["hooks", "uninstall", ...AGENTS, "--project"]);
    expect(readdirSync(sandbox.project)).toEqual([".git"]);
  });

  it("takes the place of pi's and OpenCode's hooks, and of Claude Code's server, which come with it", async () => {
    await jpg(["hooks", "install", "pi", "opencode", "claude-code"]);
    await jpg(["hooks", "install", "claude-code", "--mcp"]);
    const said = await jpg(["hooks", "install", "pi", "opencode", "claude-code", "--live"]);
    expect(said).toContain("Tools of claude-code removed: ");
    expect(existsSync(home(".claude.json"))).toBe(false);
    expect(await jpg(["hooks", "install", "pi", "opencode"])).toMatch(
      /Hooks of pi are there already.*\n.*opencode are there/,
    );
    expect(await jpg(["hooks", "install", "claude-code", "--mcp"])).toContain("Tools of claude-code are there already");
    expect(read(home(".pi", "agent", "extensions", "jpg.ts"))).toContain('"live"');
    await jpg(["hooks", "uninstall", "pi", "opencode", "claude-code"]);
    expect([...everything().keys()]).toEqual([]);
  });

  it("leaves files of the user under the same names, and changes nothing then", async () => {
    write(plugin("hooks", "register.js"), "// mine\n");
    write(home(".pi", "agent", "extensions", "jpg.ts"), "// mine\n");
    write(home(".claude", "settings.json"), MINE);
    const before = everything();
    expect(await jpg(["hooks", "install", "pi", "--live"], 2)).toContain("something else under jpg's name");
    expect(await jpg(["hooks", "install", "claude-code", "--live"], 2)).toContain("something else under jpg's name");
    await jpg(["hooks", "uninstall", "pi", "claude-code"]);
    expect(everything()).toEqual(before);
  });

  it("follows no link, also where a folder is one", async () => {
    mkdirSync(home("elsewhere"));
    mkdirSync(home(".claude", "skills"), { recursive: true });
    symlinkSync(home("elsewhere"), plugin());
    expect(await jpg(["hooks", "install", "claude-code", "--live"], 2)).toContain("is a link to");
    rmSync(plugin());
    await jpg(["hooks", "install", "claude-code", "--live"]);
    rmSync(plugin("hooks"), { recursive: true });
    symlinkSync(home("elsewhere"), plugin("hooks"));
    write(home("elsewhere", "register.js"), "`jpg hooks uninstall claude-code`\nconst JPG = [];\n");
    expect(await jpg(["hooks", "uninstall", "claude-code"], 2)).toContain("is a link to");
    expect(existsSync(home("elsewhere", "register.js"))).toBe(true);
  });

  it("writes nothing where one of its files is read-only", async () => {
    write(plugin("hooks", "register.js"), "`jpg hooks uninstall claude-code`\nconst JPG = [];\n");
    chmodSync(plugin("hooks", "register.js"), 0o444);
    expect(await jpg(["hooks", "install", "claude-code", "--live"], 2)).toContain("is read-only");
    expect(readdirSync(plugin())).toEqual(["hooks"]);
  });

  it("removes with its own files what Claude Code writes among them, and leaves the user's", async () => {
    await jpg(["hooks", "install", "claude-code", "--live"]);
    const types = [".claude-plugin", "types"];
    write(plugin(...types, ".gitignore"), "*\n");
    write(plugin(...types, "claude-code", "index.d.ts"), "// Written by Claude Code 2.1.332.\n");
    write(plugin("tsconfig.json"), '{\n  "extends": "./.claude-plugin/types/tsconfig.json"\n}\n');
    await jpg(["hooks", "uninstall", "claude-code"]);
    expect([...everything().keys()]).toEqual([]);
    await jpg(["hooks", "install", "claude-code", "--live"]);
    write(plugin("notes.md"), "mine");
    write(plugin("tsconfig.json"), "{}");
    write(plugin(...types, "mine.d.ts"), "mine");
    await jpg(["hooks", "uninstall", "claude-code"]);
    expect([...everything()].filter(([, text]) => text !== null)).toEqual([
      [".claude/skills/jpg/.claude-plugin/types/mine.d.ts", "mine"],
      [".claude/skills/jpg/notes.md", "mine"],
      [".claude/skills/jpg/tsconfig.json", "{}"],
    ]);
  });

  it("repairs by running again what a killed jpg left, and removes it, with or without its record", async () => {
    await jpg(["hooks", "install", "claude-code", "--live"]);
    const whole = everything();
    for (const keepsRecord of [true, false]) {
      rmSync(plugin(".claude-plugin"), { recursive: true });
      rmSync(plugin("hooks", "hooks.json"));
      if (!keepsRecord) rmSync(record());
      expect(await jpg(["hooks"])).toMatch(
        /claude-code +yes +outdated by live +outdated|claude-code +yes +by live +outdated/,
      );
      expect(await jpg(["hooks", "install", "claude-code", "--live"])).toContain("brought up to date");
      expect(everything()).toEqual(whole);
    }
    rmSync(plugin("hooks", "hooks.json"));
    rmSync(record());
    await jpg(["hooks", "uninstall", "claude-code"]);
    expect(existsSync(plugin())).toBe(false);
  });
});

describe("a plug-in that an older jpg wrote", () => {
  const ask = async (version: string): Promise<string> => {
    const request = { jpg: 1, do: "status", agent: "pi", session: "none", transcript: null, cwd: sandbox.project };
    const input = `${JSON.stringify(request)}\n`;
    return (await sandbox.jpg(["live", "--plugin", version], { input })).stdout;
  };

  it("is replaced when it asks jpg something, unless the user changed it", async () => {
    await jpg(["hooks", "install", "claude-code", "pi", "--live"]);
    const [register, extension] = [plugin("hooks", "register.js"), home(".pi", "agent", "extensions", "jpg.ts")];
    const now = [read(register), read(extension)];
    makeOlder(sandbox, register);
    makeOlder(sandbox, extension);
    expect(await jpg(["hooks"])).toMatch(/claude-code +yes +.*outdated\npi/);
    expect(JSON.parse(await ask("0.0.9"))).toMatchObject({ jpg: 1 });
    expect([read(register), read(extension)]).toEqual(now);
    makeOlder(sandbox, register);
    write(register, `${read(register)}// mine\n`);
    await ask("0.0.9");
    expect(read(register)).toMatch(/\/\/ older\n\/\/ mine\n$/);
    rmSync(extension);
    await ask("0.0.9");
    expect(existsSync(extension)).toBe(false);
    expect(await jpg(["hooks", "install", "claude-code", "--live"])).toContain("brought up to date");
    expect(read(register)).toBe(now[0]);
  });

  it("loses the files that jpg no longer has", async () => {
    await jpg(["hooks", "install", "claude-code", "--live"]);
    const parts = JSON.parse(read(record())) as {
      parts: { what: string; files?: { path: string; sha256: string[] }[] }[];
    };
    const sha = createHash("sha256").update("old").digest("hex");
    for (const { files } of parts.parts)
      files?.push({ path: plugin("old.js"), sha256: [sha] }, { path: plugin("changed.js"), sha256: [sha] });
    write(record(), JSON.stringify(parts));
    write(plugin("old.js"), "old");
    write(plugin("changed.js"), "mine");
    makeOlder(sandbox, plugin("hooks", "register.js"));
    await jpg(["hooks", "install", "claude-code", "--live"]);
    expect([existsSync(plugin("old.js")), read(plugin("changed.js"))]).toEqual([false, "mine"]);
  });
});

describe("jpg hooks", () => {
  it("has a line for each agent that is there, and JSON for all", async () => {
    expect(await jpg(["hooks"])).toContain("No agent that jpg can set up is on this machine.");
    mkdirSync(home(".codex"));
    write(home("bin", "gemini"), "#!/bin/sh\n");
    chmodSync(home("bin", "gemini"), 0o755);
    const env = { PATH: `${sandbox.env["PATH"]}:${home("bin")}` };
    await jpg(["hooks", "install", "pi", "--project"]);
    const { stdout } = await sandbox.jpg(["hooks"], { env });
    expect(stdout).toMatchInlineSnapshot(`
      "AGENT       KEEP     TOOLS  LIVE
      codex       -        -      -
      pi          project  -      -
      gemini-cli  -        -
      "
    `);
    expect(await sandbox.json<unknown[]>(["hooks"])).toHaveLength(30);
  });

  it("refuses what an agent has not", async () => {
    expect(await jpg(["hooks", "install", "copilot-cli", "--live"], 2)).toContain(
      "has no plug-ins that jpg can set up",
    );
    expect(await jpg(["hooks", "install", "pi", "--live", "--mcp"], 2)).toMatch(/--live.*--mcp|--mcp.*--live/);
  });
});

describe.skipIf(tmuxMissing !== null)("jpg hooks install at a terminal (tmux)", () => {
  const install = (...words: string[]) => {
    const env = { ...sandbox.env, NO_COLOR: "1" } as Record<string, string>;
    return openPane([process.execPath, BIN, "hooks", "install", ...words], { cwd: sandbox.project, env, columns: 80 });
  };

  it("asks once what jpg should do, for all agents together", { tags: ["slow"] }, async () => {
    const pane = install("claude-code", "pi");
    try {
      await pane.shows("[l] live");
      expect(pane.screen()).not.toContain("tools:");
      pane.type("live", "Enter");
      const screen = await pane.shows("left with 0");
      expect(screen).toContain("Live part of claude-code installed:");
      expect(screen).toContain("Live part of pi installed:");
    } finally {
      pane.close();
    }
  });

  it("keeps sessions where only Enter is typed, and gives tools, too, where these are wanted", {
    tags: ["slow"],
  }, async () => {
    for (const [answer, files] of [
      ["", [".claude/settings.json"]],
      ["t", [".claude.json", ".claude/settings.json"]],
    ] as const) {
      const pane = install("claude-code");
      try {
        await pane.shows("What should jpg do");
        pane.type(answer, "Enter");
        await pane.shows("left with 0");
        expect([...everything()].filter(([, text]) => text !== null).map(([path]) => path)).toEqual(files);
      } finally {
        pane.close();
      }
    }
  });
});
