// The script that agents' hooks run, by the real shell: what it puts aside, whatever the event says, and that nobody notices.

import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HookMode, hookLine, hookScript } from "../../../src/app/import/spool.ts";
import { isWindows } from "../../helpers/platform.ts";
import { createTempFolder, type TempFolder } from "../../helpers/temp-repository.ts";

/** Larger than what is copied while the agent waits. */
const LARGE = 9 * 1024 * 1024;

let folder: TempFolder;
let places: { script: string; spool: string; installed: string; lock: string; nodePath: string; jpgPath: string };
beforeEach(() => {
  folder = createTempFolder();
  const at = (name: string): string => join(folder.path, name);
  places = {
    script: at("it's $HOME/keep.sh"),
    spool: at("spool `x`"),
    installed: at("installed.json"),
    lock: at("lock"),
    nodePath: at("no'de"),
    jpgPath: at("jpg.js"),
  };
  mkdirSync(at("it's $HOME"));
  // In place of node: says that it was called, and with what.
  writeFileSync(places.nodePath, `#!/bin/sh\nprintf '%s\\n' "$*" >>'${at("called")}'\n`);
  chmodSync(places.nodePath, 0o755);
  writeFileSync(places.jpgPath, "");
  writeFileSync(places.script, hookScript(places));
});
afterEach(() => folder.remove());

const path = (name: string): string => join(folder.path, name);

/** Runs the line as an agent does, in a folder where nothing may appear. */
function runHook(event: string | Record<string, unknown>, mode: HookMode = null): void {
  const cwd = path("cwd");
  mkdirSync(cwd, { recursive: true });
  const input = typeof event === "string" ? event : JSON.stringify(event);
  const line = hookLine(places, { agent: "an-agent", mode, isShared: false });
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", line], { cwd, input, encoding: "utf8" });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" });
  expect(readdirSync(cwd)).toEqual([]);
}

/** The only entry, complete, with nobody at work on it. */
async function entry(): Promise<string> {
  const names = readdirSync(places.spool);
  expect(names).toHaveLength(1);
  const found = join(places.spool, names[0] ?? "");
  await expect.poll(called).not.toBe("");
  expect(existsSync(join(found, "ready"))).toBe(true);
  return found;
}

const kept = async (): Promise<string> => readFileSync(join(await entry(), "session"), "utf8");
const called = (): string => (existsSync(path("called")) ? readFileSync(path("called"), "utf8") : "");

