// Format plug-ins that misbehave, or that jpg must not run: whatever they do, there is a clear error and nothing is half written.
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findFormatPlugin, readByPlugin } from "../../src/app/sessions/format-plugins.ts";
import { isWindows } from "../helpers/platform.ts";
import { areGone } from "../helpers/processes.ts";
import { createUserRuntime } from "../helpers/run-in-process.ts";
import { createSandbox, type JpgResult, type Sandbox } from "../helpers/run-jpg.ts";

const HEADER = '{"type":"session","protocol":1,"id":"s1"}';
const ASK = '{"type":"chat_request","id":"a","content":"Why?"}';
const GOOD = `printf '%s\\n' '${HEADER}' '${ASK}'`;

let sandbox: Sandbox;
let file: string;
beforeEach(() => {
  sandbox = createSandbox();
  file = sandbox.session("talk.log", "anything\n");
});
afterEach(() => sandbox.remove());

/** Writes a plug-in, a shell script, into a folder; by default jpg's own. */
function plugin(body: string, { folder = join(sandbox.home, ".config", "jpg", "formats"), name = "odd" } = {}): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `jpg-format-${name}`);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

async function trusted(body: string): Promise<string> {
  const path = plugin(body);
  expect((await sandbox.jpg(["trust", "--format", "odd", "--yes"])).code).toBe(0);
  return path;
}

function errorIn({ stdout }: JpgResult): { readonly code: string; readonly message: string } {
  return (JSON.parse(stdout) as { readonly error: { readonly code: string; readonly message: string } }).error;
}

async function expectNothing(): Promise<void> {
  expect(errorIn(await sandbox.jpg(["ls", "--json"])).code).toBe("no_store");
}

describe.skipIf(isWindows)("trust in a format plug-in (POSIX)", () => {
  it("is needed before it runs, is given once, and ends when the program changes", async () => {
    const ran = join(sandbox.root, "ran");
    plugin(`touch '${ran}'; ${GOOD}`);
    const refused = await sandbox.jpg(["import", "odd", file, "--json"]);
    expect(refused.code).toBe(2);
    expect(errorIn(refused).code).toBe("untrusted_format");
    expect(existsSync(ran)).toBe(false);

    const shown = await sandbox.jpg(["trust", "--format", "odd", "--dry-run"]);
    expect(shown.stdout).toContain("jpg-format-odd");
    expect(errorIn(await sandbox.jpg(["import", "odd", file, "--json"])).code).toBe("untrusted_format");

    await sandbox.jpg(["trust", "--format", "odd", "--yes"]);
    expect(await sandbox.json(["import", "odd", file])).toMatchObject([{ status: "created", turns: 1 }]);
    expect(await sandbox.json(["import", "odd", file])).toMatchObject([{ status: "unchanged" }]);
    await sandbox.jpg(["trust", "--format", "odd", "--remove"]);
    expect(errorIn(await sandbox.jpg(["import", "odd", file, "--json"])).code).toBe("untrusted_format");

    await sandbox.jpg(["trust", "--format", "odd", "--yes"]);
    plugin(`${GOOD} # other bytes`);
    expect(errorIn(await sandbox.jpg(["import", "odd", file, "--json"])).code).toBe("untrusted_format");
    expect(errorIn(await sandbox.jpg(["export", "--to", "odd", "--json"])).code).toBe("untrusted_format");
  });

  it("cannot be given to a program of the project or of its store, even if PATH names them", async () => {
    for (const folder of [join(sandbox.project, "bin"), join(sandbox.project, ".git", "jpg", "bin")]) {
      plugin(GOOD, { folder });
      const env = { PATH: `${folder}:bin:.:${sandbox.env["PATH"]}` };
      expect((await sandbox.jpg(["trust", "--format", "odd", "--yes"], { env })).stderr).toContain("no program");
      expect(errorIn(await sandbox.jpg(["import", "odd", file, "--json"], { env })).code).toBe("unknown_format");
    }
    // A folder that is the user's own is fine, also for somebody who keeps the home in a repository.
    const folder = join(sandbox.home, "bin");
    plugin(GOOD, { folder });
    const env = { PATH: `${folder}:${sandbox.env["PATH"]}` };
    sandbox.git(["init", "-q", sandbox.home], sandbox.project);
    expect((await sandbox.jpg(["trust", "--format", "odd"], { env, cwd: sandbox.home })).code).toBe(0);
  });

  it("is not asked for a file that may not be started: what to type is said", async () => {
    const path = plugin(GOOD);
    chmodSync(path, 0o644);
    for (const args of [
      ["import", "odd", file],
      ["trust", "--format", "odd"],
    ]) {
      const { code, stderr } = await sandbox.jpg(args);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`chmod +x ${path}`)]);
    }
  });

  it("is never taken from a conversation: the name of its format starts nothing", async () => {
    const ran = join(sandbox.root, "ran");
    await trusted(GOOD);
    await sandbox.json(["import", "odd", file]);
    plugin(`touch '${ran}'; ${GOOD}`);
    for (const args of [
      ["show"],
      ["print"],
      ["resume"],
      ["import"],
      ["sync"],
      ["check"],
      ["fsck"],
      ["export", "--original"],
    ])
      await sandbox.jpg(args);
    expect(existsSync(ran)).toBe(false);
  });

  it("does not make it replace a format that jpg has", async () => {
    const ran = join(sandbox.root, "ran");
    plugin(`touch '${ran}'`, { name: "pi" });
    await sandbox.jpg(["trust", "--format", "pi", "--yes"]);
    await sandbox.jpg(["import", "pi", file]);
    expect(existsSync(ran)).toBe(false);
  });
});

