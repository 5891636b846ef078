// The sessions that OpenCode keeps in its database, as its own program gives them. A small program stands for OpenCode here; the
// real one is asked in opencode-loop.test.ts.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createOpenCodeWriter, type OpenCodeWriter } from "../helpers/opencode-session.ts";
import { createSandbox, type JpgResult, type Sandbox } from "../helpers/run-jpg.ts";
import { git } from "../helpers/temp-repository.ts";

let sandbox: Sandbox;
let sessions: { readonly writer: OpenCodeWriter; readonly id: string; changed: number }[];
beforeEach(() => {
  sandbox = createSandbox();
  sessions = [];
  installProgram(join(sandbox.root, "bin"));
});
afterEach(() => sandbox.remove());

const START = Date.parse("2026-01-02T10:00:00.000Z");

/** Puts a program into a folder: it notes where it is called with what, and prints what stands in the home folder. */
function installProgram(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const script = [
    "#!/bin/sh",
    'echo "$PWD: $1 $2 $3" >> "$HOME/calls"',
    'if test "$2" = db; then cat "$HOME/list.json"; else cat "$HOME/$3.json"; fi',
  ];
  writeFileSync(join(folder, "opencode"), `${script.join("\n")}\n`);
  chmodSync(join(folder, "opencode"), 0o755);
}

/** Adds a session to what OpenCode has. */
function keep(id: string, directory = sandbox.project): OpenCodeWriter {
  const writer = createOpenCodeWriter({ id, directory });
  writer.user(`ask ${id}`);
  writer.say("done");
  sessions.push({ writer, id, changed: START });
  return writer;
}

/** Saves what OpenCode has; its database changes. */
function save(time = START): void {
  const rows = sessions.map(({ writer: { info }, id, changed }) => ({ id, directory: info["directory"], changed }));
  writeFileSync(join(sandbox.home, "list.json"), JSON.stringify(rows));
  for (const { writer, id } of sessions) writeFileSync(join(sandbox.home, `${id}.json`), writer.bytes());
  const folder = join(sandbox.home, ".local", "share", "opencode");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "opencode.db"), "");
  utimesSync(join(folder, "opencode.db"), time / 1000, time / 1000);
}

/** What was asked since the last time. */
function asked(): readonly string[] {
  const path = join(sandbox.home, "calls");
  const calls = existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
  rmSync(path, { force: true });
  return calls;
}

const PATH = (): string => [join(sandbox.root, "bin"), process.env["PATH"] ?? ""].join(":");
const jpg = (...args: readonly string[]): Promise<JpgResult> => sandbox.jpg(args, { env: { PATH: PATH() } });

interface Row {
  readonly status: string;
  readonly title: string;
}
async function load(): Promise<readonly Row[]> {
  const { stdout } = await jpg("import", "--json");
  return (JSON.parse(stdout) as readonly Row[]).map(({ status, title }) => ({ status, title }));
}

describe("sessions that OpenCode keeps", () => {
  it("come in where they are of this project, and are asked for again only when they changed", async () => {
    const first = keep("ses_a");
    keep("ses_b");
    keep("ses_c", "/elsewhere");
    save();
    expect(await load()).toEqual([
      { status: "created", title: "Kelp beds" },
      { status: "created", title: "Kelp beds" },
    ]);
    const home = sandbox.home;
    expect([...asked()].sort()).toEqual([
      `${home}: --pure db --format`,
      `${home}: --pure export ses_a`,
      `${home}: --pure export ses_b`,
    ]);
    expect((await load()).map(({ status }) => status)).toEqual(["unchanged", "unchanged"]);
    expect(asked()).toEqual([]);
    first.user("and more");
    first.say("more");
    sessions[0]!.changed += 1000;
    save(START + 1000);
    expect((await load()).map(({ status }) => status)).toEqual(["updated", "unchanged"]);
    expect(asked()).toEqual([`${home}: --pure db --format`, `${home}: --pure export ses_a`]);
  });

  it("come in from all folders and worktrees of the project, in each of them, and are asked for once", async () => {
    const [core, worktree] = [join(sandbox.project, "packages", "core"), join(sandbox.root, "wt")];
    mkdirSync(core, { recursive: true });
    git(sandbox.project, sandbox.env, ["commit", "-q", "--allow-empty", "-m", "x"]);
    git(sandbox.project, sandbox.env, ["worktree", "add", "-q", worktree]);
    keep("ses_a", core);
    keep("ses_b", worktree);
    keep("ses_c", sandbox.root);
    save();
    for (const cwd of [sandbox.project, core, worktree]) {
      const { stdout } = await sandbox.jpg(["import", "--list", "--json"], { cwd, env: { PATH: PATH() } });
      expect((JSON.parse(stdout) as readonly { path: string }[]).map(({ path }) => basename(path)).sort()).toEqual([
        "ses_a.json",
        "ses_b.json",
      ]);
    }
    expect(asked()).toHaveLength(3);
  });

  it("are listed, and stay as conversations when OpenCode has them no more", async () => {
    keep("ses_a");
    save();
    expect((await jpg("import", "--list")).stdout).toContain("Kelp beds");
    await load();
    sessions = [];
    save(START + 1000);
    const { code, stderr } = await jpg("import");
    expect([code, stderr]).toEqual([2, expect.stringContaining("No agent on this machine keeps sessions")]);
    expect((await jpg("ls")).stdout).toContain("Kelp beds");
    asked();
    await jpg("import");
    expect(asked()).toEqual([]);
  });

  it("stand in files of the user's alone", async () => {
    keep("ses_a");
    save();
    await load();
    const kept = join(sandbox.home, ".cache", "jpg", "sessions", "opencode");
    const [folder = ""] = readdirSync(kept);
    expect(readdirSync(join(kept, folder)).sort()).toEqual([".listed", "ses_a.json"]);
    const modes = [join(kept, folder), join(kept, folder, "ses_a.json")].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600]);
  });

  it("are never asked of a program that the project puts into the way", async () => {
    keep("ses_a");
    save();
    const own = join(sandbox.project, "node_modules", ".bin");
    installProgram(own);
    rmSync(join(sandbox.root, "bin"), { recursive: true });
    const env = { PATH: [own, "node_modules/.bin", process.env["PATH"] ?? ""].join(":") };
    const { code } = await sandbox.jpg(["import"], { env });
    expect([code, asked()]).toEqual([2, []]);
  });

  it("that cannot be had are named, and stop none of the others", async () => {
    keep("ses_a");
    keep("ses_b");
    save();
    rmSync(join(sandbox.home, "ses_b.json"));
    const { code, stderr } = await jpg("import");
    expect(code).toBe(1);
    expect(stderr).toContain("OpenCode was asked for a session and failed with exit code 1.");
    expect((await jpg("ls")).stdout).toContain("Kelp beds");
    writeFileSync(join(sandbox.home, "list.json"), "no such table: session");
    expect((await jpg("import")).stderr).toContain("OpenCode was asked for its sessions and answered something else.");
  });
});