describe.skipIf(isWindows)("what a hook puts into the spool (POSIX)", () => {
  it("is the event as it came and the session as it is, for the user alone; then jpg is started", async () => {
    const session = path("s.jsonl");
    writeFileSync(session, "one\n");
    const event = { session_id: "s", transcript_path: session, cwd: "/w" };
    runHook(event);
    const found = await entry();
    expect(JSON.parse(readFileSync(join(found, "event"), "utf8"))).toEqual(event);
    expect(readFileSync(join(found, "agent"), "utf8")).toBe("an-agent");
    expect(await kept()).toBe("one\n");
    expect(statSync(found).mode & 0o077).toBe(0);
    expect(statSync(join(found, "event")).mode & 0o077).toBe(0);
    await expect.poll(called).toBe(`${places.jpgPath} sync --spool --quiet\n`);
  });

  it.each([
    ["quotes of a shell", "a'b`touch hacked`$(touch hacked) ; touch hacked #.jsonl"],
    ["blanks at its ends", " a  b .jsonl "],
    ["a hyphen first", "-rf"],
    ["letters of the world", "übung-会話.jsonl"],
    ["patterns", "*[a-z]?{x,y}~&|<>!.jsonl"],
  ])("has a name with %s", async (_, name) => {
    writeFileSync(path(name), "said\n");
    runHook({ transcript_path: path(name) });
    expect(await kept()).toBe("said\n");
    expect(existsSync(path("cwd/hacked"))).toBe(false);
  });

  it.each([
    ["a quote", 'a"; touch hacked; "b.jsonl'],
    ["a backslash", "a\\b.jsonl"],
    ["a line's end", "a\nb.jsonl"],
  ])("leaves a name with %s to jpg, which reads the event", async (_, name) => {
    writeFileSync(path(name), "said\n");
    runHook({ transcript_path: path(name) });
    const found = await entry();
    expect(readdirSync(found).sort()).toEqual(["agent", "event", "ready"]);
    expect(JSON.parse(readFileSync(join(found, "event"), "utf8"))).toEqual({ transcript_path: path(name) });
  });

  it.each([
    ["no JSON", "'; touch hacked; '"],
    ["nothing", ""],
    ["a path that is not from the top", '{"transcript_path":"s.jsonl"}'],
    ["a folder", '{"transcript_path":"/tmp"}'],
    ["a file that is not there", '{"transcript_path":"/nowhere/s.jsonl"}'],
    ["two paths in two lines", '{"transcript_path":"/etc/hostname"}\n{"transcript_path":"/etc/passwd"}'],
    ["a path within another text", JSON.stringify({ prompt: 'x "transcript_path":"/etc/hostname" y' })],
  ])("is the event alone where that holds %s", async (_, event) => {
    runHook(event);
    const found = await entry();
    expect(readdirSync(found).sort()).toEqual(["agent", "event", "ready"]);
    expect(readFileSync(join(found, "event"), "utf8")).toBe(event);
  });

  it("is found in JSON over several lines", async () => {
    writeFileSync(path("s.jsonl"), "said\n");
    runHook(JSON.stringify({ a: 1, transcript_path: path("s.jsonl"), b: 2 }, null, 2));
    expect(await kept()).toBe("said\n");
  });

  it("is what a link leads to", async () => {
    writeFileSync(path("s.jsonl"), "said\n");
    symlinkSync(path("s.jsonl"), path("link.jsonl"));
    runHook({ transcript_path: path("link.jsonl") });
    expect(await kept()).toBe("said\n");
  });

  it.each([
    ["small", 4, null],
    ["large, of an agent that rewrites its files", LARGE, "copy"],
  ] as const)("stays when the file is truncated in place right after: %s", async (_, size, mode) => {
    const session = path("s.jsonl");
    writeFileSync(session, Buffer.alloc(size, "x"));
    runHook({ transcript_path: session }, mode);
    truncateSync(session, 0);
    expect((await kept()).length).toBe(size);
  });

  it("stays when a large file is removed right after, or truncated once it was copied in the background", async () => {
    const session = path("s.jsonl");
    writeFileSync(session, Buffer.alloc(LARGE, "x"));
    linkSync(session, path("other.jsonl"));
    runHook({ transcript_path: session });
    rmSync(session);
    expect((await kept()).length).toBe(LARGE);
    truncateSync(path("other.jsonl"), 0);
    expect((await kept()).length).toBe(LARGE);
  });

  it("is copied where no link can be made, from another file system for one", async () => {
    // Another file system where the machine has one, else the same: there a link is made.
    const isOther = (at: string): boolean => existsSync(at) && statSync(at).dev !== statSync(folder.path).dev;
    const other = mkdtempSync(join(["/dev/shm", "/var/tmp", "/tmp"].find(isOther) ?? folder.path, "jpg-test-"));
    try {
      writeFileSync(join(other, "s.jsonl"), Buffer.alloc(LARGE, "x"));
      runHook({ transcript_path: join(other, "s.jsonl") });
      expect((await kept()).length).toBe(LARGE);
    } finally {
      rmSync(other, { recursive: true });
    }
  });

  it("shares nothing with a session that continues", async () => {
    writeFileSync(path("s.jsonl"), "one\n");
    runHook({ transcript_path: path("s.jsonl") });
    appendFileSync(path("s.jsonl"), "two\n");
    expect(await kept()).toBe("one\n");
  });
});

describe.skipIf(isWindows)("a hook (POSIX)", () => {
  it("does nothing, silently, when jpg or node or the script is gone, and when the spool cannot be written to", () => {
    rmSync(places.jpgPath);
    runHook({ transcript_path: places.script });
    expect(existsSync(places.spool)).toBe(false);
    writeFileSync(places.jpgPath, "");
    writeFileSync(places.spool, "a file in the way");
    runHook({ transcript_path: places.script });
    rmSync(places.spool);
    rmSync(places.nodePath);
    runHook({ transcript_path: places.script });
    rmSync(places.script);
    runHook({ transcript_path: places.jpgPath });
    expect(existsSync(places.spool)).toBe(false);
    expect(called()).toBe("");
  });

  it("of a project's shared settings finds the script of the user who runs it, and names nobody's home", async () => {
    const line = hookLine(places, { agent: "an-agent", mode: null, isShared: true });
    expect(line).not.toContain(folder.path);
    const run = (env: Record<string, string>): void => {
      const input = JSON.stringify({ transcript_path: path("s.jsonl") });
      const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", line], {
        input,
        encoding: "utf8",
        env: { PATH: process.env["PATH"] ?? "", ...env },
      });
      expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" });
    };
    writeFileSync(path("s.jsonl"), "said\n");
    run({ HOME: path("home") });
    expect(existsSync(places.spool)).toBe(false);
    mkdirSync(path("state/jpg/hooks"), { recursive: true });
    writeFileSync(path("state/jpg/hooks/keep.sh"), hookScript(places));
    run({ HOME: path("home"), XDG_STATE_HOME: path("state") });
    expect(await kept()).toBe("said\n");
  });
});
