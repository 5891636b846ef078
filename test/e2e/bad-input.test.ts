// Bad input and a broken world outside: every case is a clear error with what to do next and the right exit code, and
// nothing is lost or half written.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sessionBytes } from "../helpers/claude-session.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { expectNoBug, expectRefusal } from "../helpers/refusal.ts";
import { createSandbox, type Sandbox, smallSession, smallSessionLines, storeState } from "../helpers/run-jpg.ts";

const made: Sandbox[] = [];
async function imported(turns?: number): Promise<ImportedSandbox> {
  const sandbox = await copyImportedSandbox(turns);
  made.push(sandbox);
  return sandbox;
}
function sandboxed(): Sandbox {
  const sandbox = createSandbox();
  made.push(sandbox);
  return sandbox;
}
afterAll(() => {
  for (const sandbox of made) sandbox.remove();
});

describe.concurrent("a file that is no session", () => {
  it.each([
    ["text", "hello\n", "not_a_session", /not a session in a format that jpg imports/],
    [
      "binary",
      Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 73) % 256)),
      "not_a_session",
      /not a session/,
    ],
    ["empty", "", "empty_session", /is empty/],
    ["JSON of another kind", '{"a":1}\n[1,2]\n', "not_a_session", /not a session/],
    [
      "a session in which nobody asked anything",
      '{"type":"file-history-snapshot","messageId":"m","snapshot":{},"isSnapshotUpdate":false}\n',
      "empty_session",
      /holds no turn: nothing was asked|not a session/,
    ],
  ])("is refused: %s", async (_name, content, code, says) => {
    const sandbox = sandboxed();
    const path = sandbox.session("file.jsonl", content);
    const error = await expectRefusal(sandbox, ["import", path], {
      code: expect.stringMatching(new RegExp(`${code}|not_a_session`)) as unknown as string,
      exit: 2,
      says,
    });
    expect(error.message).toContain(path);
    expect(existsSync(sandbox.store), "no store is left behind").toBe(false);
  });

  it("is named also when its format was named, and on standard input", async () => {
    const sandbox = sandboxed();
    const path = sandbox.session("file.txt", "hello\n");
    await expectRefusal(sandbox, ["import", "claude-code", path], {
      code: "not_a_session",
      exit: 2,
      says: new RegExp(path),
    });
    await expectRefusal(sandbox, ["import", "-"], { code: "empty_session", exit: 2, says: /standard input is empty/ });
    await expectRefusal(sandbox, ["import", "claud-code", path], {
      code: "unknown_format",
      exit: 2,
      says: /claud-code/,
      hint: /Did you mean claude-code/,
    });
    await expectRefusal(sandbox, ["import", "/no/such/file.jsonl"], {
      code: "no_such_file",
      exit: 2,
      says: /does not exist/,
    });
    await expectRefusal(sandbox, ["import", "claudecode"], {
      code: "no_such_file",
      exit: 2,
      says: /does not exist/,
      hint: /^Did you mean `jpg import claude-code`\?$/m,
    });
    await expectRefusal(sandbox, ["import"], {
      code: "no_sessions",
      exit: 2,
      says: /No agent on this machine/,
      hint: /jpg import FILE/,
    });
    expect(existsSync(sandbox.store), "no store is left behind").toBe(false);
  });

  it("is passed over in a folder, with a word about it, and the sessions beside it come in", async () => {
    const sandbox = sandboxed();
    const path = sandbox.session("notes.jsonl", "hello\n");
    sandbox.session("small.jsonl", smallSession());
    const result = await sandbox.jpg(["import", join(path, "..")]);
    expect(result.code).toBe(0);
    expect(result.stderr).toMatch(/warning: .*notes\.jsonl is not a session/);
    expect(result.stdout).toMatch(/1 session: 1 created/);
  });
});

describe.concurrent("a damaged session", () => {
  const lines = smallSessionLines({ turns: 3 }).map((line) => JSON.stringify(line));
  const long = {
    ...smallSessionLines({ turns: 1 })[0],
    message: { role: "user", content: "x".repeat(10 * 1024 * 1024) },
  };
  const cases: readonly (readonly [string, Buffer, number])[] = [
    ["its last line is truncated", Buffer.from(`${lines.join("\n")}\n${lines[3]?.slice(0, 60)}`), 1],
    ["a line of NUL bytes", sessionBytes([...lines.slice(0, 4), "\0".repeat(64), ...lines.slice(4)]), 1],
    ["a line with a NUL inside", sessionBytes([...lines.slice(0, 4), '{"type":"us\0er"}', ...lines.slice(4)]), 1],
    [
      "invalid UTF-8",
      Buffer.concat([
        sessionBytes(lines.slice(0, 4)),
        Buffer.from([0x7b, 0xff, 0xfe, 0x7d, 0x0a]),
        sessionBytes(lines.slice(4)),
      ]),
      1,
    ],
    ["a line of 10 MB", sessionBytes([JSON.stringify(long), ...lines.slice(1)]), 0],
  ];

  it.each(cases)(
    "is imported as far as it can be read, counted, and comes back byte for byte: %s",
    { tags: ["slow"] },
    async (_name, bytes, skipped) => {
      const sandbox = sandboxed();
      const path = sandbox.session("damaged.jsonl", bytes);
      const [report] = await sandbox.json<
        readonly { turns: number; skipped_lines: number; skipped: readonly { line: number; reason: string }[] }[]
      >(["import", path]);
      expect(report).toMatchObject({ turns: 3, skipped_lines: skipped });
      expect(report?.skipped.every(({ line, reason }) => line > 0 && reason !== "")).toBe(true);
      const out = join(sandbox.root, "out.jsonl");
      expect((await sandbox.jpg(["export", "--original", "-o", out])).code).toBe(0);
      expect(readFileSync(out).equals(bytes)).toBe(true);
      const [again] = await sandbox.json<readonly { status: string }[]>(["import", path]);
      expect(again?.status).toBe("unchanged");
    },
  );
});