describe.skipIf(isWindows)("a format plug-in that misbehaves (POSIX)", () => {
  it.each<[name: string, body: string, code: string, message: RegExp]>([
    ["prints nothing", "true", "bad_plugin_output", /no line/],
    ["fails, and says why", "echo 'no session here' >&2; exit 3", "plugin_failed", /exit code 3: no session here\./],
    ["fails after it printed all", `${GOOD}; exit 1`, "plugin_failed", /exit code 1/],
    [
      "says things that a terminal would obey",
      "printf '\\033]0;x\\007\\033[2J\\n' >&2; exit 1",
      "plugin_failed",
      /exit code 1/,
    ],
    ["kills itself", "kill -9 $$", "plugin_failed", /SIGKILL/],
    ["prints no JSON for ever", "yes", "bad_plugin_output", /line 1: not JSON/],
    ["prints a line for ever", "tr '\\0' x < /dev/zero", "bad_plugin_output", /characters/],
    ["ignores SIGTERM while it prints", "trap '' TERM; yes", "bad_plugin_output", /line 1/],
    ["prints bytes that are no text", "printf '\\377\\376\\n'", "bad_plugin_output", /line 1/],
    ["stops within a line", `printf '%s\\n' '${HEADER}'; printf '{"type":"chat_req'`, "bad_plugin_output", /line 2/],
    ["has no turn", `printf '%s\\n' '${HEADER}'`, "empty_session", /no turn/],
  ])("that %s: an error, and nothing is written", { tags: ["slow"] }, async (_, body, code, message) => {
    await trusted(body);
    const result = await sandbox.jpg(["import", "odd", file, "--json"]);
    expect(result.code).toBe(2);
    expect(errorIn(result)).toMatchObject({ code, message: expect.stringMatching(message) });
    expect((await sandbox.jpg(["import", "odd", file])).stderr).not.toContain("\u001b]0");
    await expectNothing();
  });

  it("is ended with what it started when it takes too long, prints too much, or a line is too long", {
    tags: ["slow"],
  }, async () => {
    const runtime = createUserRuntime(sandbox.project, sandbox.env);
    const limits = { timeoutMs: 700, maxBytes: 5000, maxLine: 1000 };
    const read = async (body: string): Promise<unknown> => {
      await trusted(body);
      const found = await findFormatPlugin(runtime, "odd");
      return readByPlugin(runtime, found!, { path: file }, limits).then(
        () => "read",
        (error: unknown) => (error as Error).message,
      );
    };
    const pids = join(sandbox.root, "pids");
    expect(await read(`sleep 60 & echo $! >> '${pids}'; wait`)).toMatch(/did not end within 0\.7 s/);
    expect(await read(`trap '' TERM; sleep 60 & echo $! >> '${pids}'; while :; do sleep 1; done`)).toMatch(/0\.7 s/);
    expect(await read(`printf '%s\\n' '${HEADER}'; yes ''`)).toMatch(/more than 5000 bytes/);
    expect(await read(`printf '%s\\n' '${HEADER}'; head -c 2000 /dev/zero | tr '\\0' x`)).toMatch(/1000 characters/);
    // What ends before jpg reads all of it has been read whole.
    expect(await read(GOOD)).toBe("read");
    expect(await areGone(readFileSync(pids, "utf8").trim().split("\n").map(Number))).toBe(true);
  });

  it("writes nothing over a file when it fails to write a session", { tags: ["slow"] }, async () => {
    await trusted(`[ "$1" = read ] && { ${GOOD}; exit; }; printf 'half of it'; exit 1`);
    await sandbox.jpg(["import", "odd", file]);
    const out = sandbox.session("out.log", "before");
    const result = await sandbox.jpg(["export", "--to", "odd", "-o", out, "--json"]);
    expect(errorIn(result).code).toBe("plugin_failed");
    expect(readFileSync(out, "utf8")).toBe("before");
    await trusted(`[ "$1" = read ] && { ${GOOD}; exit; }; true`);
    expect(errorIn(await sandbox.jpg(["export", "--to", "odd", "-o", out, "--json"])).message).toContain("nothing");
    expect(readFileSync(out, "utf8")).toBe("before");
  });

  it("is told of no file that changes while it reads", { tags: ["slow"] }, async () => {
    await trusted(`${GOOD}; printf 'more\\n' >> "$2"`);
    expect(errorIn(await sandbox.jpg(["import", "odd", file, "--json"])).code).toBe("file_changed");
    await expectNothing();
  });

  it.each(["SIGINT", "SIGTERM"] as const)(
    "ends with jpg within two seconds at %s",
    { tags: ["slow"] },
    async (signal) => {
      const pids = join(sandbox.root, "pids");
      await trusted(`trap '' INT TERM; echo $$ > '${pids}.new'; mv '${pids}.new' '${pids}'; while :; do sleep 1; done`);
      const bin = join(import.meta.dirname, "..", "..", "bin", "jpg.js");
      const child = spawn(process.execPath, [bin, "import", "odd", file], { cwd: sandbox.project, env: sandbox.env });
      const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
      while (!existsSync(pids)) await sleep(20);
      const from = Date.now();
      child.kill(signal);
      await ended;
      expect(Date.now() - from).toBeLessThan(2000);
      expect(await areGone([Number(readFileSync(pids, "utf8"))])).toBe(true);
      await expectNothing();
    },
  );
});

