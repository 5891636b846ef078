// `jpg resume` writes no second copy of what is there: the agent's own session where its file holds the view, or a session that jpg wrote
// for the same content before.
// @module-tag slow
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox, smallSession } from "../helpers/run-jpg.ts";
import { openPane, type Pane, tmuxMissing } from "../helpers/tmux.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));

const SESSION = "5e551073-0000-4000-8000-00000000000a";

let sandbox: Sandbox;
let original: string;
beforeEach(async () => {
  sandbox = createSandbox();
  const folder = join(sandbox.home, ".claude/projects", sandbox.project.replace(/[^A-Za-z0-9]/g, "-"));
  mkdirSync(folder, { recursive: true });
  original = join(folder, `${SESSION}.jsonl`);
  writeFileSync(original, smallSession({ id: SESSION, turns: 6 }));
  await sandbox.jpg(["import"]);
});
afterEach(() => sandbox.remove());

interface Resumed {
  readonly session: string;
  readonly path: string;
  readonly is_original: boolean;
  readonly reused: boolean;
  readonly original: { readonly path: string | null };
}

const resume = (...words: string[]): Promise<Resumed> => sandbox.json<Resumed>(["resume", ...words]);
const files = (): readonly string[] => readdirSync(dirname(original));

describe("jpg resume, where the agent's own session holds the view", () => {
  it("names that session and writes nothing, before a compaction and after its undo", async () => {
    const own = { session: SESSION, path: original, is_original: true, reused: true };
    expect(await resume()).toMatchObject(own);
    await sandbox.jpg(["compact", "-p", "light"]);
    expect(await resume()).toMatchObject({ is_original: false, reused: false, original: { path: original } });
    expect(files()).toHaveLength(2);
    await sandbox.jpg(["undo"]);
    expect(await resume()).toMatchObject(own);
    const { stdout, stderr } = await sandbox.jpg(["resume"]);
    expect(stdout).toBe(`claude --resume ${SESSION}\n`);
    expect(stderr).toMatch(/^Nothing to write: Claude Code's own session holds exactly this view: ~\/\S+\n$/);
    expect(files()).toHaveLength(2);
  });

  it.each<[string, () => unknown]>([
    ["has grown", () => appendFileSync(original, `${JSON.stringify({ type: "mode", sessionId: SESSION })}\n`)],
    ["has changed", () => writeFileSync(original, smallSession({ id: SESSION, turns: 5 }))],
    ["is gone", () => rmSync(original)],
    ["lacks a turn of the view", () => sandbox.jpg(["compact", "--tangents", "1", "--force"])],
  ])("writes one when the file %s", async (_, change) => {
    await change();
    expect(await resume()).toMatchObject({ is_original: false, reused: false });
  });

  it("writes one for another agent, and for other paths", async () => {
    expect(await resume("--with", "codex")).toMatchObject({ is_original: false });
    expect(await resume("--root", "/home/ada/tide=.")).toMatchObject({ is_original: false });
  });

  it("says that the original is gone instead of naming a way back to it", async () => {
    rmSync(original);
    await sandbox.jpg(["compact", "-p", "light"]);
    const { stderr } = await sandbox.jpg(["resume"]);
    expect(stderr).toContain("Your session 5e551073 is not where Claude Code looks");
    expect(stderr).not.toContain("the way back");
  });
});

describe("jpg resume after undo and redo", () => {
  it("offers what was written for the same content, as long as nobody continued it", async () => {
    await sandbox.jpg(["compact", "-p", "light"]);
    const first = await resume();
    await sandbox.jpg(["undo"]);
    await sandbox.jpg(["redo"]);
    expect(await resume()).toMatchObject({ session: first.session, path: first.path, reused: true });
    expect(files()).toHaveLength(2);
    appendFileSync(first.path, "\n");
    expect(await resume()).toMatchObject({ session: expect.not.stringMatching(first.session), reused: false });
  });
});

describe.skipIf(tmuxMissing !== null)("jpg resume on a terminal (tmux)", () => {
  it("asks whether to start the agent only where its program is found, and else says what to type later", async () => {
    const bin = join(sandbox.root, "bin");
    mkdirSync(bin);
    symlinkSync(execFileSync("which", ["git"], { encoding: "utf8" }).trim(), join(bin, "git"));
    const env = { ...sandbox.env, PATH: bin };
    const command = [process.execPath, BIN, "resume", "--with", "codex"];
    const open = (): Pane => openPane(command, { cwd: sandbox.project, env });
    const missing = open();
    const said = await missing.shows("left with 0").finally(missing.close);
    expect(said).toMatch(/codex is not on the PATH; once it is installed:\s+codex resume \S+/);
    expect(said).not.toContain("Start Codex");
    writeFileSync(join(bin, "codex"), "#!/bin/sh\n", { mode: 0o755 });
    const found = open();
    await found.shows("Start Codex with it now? [Y/n]").finally(found.close);
  });
});