describe("wrong words", () => {
  let sandbox: ImportedSandbox;
  let before: string;
  beforeAll(async () => {
    sandbox = await copyImportedSandbox();
    const other = sandbox.session(
      "other.jsonl",
      smallSession({ turns: 2, id: "5e551073-0000-4000-8000-0000000000bb" }),
    );
    await sandbox.jpg(["import", other]);
    await sandbox.jpg(["use", sandbox.conversation]);
    before = storeState(sandbox);
  });
  afterAll(() => {
    expect(storeState(sandbox)).toBe(before);
    sandbox.remove();
  });

  it.concurrent.each<[string, readonly string[], string, RegExp, RegExp?]>([
    ["a command that is none", ["compcat"], "unknown_command", /compcat/, /Did you mean `jpg compact`/],
    ["an option that is none", ["compact", "--proflie", "light"], "usage", /--proflie/, /Did you mean --profile/],
    ["an option before the command that is none", ["--jsno", "ls"], "usage", /--jsno/, /Did you mean --json/],
    ["a format that is none", ["export", "--to", "markdwon"], "unknown_format", /markdwon/, /Did you mean markdown/],
    ["a choice that is none", ["ls", "--sort", "sise"], "usage", /sise/, /Did you mean size/],
    ["too many words", ["ls", "here"], "usage", /jpg ls takes no arguments/],
    ["a missing word", ["use"], "usage", /jpg use needs ID/],
    ["a wrong id", ["show", "nothing-like-it"], "unknown_id", /no conversation, compaction, commit or event/],
    [
      "a wrong conversation",
      ["log", "measure-the-tide-at-the-peer"],
      "unknown_id",
      /no conversation or commit called /,
    ],
    ["an ambiguous prefix", ["show", "measure"], "ambiguous_id", /could mean 2 things: measure-.*, measure-/],
    ["a bad bound", ["compact", "--to", "soon"], "bad_bound", /"soon"/, /5h/],
    ["an event that the turn has not", ["compact", "--to", "2:nope"], "unknown_event", /no event "nope"/],
    ["a bad number", ["compact", "--keep", "two"], "bad_number", /whole number.*got two/],
    ["a negative number", ["compact", "--keep", "-1"], "bad_number", /got -1/],
    ["--to with --keep", ["compact", "--to", "2", "--keep", "1"], "contradictory_flags", /--to and --keep/],
    [
      "--keep with --keep-last",
      ["compact", "--keep", "2", "--keep-last", "1"],
      "contradictory_flags",
      /--keep and --keep-last/,
    ],
    ["--fork with --in-place", ["compact", "--fork", "--in-place"], "contradictory_flags", /contradict/],
    ["--emit with --accept", ["compact", "--emit", "-", "--accept", "-"], "contradictory_flags", /contradict/],
    ["--original with --to", ["export", "--original", "--to", "jsonl"], "contradictory_flags", /--original/],
    ["--first with --until", ["fork", "--first", "1", "--until", "2"], "contradictory_flags", /--first and --until/],
    [
      "an unknown profile",
      ["compact", "--profile", "lihgt"],
      "unknown_profile",
      /default, light/,
      /Did you mean light/,
    ],
    [
      "an unknown profile of a fork",
      ["fork", "--compact=lihgt"],
      "unknown_profile",
      /default, light/,
      /Did you mean light/,
    ],
    ["a name that is no branch name", ["fork", "@", "no way"], "bad_name", /no way/],
    ["a turn that is not there", ["print", "--turn", "99"], "bad_turns", /0\.\.5/],
    ["a revision that is none", ["export", "--to", "jsonl", "--at", "zzz"], "unknown_revision", /zzz/],
    ["revisions that are none", ["diff", "@", "aa..bb"], "unknown_revision", /aa/],
    ["lines that are no number", ["diff", "-U", "x"], "bad_number", /whole number/],
    ["a setting that is none", ["compact", "-c", "keeplast=2"], "unknown_key", /keeplast/, /keep_last/],
    ["a setting of another type", ["compact", "-c", "keep_last=many"], "bad_value", /keep_last/],
    ["a commit that is no compaction", ["revert", "HEAD~1"], "not_a_compaction", /HEAD~1 is not a compaction/],
    ["--no-activate without --fork", ["compact", "--no-activate"], "usage", /--no-activate/, /--fork --no-activate/],
    ["nothing to undo", ["undo"], "nothing_to_undo", /no live compaction/],
    ["an empty title", ["title", "@", "  "], "empty_title", /not blank/],
    [
      "an agent that is none",
      ["resume", "--with", "claude-cod"],
      "unknown_agent",
      /claude-cod/,
      /Did you mean claude-code/,
    ],
    ["a summary that is not there", ["compact", "--accept", "/no/such/file"], "unreadable_file", /cannot be read/],
    [
      "a place that is not there",
      ["export", "--to", "jsonl", "-o", "/no/such/place"],
      "cannot_write",
      /cannot be written/,
    ],
  ])("are refused with the right words next to them: %s", async (_name, args, code, says, hint) => {
    await expectRefusal(sandbox, args, { code, exit: 2, says, ...(hint === undefined ? {} : { hint }) });
  });

  it("an ambiguous prefix lists the candidates as data too", async () => {
    const error = await expectRefusal(sandbox, ["use", "measure-the"], {
      code: "ambiguous_id",
      exit: 2,
      says: /could mean 2/,
    });
    expect(error.data?.["candidates"]).toHaveLength(2);
  });

  it("a word that is no bound is refused as a bound, and the forms of one are said", async () => {
    for (const words of [
      ["compact", "--from", "tomorrow"],
      ["compact", "--from", "tomorrow", "--to", "3"],
      ["compact", "@", "--from", "tomorrow"],
      ["compact", "--from=tomorrow"],
      ["compact", "--to", "tomorrow"],
      ["fork", "--from", "tomorrow"],
      ["fork", "--until", "tomorrow"],
    ]) {
      const error = await expectRefusal(sandbox, words, { code: "bad_bound", exit: 2, says: /"tomorrow"/ });
      expect(error.data).toEqual({ bound: "tomorrow" });
      expect(error.hints?.join("\n"), words.join(" ")).toMatch(/turn 5, counted from 0[\s\S]*a time ago[\s\S]*last/);
    }
    await expectRefusal(sandbox, ["compact", "tomorrow", "--from"], { code: "unknown_id", exit: 2, says: /tomorrow/ });
  });

  it("an empty range is nothing to compact: exit 0 and no commit", async () => {
    for (const range of [
      ["--from", "4", "--to", "2"],
      ["--from", "90"],
      ["--to", "1000d"],
      ["--keep", "50"],
    ]) {
      const report = await sandbox.json(["compact", ...range]);
      expect(report, range.join(" ")).toMatchObject({
        compaction: null,
        commit: null,
        reason: expect.stringMatching(/\w/) as string,
      });
    }
    const { stdout, code } = await sandbox.jpg(["compact", "--from", "90"]);
    expect({ stdout, code }).toMatchInlineSnapshot(`
      {
        "code": 0,
        "stdout": "Nothing to compact. The range begins after the last turn (5).
      ",
      }
    `);
  });
});