describe.skipIf(isWindows)("a session that a plug-in reads (POSIX)", () => {
  it("is found by a link, from standard input, and several at once; one that fails does not stop the others", {
    tags: ["slow"],
  }, async () => {
    const real = plugin(
      `[ -s "$2" ] || exit 4; printf '%s\\n' '{"type":"session","protocol":1,"id":"'"$(cksum < "$2" | tr ' ' -)"'"}' '${ASK}'`,
      { folder: join(sandbox.root, "elsewhere"), name: "real" },
    );
    mkdirSync(join(sandbox.home, ".config", "jpg", "formats"), { recursive: true });
    symlinkSync(real, join(sandbox.home, ".config", "jpg", "formats", "jpg-format-odd"));
    await sandbox.jpg(["trust", "--format", "odd", "--yes"]);
    const [empty, other] = [sandbox.session("empty.log", ""), sandbox.session("other.log", "other\n")];
    const rows = await sandbox.json(["import", "odd", file, empty, other]);
    expect(rows).toMatchObject([{ status: "created" }, { status: "created" }, { error: { code: "plugin_failed" } }]);
    const input = readFileSync(file);
    expect(await sandbox.json(["import", "odd", "-"], { input })).toMatchObject([{ status: "unchanged" }]);
    expect((await sandbox.jpg(["import", "odd", sandbox.project])).stderr).toMatch(/a folder was named/);
    expect((await sandbox.jpg(["import", "odd"])).stderr).toMatch(/reads files that you name/);
  });

  it("forks where its turns are others than before", { tags: ["slow"] }, async () => {
    const body = (last: string): string =>
      `[ "$1" = read ] && printf '%s\\n' '${HEADER}' '${ASK}' '{"type":"chat_request","id":"${last}","content":"${last}"}'`;
    const path = await trusted(body("b"));
    expect(await sandbox.json(["import", "odd", file])).toMatchObject([{ status: "created", turns: 2 }]);
    renameSync(path, `${path}.old`);
    await trusted(body("c"));
    // The same bytes are the same session, whatever the plug-in makes of them now.
    expect(await sandbox.json(["import", "odd", file])).toMatchObject([{ status: "unchanged", turns: 2 }]);
    writeFileSync(file, "rewritten\n");
    expect(await sandbox.json(["import", "odd", file])).toMatchObject([{ status: "forked", turns: 2 }]);
    expect((await sandbox.jpg(["fsck"])).code).toBe(0);
  });
});
