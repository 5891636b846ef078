// A disk without room, played by a limit on the size of files, which every user may set: what cannot be finished is taken back.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { copyImportedSandbox } from "../helpers/prepared-sandbox.ts";
import type { Sandbox } from "../helpers/run-jpg.ts";
import { buildSession, plainTurns } from "../helpers/session-builder.ts";

const JPG = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));

let box: Sandbox;
beforeEach(async () => {
  box = await copyImportedSandbox(4);
});
afterEach(() => box.remove());

describe.skipIf(!existsSync("/dev/full"))("standard output that takes nothing (/dev/full)", () => {
  const run = (line: string) =>
    spawnSync("sh", ["-c", `"$0" "$1" ${line}`, process.execPath, JPG], {
      cwd: box.project,
      env: box.env,
      encoding: "utf8",
    });

  it("is named in one line by every command, with the exit code of a full disk", { tags: ["slow"] }, async () => {
    expect(await box.jpg(["compact", "--keep", "0"])).toMatchObject({ code: 0 });
    const reading = [
      "log",
      "print",
      "ls",
      "ls --json",
      "show",
      "stats --json",
      "diff",
      "status",
      "doctor",
      "path",
      "config",
    ];
    const texts = [
      "--version",
      "--help",
      "ls --help",
      "help log",
      "completion bash",
      "export --to claude-code",
      "fsck --json",
    ];
    for (const line of [...reading, ...texts]) {
      const { status, stderr } = run(`${line} >/dev/full`);
      expect([line, status, stderr.trimEnd().split("\n").at(-1)]).toEqual([
        line,
        3,
        "error: Standard output cannot be written: ENOSPC: no space left on device.",
      ]);
      expect(stderr, line).not.toMatch(/^ {4}at |node:|file:/m);
    }
  });

  it("is git's own business behind jpg git", () => {
    expect(run("git log >/dev/full")).toMatchObject({ status: 128, stderr: expect.stringContaining("write failure") });
  });

  it("says nothing where nobody reads on, or where errors cannot be written", { tags: ["slow"] }, () => {
    expect(run("ls nonsense 2>/dev/full")).toMatchObject({ status: 2, stdout: "", stderr: "" });
    for (const line of ["--version", "--help", "print", "ls --json"])
      expect(run(`${line} | true`)).toMatchObject({ status: 0, stderr: "" });
  });

  it("ends a server", () => {
    const hello = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const { status, stderr } = run(`mcp >/dev/full <<'END'\n${hello}\nEND`);
    expect([status, stderr]).toEqual([3, expect.stringMatching(/^error: Standard output cannot be written: ENOSPC/)]);
  });
});

it("a checkout that fails leaves no worktree, and the next one succeeds", async () => {
  const folder = join(box.root, "dir");
  const args = ["-c", 'ulimit -f 1 && exec "$@"', "sh", process.execPath, JPG, "checkout", "@", folder, "--full"];
  const { status } = spawnSync("sh", args, { cwd: box.project, env: box.env });
  expect(status).toBe(3);
  expect(existsSync(folder)).toBe(false);
  expect(box.git(["worktree", "list"]).split("\n")).toHaveLength(1);
  expect(await box.jpg(["checkout", "@", folder, "--full"])).toMatchObject({ code: 0 });
  expect(box.git(["status", "--short"], folder)).toBe("");
});

it("a checkout whose view cannot be written leaves no worktree either", async () => {
  const folder = join(box.root, "dir");
  const long = box.session("long.jsonl", buildSession(plainTurns(80)).text());
  expect(await box.jpg(["import", long])).toMatchObject({ code: 0 });
  const args = ["-c", 'ulimit -f 8 && exec "$@"', "sh", process.execPath, JPG, "checkout", "@", folder];
  const { status, stderr } = spawnSync("sh", args, { cwd: box.project, env: box.env, encoding: "utf8" });
  expect([status, stderr]).toEqual([
    3,
    expect.stringMatching(/^error: a file may not grow that large: .* failed \(EFBIG\)/),
  ]);
  expect(existsSync(folder)).toBe(false);
  expect(box.git(["worktree", "list"]).split("\n")).toHaveLength(1);
  expect(await box.jpg(["checkout", "@", folder])).toMatchObject({ code: 0 });
});

it("a use that fails leaves the files of the conversation that was active", async () => {
  const before = box.git(["symbolic-ref", "--short", "HEAD"]);
  expect(await box.jpg(["fork", "@", "other", "--no-activate"])).toMatchObject({ code: 0 });
  expect(await box.jpg(["compact", "--keep", "0"])).toMatchObject({ code: 0 });
  const branch = before.replace(/[^/]+$/, "other");
  // The way back to the compaction has a record to write, which is longer than 512 bytes.
  expect(await box.jpg(["use", branch])).toMatchObject({ code: 0 });
  const args = ["-c", 'ulimit -f 1 && exec "$@"', "sh", process.execPath, JPG, "use", before];
  expect(spawnSync("sh", args, { cwd: box.project, env: box.env }).status).toBe(3);
  expect(box.git(["symbolic-ref", "--short", "HEAD"])).toBe(branch);
  expect(box.git(["status", "--short"])).toBe("");
});

it.skipIf(process.geteuid?.() !== 0)(
  "a compaction that finds no room in a worktree is committed, and the next command brings the files along (as root)",
  async () => {
    const folder = join(box.root, "small");
    mkdirSync(folder);
    execFileSync("sh", ["-c", 'mount -t tmpfs -o size=256k tmpfs "$1"', "sh", folder]);
    try {
      expect(await box.jpg(["checkout", "@", folder])).toMatchObject({ code: 0 });
      const filler = join(folder, "filler");
      expect(() => writeFileSync(filler, Buffer.alloc(1 << 20))).toThrow("ENOSPC");
      const { code, stderr } = await box.jpg(["compact", "--keep", "0"]);
      expect(code).toBe(3);
      expect(stderr).toMatch(/The commit is on .*could not be updated.*No space left|unable to write/);
      expect(box.git(["log", "-1", "--format=%s"])).toMatch(/^compact /);
      rmSync(filler);
      const next = await box.jpg(["ls"]);
      expect(next.stderr).toContain("ended before the files of");
      expect([box.git(["status", "--short"], folder), box.git(["status", "--short"])]).toEqual(["", ""]);
      expect((await box.jpg(["ls"])).stderr).toBe("");
    } finally {
      execFileSync("sh", ["-c", 'umount "$1"', "sh", folder]);
    }
  },
);