describe.concurrent("a conversation that cannot be read", () => {
  /** Commits another conversation.json on the active branch, as another program might. */
  function rewriteHeader(sandbox: Sandbox, edit: (text: string) => string): void {
    const path = join(sandbox.store, "conversation.json");
    writeFileSync(path, edit(readFileSync(path, "utf8")));
    sandbox.git(["-c", "core.hooksPath=/dev/null", "commit", "-qam", "header"]);
  }

  it("of a newer format version is refused, naming both versions, and hides no other conversation", async () => {
    const sandbox = await imported();
    await sandbox.jpg([
      "import",
      sandbox.session("other.jsonl", smallSession({ turns: 2, id: "5e551073-0000-4000-8000-0000000000bb" })),
    ]);
    rewriteHeader(sandbox, (text) => text.replace(/"format": ?1/, '"format":7'));
    for (const command of ["show", "compact", "log", "print", "fork"]) {
      await expectRefusal(sandbox, [command], {
        code: "newer_format",
        exit: 3,
        says: /version 7; this jpg reads up to 1/,
        hint: /Update jpg/,
      });
    }
    const list = await sandbox.jpg(["ls", "--json"]);
    expect((JSON.parse(list.stdout) as unknown[]).length).toBe(1);
    expect(list.stderr).toMatch(/warning: .*format version 7/);
    expect(list.code).toBe(3);
    expect((await sandbox.jpg(["use", sandbox.conversation])).code).toBe(0);
  });

  it("is reported with its file when the header is damaged", async () => {
    const sandbox = await imported();
    rewriteHeader(sandbox, () => "{");
    await expectRefusal(sandbox, ["show"], { code: "damaged_header", exit: 3, says: /conversation\.json.*not JSON/ });
  });

  describe("in which a link or another repository stands for a file", () => {
    const run = (sandbox: Sandbox, ...args: string[]): string =>
      sandbox
        .git(["-c", "core.hooksPath=/dev/null", "-c", "core.sparseCheckout=false", "-c", "index.sparse=false", ...args])
        .trim();

    /** Puts it at a path of the branch, as stock git does. */
    function plant(sandbox: Awaited<ReturnType<typeof imported>>, path: string, kind: string): void {
      const there = kind === "a repository" ? run(sandbox, "rev-parse", "HEAD") : "1".repeat(40);
      const [mode, oid] = kind === "a link" ? ["120000", hashObject(sandbox, "/etc/passwd")] : ["160000", there];
      run(sandbox, "read-tree", "HEAD");
      run(sandbox, "update-index", "--force-remove", path);
      run(sandbox, "update-index", "--add", "--info-only", "--cacheinfo", `${mode},${oid},${path}`);
      const commit = run(
        sandbox,
        "commit-tree",
        run(sandbox, "write-tree", "--missing-ok"),
        "-p",
        "HEAD",
        "-m",
        "planted",
      );
      run(sandbox, "update-ref", `refs/heads/${sandbox.conversation}/main`, commit);
      run(sandbox, "read-tree", "HEAD");
    }

    function hashObject(sandbox: Sandbox, text: string): string {
      const path = sandbox.session("planted", text);
      return run(sandbox, "hash-object", "-w", path);
    }

    const KINDS = ["a repository", "a repository that is not here", "a link"];
    const at = (...paths: string[]): [string, string][] =>
      paths.flatMap((path) => KINDS.map((kind): [string, string] => [path, kind]));

    it.each(at("turns/0000/000002.jsonl", "turns/0000/000005.jsonl"))(
      "%s: what it was is read (%s)",
      { tags: ["slow"] },
      async (path, kind) => {
        const sandbox = await imported();
        const before = (await sandbox.jpg(["print"])).stdout;
        plant(sandbox, path, kind);
        expect(await sandbox.jpg(["ls"])).toMatchObject({ code: 0 });
        expect(await sandbox.jpg(["print"])).toMatchObject({
          code: 0,
          stdout: before,
          stderr: expect.stringMatching(/was removed.*`jpg git/s),
        });
        expect(await sandbox.jpg(["fsck"])).toMatchObject({ code: 1, stdout: expect.stringContaining(`not_a_file`) });
        await expectRefusal(sandbox, ["compact"], { code: "turn_missing", exit: 3, says: /Turn \d/ });
      },
    );

    it.each(at("turns/0000/000006.jsonl", "compactions/000000-x.jsonl", "meta/label.jsonl", "sources/x", "sub"))(
      "%s: is passed over (%s)",
      { tags: ["slow"] },
      async (path, kind) => {
        const sandbox = await imported();
        const before = (await sandbox.jpg(["print"])).stdout;
        plant(sandbox, path, kind);
        expect(await sandbox.jpg(["ls"])).toMatchObject({ code: 0, stderr: "" });
        expect(await sandbox.jpg(["print"])).toMatchObject({ code: 0, stdout: before, stderr: "" });
        expect(await sandbox.jpg(["fsck"])).toMatchObject({ code: 1, stdout: expect.stringContaining(`not_a_file`) });
      },
    );

    it.each(at("conversation.json"))("%s: it is read as it was, for it is written once (%s)", async (path, kind) => {
      const sandbox = await imported();
      const before = (await sandbox.jpg(["print"])).stdout;
      plant(sandbox, path, kind);
      expect(await sandbox.jpg(["ls"])).toMatchObject({ code: 0, stderr: "" });
      expect(await sandbox.jpg(["print"])).toMatchObject({ code: 0, stdout: before });
      expect(await sandbox.jpg(["fsck"])).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(/header_unreadable.*a link or another repository/),
      });
    });
  });

  it("is read with a turn that a commit took out of it, and said how to have it back", { tags: ["slow"] }, async () => {
    const sandbox = await imported();
    const before = (await sandbox.jpg(["print"])).stdout;
    sandbox.git(["-c", "core.hooksPath=/dev/null", "rm", "-q", "--sparse", "turns/0000/000002.jsonl"]);
    sandbox.git(["-c", "core.hooksPath=/dev/null", "commit", "-qm", "gone"]);
    const commit = sandbox.git(["rev-parse", "HEAD"]).trim();
    for (const command of [["print"], ["show"], ["stats"], ["log"], ["ls"], ["diff"], ["search", "a"]])
      expect([command, (await sandbox.jpg(command)).code]).toEqual([command, 0]);
    const read = await sandbox.jpg(["print"]);
    expect(read.stdout).toBe(before);
    expect(read.stderr).toContain("Turn 2 of");
    expect(read.stderr).toContain(`jpg git revert ${commit.slice(0, 9)}`);
    await expectRefusal(sandbox, ["compact"], {
      code: "turn_missing",
      exit: 3,
      says: /Turn 2/,
      hint: /jpg git revert/,
    });
    sandbox.git(["-c", "core.hooksPath=/dev/null", "revert", "--no-edit", commit]);
    expect(await sandbox.jpg(["compact", "--dry-run"])).toMatchObject({ code: 0 });
    expect((await sandbox.jpg(["print"])).stderr).toBe("");
  });

  it("is read with a turn that a rebase dropped, as it was where the branch stood", async () => {
    const sandbox = await imported();
    const branch = `${sandbox.conversation}/main`;
    const before = (await sandbox.jpg(["print"])).stdout;
    const tip = sandbox.git(["rev-parse", branch]).trim();
    const run = (...args: string[]): string => sandbox.git(["-c", "core.hooksPath=/dev/null", ...args]).trim();
    run("rm", "-q", "--cached", "--sparse", "turns/0000/000002.jsonl");
    run("update-ref", "-m", "rebase", "HEAD", run("commit-tree", run("write-tree"), "-m", "dropped"));
    const read = await sandbox.jpg(["print"]);
    expect([read.code, read.stdout]).toEqual([0, before]);
    expect(read.stderr).toContain(`jpg git branch ${sandbox.conversation}/before ${tip.slice(0, 12)}`);
    await expectRefusal(sandbox, ["compact"], {
      code: "turn_missing",
      exit: 3,
      says: /Turn 2/,
      hint: /jpg git branch/,
    });
  });

  it("names a turn that is nowhere any more", async () => {
    const sandbox = await imported();
    const run = (...args: string[]): string => sandbox.git(["-c", "core.hooksPath=/dev/null", ...args]).trim();
    run("rm", "-q", "--cached", "--sparse", "turns/0000/000002.jsonl");
    run("update-ref", "HEAD", run("commit-tree", run("write-tree"), "-m", "dropped"));
    rmSync(join(sandbox.store, ".git/logs"), { recursive: true });
    await expectRefusal(sandbox, ["print"], { code: "turn_missing", exit: 3, says: /Turn 2/, hint: /jpg git log/ });
  });
});

describe.concurrent("a damaged store", () => {
  /** Unpacks all objects, so that one can be damaged. Gives the file of one. */
  function looseObject(sandbox: Sandbox, revision: string): string {
    const packs = join(sandbox.store, ".git", "objects", "pack");
    for (const name of readdirSync(packs).filter((file) => file.endsWith(".pack"))) {
      const bytes = readFileSync(join(packs, name));
      for (const file of readdirSync(packs)) unlinkSync(join(packs, file));
      const path = join(sandbox.root, "saved.pack");
      writeFileSync(path, bytes);
      sandbox.git(["-c", `alias.unpack=!git unpack-objects -q < '${path}'`, "unpack"]);
    }
    const oid = sandbox.git(["rev-parse", revision]);
    return join(sandbox.store, ".git", "objects", oid.slice(0, 2), oid.slice(2));
  }

  it("says which object is corrupt or missing and writes nothing", async () => {
    const sandbox = await imported();
    const file = looseObject(sandbox, "HEAD:turns/0000/000001.jsonl");
    const before = storeState(sandbox);
    chmodSync(file, 0o644);
    writeFileSync(file, "garbage");
    await expectRefusal(sandbox, ["compact"], { code: "store_damaged", exit: 3, says: /damaged/, hint: /fsck/ });
    unlinkSync(file);
    await expectRefusal(sandbox, ["compact"], { code: "object_missing", exit: 3, says: /[0-9a-f]{40}/, hint: /fsck/ });
    await expectRefusal(sandbox, ["print"], { code: "object_missing", exit: 3, says: /not in the store/ });
    expect(storeState(sandbox)).toBe(before);
    expect((await sandbox.jpg(["log"])).code).toBe(0);
  });

  it("says what is wrong with HEAD, a ref or the config", async () => {
    const sandbox = await imported();
    const head = join(sandbox.store, ".git", "HEAD");
    const ref = join(sandbox.store, ".git", readFileSync(head, "utf8").trim().slice("ref: ".length));
    const config = join(sandbox.store, ".git", "config");
    const damaged: readonly (readonly [path: string, text: string, says: RegExp, hint: RegExp])[] = [
      [head, "garbage\n", /cannot be read/, /HEAD/],
      [ref, "garbage\n", /holds no commit id/, /update-ref/],
      [config, "[jpg]\n\tformat = 1\n[core\n", /cannot be read/, /config/],
    ];
    for (const [path, text, says, hint] of damaged) {
      const whole = readFileSync(path, "utf8");
      writeFileSync(path, text);
      await expectRefusal(sandbox, ["compact"], { code: "store_damaged", exit: 3, says, hint });
      await expectRefusal(sandbox, ["ls"], { code: "store_damaged", exit: 3, says, hint });
      writeFileSync(path, whole);
    }
    expect((await sandbox.jpg(["compact", "--dry-run"])).code).toBe(0);
  });

  it("has no active conversation when HEAD is detached or names a branch that is gone", async () => {
    const sandbox = await imported();
    sandbox.git(["-c", "core.hooksPath=/dev/null", "checkout", "-q", "--detach"]);
    await expectRefusal(sandbox, ["compact"], {
      code: "detached_head",
      exit: 2,
      says: /No conversation is checked out here: HEAD is detached at/,
      hint: /jpg use /,
    });
    sandbox.git(["symbolic-ref", "HEAD", "refs/heads/gone/main"]);
    await expectRefusal(sandbox, ["show"], {
      code: "no_conversation",
      exit: 2,
      says: /gone\/main/,
      hint: /jpg use ID/,
    });
    expect((await sandbox.jpg(["use", sandbox.conversation])).code).toBe(0);
    expect((await sandbox.jpg(["compact"])).code).toBe(0);
  });
});

describe.concurrent("a git that will not do", () => {
  /** A PATH with node and, when given, a script in place of git. */
  function pathWith(sandbox: Sandbox, script?: string): { PATH: string } {
    const folder = mkdtempSync(join(sandbox.root, "path-"));
    symlinkSync(process.execPath, join(folder, "node"));
    if (script !== undefined) writeFileSync(join(folder, "git"), script, { mode: 0o755 });
    return { PATH: script === undefined ? folder : `${folder}:${process.env["PATH"]}` };
  }

  it("is missing: what asks for it says how to get it, and leaves nothing behind", async () => {
    const sandbox = sandboxed();
    const path = sandbox.session("small.jsonl", smallSession());
    const env = pathWith(sandbox);
    const target = join(sandbox.root, "new-store");
    const native = ["--engine", "native"];
    for (const args of [
      ["ls", ...native],
      ["init", ...native],
      ["import", path, ...native],
    ]) {
      const result = await sandbox.jpg(args, { env });
      expect(result).toMatchObject({
        code: 3,
        stdout: "",
        stderr: expect.stringMatching(/needs git 2\.31.*\nhint: Install git/) as string,
      });
    }
    await expectRefusal(
      sandbox,
      ["import", path, "--store", target, ...native],
      { code: "git_missing", exit: 3, says: /2\.31/ },
      { env, cwd: sandbox.root },
    );
    expect(existsSync(target)).toBe(false);
    expect((await sandbox.jpg(["--version"], { env })).code).toBe(0);
    expect((await sandbox.jpg(["--help"], { env })).code).toBe(0);
  });

  it("is too old: names both versions, and leaves nothing behind", async () => {
    const sandbox = sandboxed();
    const env = pathWith(
      sandbox,
      // As git 2.20 answers: rev-parse repeats flags it does not know.
      '#!/bin/sh\ncase "$1" in version) echo "git version 2.20.1";; rev-parse) echo true; echo --path-format=absolute; echo .git;; *) echo "error: unknown option" >&2; exit 129;; esac\n',
    );
    const expected = { code: "git_too_old", exit: 3, says: /2\.31\.0 or newer/, hint: /newer git/ };
    await expectRefusal(sandbox, ["ls"], expected, { env });
    const target = join(sandbox.root, "new-store");
    await expectRefusal(sandbox, ["init", target], { ...expected, says: /2\.20\.1/ }, { env, cwd: sandbox.root });
    expect(existsSync(target)).toBe(false);
  });

  it("finds the disk full: nothing moves, and the command can be run again", { tags: ["slow"] }, async () => {
    const sandbox = await imported();
    const before = storeState(sandbox);
    // Stands in for a full disk: git's own words when it cannot write its pack.
    const env = pathWith(
      sandbox,
      `#!/bin/sh\nfor word; do [ "$word" = fast-import ] && { cat >/dev/null; echo "fatal: sha1 file 'objects/pack/tmp_pack' write error. Out of diskspace" >&2; exit 128; }; done\nPATH='${process.env["PATH"]}' exec git "$@"\n`,
    );
    // Enough turns for git to write them: a few objects jpg writes by itself, and leaves to git where it cannot.
    const grown = sandbox.session("small.jsonl", smallSession({ turns: 60 }));
    for (const args of [["import", grown]]) {
      await expectRefusal(
        sandbox,
        args,
        { code: "disk_full", exit: 3, says: /disk is full/, hint: /Free space/ },
        { env },
      );
      expect(storeState(sandbox)).toBe(before);
    }
    expect((await sandbox.jpg(["import", grown])).stdout).toMatch(/1 updated/);
  });
});

describe.concurrent("a place that may not be written", () => {
  /** A user without rights here: somebody else when the tests run as root. */
  const uid: { readonly uid?: number } = process.getuid?.() === 0 ? { uid: 65534 } : {};

  it("is named, with what to do, and the conversations stay as they are", { tags: ["slow"] }, async () => {
    const sandbox = await imported();
    const before = storeState(sandbox);
    chmodSync(sandbox.root, 0o755);
    const elsewhere = join(sandbox.root, "elsewhere");
    mkdirSync(elsewhere);
    sandbox.git(["config", "core.fileMode", "false"]);
    sandbox.git(["-c", "alias.lock=!chmod -R a-w .", "lock"]);
    chmodSync(elsewhere, 0o555);
    const give = (owner: number | undefined): void => {
      if (uid.uid !== undefined) execFileSync("chown", ["-R", String(owner ?? 0), sandbox.root]);
    };
    const session = sandbox.session("small.jsonl", smallSession({ turns: 8 }));
    give(uid.uid);
    const options = { ...uid, cwd: elsewhere, env: { JPG_STORE: sandbox.store } };
    for (const args of [["compact"], ["fork"], ["title", "@", "Other"], ["import", session]]) {
      await expectRefusal(
        sandbox,
        args,
        { code: "store_not_writable", exit: 3, says: /Permission denied/, hint: /writable/ },
        options,
      );
    }
    await expectRefusal(
      sandbox,
      ["init", "there"],
      { code: "store_not_writable", exit: 3, says: /cannot be made/, hint: /--store DIR/ },
      options,
    );
    await expectRefusal(
      sandbox,
      ["export", "--to", "jsonl", "-o", "out"],
      { code: "cannot_write", exit: 2, says: /permission denied/ },
      options,
    );
    expect((await sandbox.jpg(["print"], options)).code).toBe(0);
    give(0);
    sandbox.git(["-c", "alias.unlock=!chmod -R u+w .", "unlock"], sandbox.store);
    expect(storeState(sandbox)).toBe(before);
  });

  it("has something else in its way", async () => {
    const sandbox = await imported();
    const file = join(sandbox.root, "file");
    writeFileSync(file, "x");
    await expectRefusal(sandbox, ["init", file], {
      code: "store_not_writable",
      exit: 3,
      says: /cannot be made/,
      hint: /in the way/,
    });
    await expectRefusal(sandbox, ["checkout", "@", sandbox.project], {
      code: "directory_not_empty",
      exit: 2,
      says: /not empty/,
    });
    await expectRefusal(
      sandbox,
      ["resume", "--with", "claude-code"],
      { code: "cannot_write", exit: 2, says: /cannot be written/, hint: /CLAUDE_CONFIG_DIR/ },
      { env: { CLAUDE_CONFIG_DIR: file } },
    );
    writeFileSync(join(sandbox.project, ".jpg.toml"), "");
    await expectRefusal(
      sandbox,
      ["trust"],
      { code: "file_in_the_way", exit: 3, says: /in the way/ },
      { env: { XDG_STATE_HOME: file } },
    );
  });

  it("holds the view: what was asked for is done, and the rest is told of", { tags: ["slow"] }, async () => {
    const sandbox = await imported();
    rmSync(join(sandbox.store, "VIEW.md"));
    mkdirSync(join(sandbox.store, "VIEW.md", "folder"), { recursive: true });
    const { code, stdout, stderr } = await sandbox.jpg(["compact"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("Compacted")]);
    expect(stderr).toMatch(/^warning: The view of .*all commits are in the store\. Move it out of .*`jpg use /m);
    await expectRefusal(sandbox, ["use", "@"], {
      code: "view_not_written",
      exit: 3,
      says: /all commits/,
      hint: /jpg use/,
    });
    expect(await sandbox.json(["log"])).toHaveLength(1);
    rmSync(join(sandbox.store, "VIEW.md"), { recursive: true });
    expect((await sandbox.jpg(["use", "@"])).code).toBe(0);
    expect(readFileSync(join(sandbox.store, "VIEW.md"), "utf8")).toContain("[compacted]");
    expect(readdirSync(sandbox.store).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});

describe.concurrent("a worktree that cannot follow", () => {
  it("keeps its local changes: a revert that would overwrite one is refused and changes nothing", {
    tags: ["slow"],
  }, async () => {
    const sandbox = await imported();
    await sandbox.jpg(["compact"]);
    const [name] = readdirSync(join(sandbox.store, "compactions"));
    const record = join(sandbox.store, "compactions", name ?? "");
    writeFileSync(record, `${readFileSync(record, "utf8")}edited\n`);
    const before = storeState(sandbox);
    await expectRefusal(sandbox, ["undo"], {
      code: "worktree_in_the_way",
      exit: 3,
      says: /local changes to compactions\/.*nothing was changed/,
      hint: /stash/,
    });
    expect(storeState(sandbox)).toBe(before);
    expect(readFileSync(record, "utf8")).toMatch(/edited\n$/);
  });

  it("keeps an unfinished merge: a commit to its branch is refused and changes nothing", {
    tags: ["slow"],
  }, async () => {
    const sandbox = await imported();
    const checkout = join(sandbox.root, "checkout");
    await sandbox.jpg(["compact", "--profile", "light"]);
    await sandbox.jpg(["checkout", "@", checkout]);
    const [record] = readdirSync(join(checkout, "compactions"));
    const main = sandbox.git(["branch", "--show-current"], checkout);
    const quiet = ["-c", "core.hooksPath=/dev/null"];
    sandbox.git([...quiet, "switch", "-q", "-c", `${sandbox.conversation}/side`], checkout);
    sandbox.git([...quiet, "rm", "-q", `compactions/${record}`], checkout);
    sandbox.git([...quiet, "commit", "-qm", "away"], checkout);
    sandbox.git([...quiet, "switch", "-q", "--ignore-other-worktrees", main], checkout);
    writeFileSync(join(checkout, "compactions", record ?? ""), "{}\n");
    sandbox.git([...quiet, "commit", "-qam", "edited"], checkout);
    expect(() => sandbox.git([...quiet, "merge", "-q", `${sandbox.conversation}/side`], checkout)).toThrow();
    const refs = sandbox.git(["for-each-ref"]);
    const status = sandbox.git(["status", "--porcelain"], checkout);
    await expectRefusal(sandbox, ["title", "@", "Other"], {
      code: "worktree_in_the_way",
      exit: 3,
      says: /unfinished merge.*nothing was changed/,
      hint: /merge --abort/,
    });
    expect(sandbox.git(["for-each-ref"])).toBe(refs);
    expect(sandbox.git(["status", "--porcelain"], checkout)).toBe(status);
  });

  it("is gone: a deleted checkout folder stops nothing", { tags: ["slow"] }, async () => {
    const sandbox = await imported();
    const checkout = join(sandbox.root, "checkout");
    await sandbox.jpg(["checkout", "@", checkout]);
    rmSync(checkout, { recursive: true });
    const result = await sandbox.jpg(["compact"]);
    expect(result.stderr).toBe("");
    expect(result.code).toBe(0);
    expect((await sandbox.jpg(["checkout", "@", checkout])).code).toBe(0);
  });
});

describe.concurrent("a stranger's config", () => {
  const program = (mark: string): string =>
    `[conversation.tools.Bash.compaction]\nrequest = "keep"\nsubsumes = "touch ${mark}"\n[providers.anthropic]\nkey_command = "touch ${mark}"\n`;

  it("that names a program is never run, is warned about, and counts after jpg trust only as it is", {
    tags: ["slow"],
  }, async () => {
    const sandbox = await imported();
    const mark = join(sandbox.root, "ran");
    const config = join(sandbox.project, ".jpg.toml");
    writeFileSync(config, program(mark));
    const warning = /warning: .*\.jpg\.toml:3: ignored conversation\.tools\.Bash\.compaction\.subsumes.*jpg trust/;
    expect((await sandbox.jpg(["compact"])).stderr).toMatch(warning);
    expect((await sandbox.jpg(["config"])).stderr).toMatch(/key_command/);
    expect((await sandbox.jpg(["config"])).stdout).not.toMatch(/touch/);
    expect((await sandbox.jpg(["trust"])).code).toBe(0);
    expect((await sandbox.jpg(["config"])).stderr).toBe("");
    writeFileSync(config, `${program(mark)}# changed\n`);
    expect((await sandbox.jpg(["compact", "--dry-run", "--json"])).stderr).toMatch(warning);
    expect(existsSync(mark)).toBe(false);
  });

  it("with a mistake in it is refused with file, line and the nearest key", async () => {
    const sandbox = await imported();
    const before = storeState(sandbox);
    writeFileSync(join(sandbox.project, ".jpg.toml"), "[conversation.compaction]\nkeep_lats = 2\n");
    await expectRefusal(sandbox, ["compact"], {
      code: "unknown_key",
      exit: 2,
      says: /\.jpg\.toml:2/,
      hint: /keep_last/,
    });
    writeFileSync(join(sandbox.project, ".jpg.toml"), "[conversation.compaction\n");
    await expectRefusal(sandbox, ["compact"], { code: "bad_toml", exit: 2, says: /\.jpg\.toml:1/ });
    expect(storeState(sandbox)).toBe(before);
  });
});

it("shows errors to people as text on standard error, with nothing on standard output", async () => {
  const sandbox = await imported(2);
  const result = await sandbox.jpg(["compact", "--profile", "lihgt"]);
  expectNoBug(result);
  expect(result).toMatchInlineSnapshot(`
    {
      "code": 2,
      "stderr": "error: There is no compaction profile lihgt: expected one of default, light, heavy.
    hint: Did you mean light?
    hint: \`[conversation.compaction.profiles.NAME]\` in .jpg.toml defines one.
    ",
      "stdout": "",
    }
  `);
});
