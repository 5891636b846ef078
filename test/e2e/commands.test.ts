// The command contract of DESIGN §5, run as a user would: documents, optional values, ids, exit codes, what each flag does.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Json } from "../helpers/claude-session.ts";
import { writeUserConfig } from "../helpers/live-jpg.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { expectNoBug, expectRefusal } from "../helpers/refusal.ts";
import { createSandbox, runJpg, type Sandbox, smallSession, storeState } from "../helpers/run-jpg.ts";

// covers: 064 "`compact [ID] [OPTIONS]` on the active or the named conversation"
// covers: 064 "`jp conversation compact` as spelling"
// covers: 064 "Works with workspace defaults, without flags"
// covers: 064 "`--profile NAME`, default `default`"
// covers: 064 "`--dry-run` shows mechanical effects without applying"
// covers: 064 "`--from` without a value = `last`"
// covers: 064 "`print` shows the full history"
// covers: 064 "`print --compacted` shows what the model sees"
// covers: 064 "1. Collect all compactions"
// covers: 064 "No code path feeds a projected view to a summariser"
// covers: 064 "An accepted, authored summary without a model (`--accept`)"
// covers: 064 "Fork proliferation is avoided: in place by default"
// covers: 064 "3.3 The command with its flags"
// covers: 064 "3.5 `--compacted` on print"
// covers: 064 "3.6 Integration tests"
// covers: 064 "4.4 Profiles wired into the command"
// covers: 036 "Forks by default, activates the fork, original intact"
// covers: 036 "`--in-place` (destructive)"
// covers: 036 "`--dry-run` shows what would change"
// covers: 036 "`--no-activate` (fork mode only)"
// covers: 036 "CompactionReport: `events_removed`, `estimated_tokens_saved`"
// covers: 036 "Dry run and clear warnings"
// covers: 036 "Fork-only is annoying"
// covers: 036 "1.1 Compactor and report"
// covers: 036 "1.5 Command with `--keep-last`, `--in-place`, `--dry-run`"
// covers: history "Reusable for export, handoff, other agents"
// covers: history "Manual compaction is always available"
// covers: history "Export with the full history (`--full-history`)"
// covers: history "Undo of the last compaction: `jpg undo`"
// covers: history "Kept in memory only"

/** A conversation for one group of tests; those of a group build on each other only where they say so. */
function shared(turns = 6): { get(): ImportedSandbox } {
  let sandbox: ImportedSandbox;
  beforeAll(async () => {
    sandbox = await copyImportedSandbox(turns);
  });
  afterAll(() => sandbox.remove());
  return { get: () => sandbox };
}

const commits = (sandbox: Sandbox, branch: string): number => Number(sandbox.git(["rev-list", "--count", branch]));
const refs = (sandbox: Sandbox): string[] => sandbox.git(["for-each-ref", "--format=%(refname:lstrip=2)"]).split("\n");
const objects = (sandbox: Sandbox): number =>
  sandbox.git(["cat-file", "--batch-check", "--batch-all-objects"]).split("\n").length;

describe("the documents of --json", () => {
  const group = shared();

  it("have the keys of the contract", async () => {
    const sandbox = group.get();
    const branch = `${sandbox.conversation}/main`;
    const file = join(sandbox.root, "sessions", "small.jsonl");
    const [imported] = await sandbox.json<Json[]>(["import", file]);
    expect(imported).toMatchObject({
      id: sandbox.conversation,
      branch,
      turns: 6,
      compactions: 0,
      skipped_lines: 0,
      status: "unchanged",
    });
    expect(imported?.["events"]).toEqual(expect.any(Number));

    const compacted = await sandbox.json(["compact"]);
    expect(compacted).toMatchObject({
      conversation: sandbox.conversation,
      branch,
      from_turn: 0,
      to_turn: 2,
      policies: "reasoning + tools stripped",
    });
    expect(compacted).toMatchObject({
      compaction: expect.stringMatching(/^[0-9a-z]{6}$/) as string,
      commit: expect.stringMatching(/^[0-9a-f]{40}$/) as string,
    });
    expect(compacted["tokens"]).toEqual({ before: expect.any(Number) as number, after: expect.any(Number) as number });

    const [row] = await sandbox.json<Json[]>(["log"]);
    expect(row).toMatchObject({
      kind: "compaction",
      compaction: compacted["compaction"],
      commit: compacted["commit"],
      from_turn: 0,
      to_turn: 2,
      source: "manual",
      live: true,
      tokens: compacted["tokens"],
    });
    expect(row?.["subject"]).toMatch(/^compact 0\.\.2: reasoning \+ tools stripped \(/);
    expect(row?.["timestamp"]).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);

    const shown = await sandbox.json(["show", String(compacted["compaction"])]);
    expect(shown).toMatchObject({
      type: "compaction",
      id: compacted["compaction"],
      from_turn: 0,
      to_turn: 2,
      reasoning: "strip",
      receipt: expect.any(Object) as object,
    });

    const reverted = await sandbox.json(["revert", String(compacted["compaction"])]);
    expect(reverted).toMatchObject({
      commit: expect.stringMatching(/^[0-9a-f]{40}$/) as string,
      reverted: [compacted["compaction"]],
    });
    expect((await sandbox.json<Json[]>(["log"])).map(({ kind, live }) => ({ kind, live }))).toMatchObject([
      { kind: "revert" },
      { kind: "compaction", live: false },
    ]);

    expect(await sandbox.json(["fork", "@", "side", "--no-activate"])).toMatchObject({
      conversation: sandbox.conversation,
      branch: `${sandbox.conversation}/side`,
      turns: 6,
    });
    const checkout = join(sandbox.root, "documents");
    expect(await sandbox.json(["checkout", "@", checkout])).toMatchObject({ path: checkout, branch });
    const [listed] = await sandbox.json<Json[]>(["ls"]);
    expect(listed).toMatchObject({
      id: sandbox.conversation,
      title: "Measure the tide at the pier",
      branch,
      turns: 6,
      compactions: 0,
      forks: 1,
      tokens: { raw: expect.any(Number) as number, view: expect.any(Number) as number },
    });
    expect(listed?.["updated_at"]).toMatch(/Z$/);
    expect(await sandbox.json(["stats"])).toMatchObject({
      turns: 6,
      events: expect.any(Number) as number,
      bytes: expect.any(Number) as number,
      tokens: {
        raw: expect.any(Number) as number,
        view: expect.any(Number) as number,
        by_kind: expect.any(Object) as object,
      },
    });
    expect(await sandbox.json(["compact", "--from", "90"])).toMatchObject({
      compaction: null,
      commit: null,
      reason: expect.any(String) as string,
    });
    expect(await sandbox.json(["path"])).toEqual({ path: sandbox.store });
    expect(await sandbox.json(["use", "@"])).toMatchObject({ branch });
    expect(await sandbox.json(["title"])).toMatchObject({ title: "Measure the tide at the pier", branch });
    expect((await sandbox.json<Json[]>(["config", "keep_last"]))[0]).toMatchObject({ value: 3 });
    expect(await sandbox.json<Json[]>(["print", "--turn", "1"])).not.toHaveLength(0);
  });

  it("import --quiet prints nothing, and its document still", async () => {
    const sandbox = group.get();
    const file = join(sandbox.root, "sessions", "small.jsonl");
    expect(await sandbox.jpg(["import", file, "-q"])).toEqual({ stdout: "", stderr: "", code: 0 });
    expect(await sandbox.json<Json[]>(["import", file, "-q"])).toMatchObject([{ status: "unchanged" }]);
  });

  it("stand alone on standard output, and people's words too; all else goes to standard error", async () => {
    const sandbox = group.get();
    await sandbox.jpg(["compact", "--to", "4"]);
    const commands = [
      ["ls"],
      ["show"],
      ["log"],
      ["stats"],
      ["print"],
      ["diff"],
      ["config"],
      ["compact", "--dry-run"],
      ["compact", "--dry-run", "--json"],
      ["--json", "ls"],
    ];
    const results = await Promise.all(commands.map(async (args) => ({ args, result: await sandbox.jpg(args) })));
    for (const { args, result } of results) {
      expect({ args, stderr: result.stderr, code: result.code }).toEqual({ args, stderr: "", code: 0 });
      expect(result.stdout).not.toContain("\u001b");
      expectNoBug(result);
    }
  });
});

describe("words before and after the command", () => {
  const group = shared(4);

  it("jpg conversation and jpg c are the same command; global options may stand first", async () => {
    const sandbox = group.get();
    const plain = (await sandbox.jpg(["ls", "--json"])).stdout;
    for (const args of [
      ["conversation", "ls", "--json"],
      ["c", "ls", "--json"],
      ["--json", "c", "ls"],
      ["--store", sandbox.store, "--json", "ls"],
      [`--store=${sandbox.store}`, "ls", "--json"],
    ]) {
      expect((await sandbox.jpg(args)).stdout, args.join(" ")).toBe(plain);
    }
    expect(
      (
        await runJpg(["--store", sandbox.store, "git", "rev-parse", "--show-toplevel"], {
          cwd: sandbox.root,
          env: sandbox.env,
        })
      ).stdout.trim(),
    ).toBe(sandbox.store);
  });

  it("help lists all commands, explains each, and needs no store", async () => {
    const sandbox = group.get();
    const help = (await sandbox.jpg(["--help"], { cwd: sandbox.root })).stdout;
    const names = [...help.matchAll(/^ {2}(\w+) {2,}/gm)].map((match) => match[1] ?? "");
    expect(names).toEqual(
      expect.arrayContaining([
        "init",
        "import",
        "export",
        "resume",
        "ls",
        "show",
        "use",
        "title",
        "print",
        "compact",
        "log",
        "diff",
        "revert",
        "undo",
        "fork",
        "checkout",
        "stats",
        "git",
        "path",
        "config",
      ]),
    );
    const explain = async (name: string): Promise<void> => {
      const result = await sandbox.jpg([name, "--help"], { cwd: sandbox.root });
      expect(result).toMatchObject({
        code: 0,
        stderr: "",
        stdout: expect.stringMatching(new RegExp(`^Usage: jpg ${name}`)) as string,
      });
      expect((await sandbox.jpg(["help", name], { cwd: sandbox.root })).stdout).toBe(result.stdout);
    };
    await Promise.all(["compact", "import", "git"].map(explain));
  });

  it("--from takes the next word only when it is a bound, --compact only with =", async () => {
    const sandbox = group.get();
    const id = sandbox.conversation;
    expect(await sandbox.json(["compact", "--dry-run", "--from", "2", "--to", "3"])).toMatchObject({
      from_turn: 2,
      to_turn: 3,
    });
    expect(await sandbox.json(["compact", "--dry-run", "--from", id, "--to", "2"])).toMatchObject({
      from_turn: 0,
      to_turn: 2,
    });
    expect(await sandbox.json(["compact", "--dry-run", "--from", "-2", "--to", "-1"])).toMatchObject({
      from_turn: 1,
      to_turn: 2,
    });
    expect(await sandbox.json(["compact", "--dry-run", "--from=-2", "--to=-1"])).toMatchObject({
      from_turn: 1,
      to_turn: 2,
    });
    const fork = await sandbox.json(["fork", "--compact", "named", "--no-activate"]);
    expect(fork).toMatchObject({ branch: `${id}/named` });
    expect(await sandbox.json<Json[]>(["log", `${id}/named`])).toHaveLength(1);
    await sandbox.jpg(["fork", "@", "lighter", "--compact=light", "--no-activate"]);
    expect((await sandbox.json<Json[]>(["log", `${id}/lighter`]))[0]).toMatchObject({ profile: "light" });
  });

  it("a reader that goes away ends the output quietly, and a pipe and NO_COLOR keep it plain", async () => {
    const sandbox = group.get();
    const print = `'${process.execPath}' '${join(process.cwd(), "bin", "jpg.js")}' print 2>'${sandbox.root}/err'`;
    expect(sandbox.git(["-c", `alias.head=!f() { ${print} | head -1; }; f`, "head"])).toMatch(/^# Measure the tide/);
    expect(readFileSync(join(sandbox.root, "err"), "utf8")).toBe("");
    expect((await sandbox.jpg(["ls"], { env: { NO_COLOR: "1" } })).stdout).not.toContain("\u001b");
  });
});

describe("ids", () => {
  let sandbox: ImportedSandbox;
  let other: string;
  beforeAll(async () => {
    sandbox = await copyImportedSandbox(3);
    const file = sandbox.session("other.jsonl", smallSession({ turns: 2, id: "5e551073-0000-4000-8000-0000000000bb" }));
    other = (await sandbox.json<readonly { id: string }[]>(["import", file]))[0]?.id ?? "";
    await sandbox.jpg(["use", sandbox.conversation]);
  });
  afterAll(() => sandbox.remove());
  const branchOf = async (args: readonly string[], env = {}): Promise<unknown> =>
    (await sandbox.json(["title", ...args], { env }))["branch"];

  it("@ is HEAD of the store, - the one before", async () => {
    expect(await branchOf(["@"])).toBe(`${sandbox.conversation}/main`);
    expect(await branchOf(["-"])).toBe(`${other}/main`);
    await sandbox.jpg(["use", "-"]);
    expect(sandbox.git(["symbolic-ref", "--short", "HEAD"])).toBe(`${other}/main`);
    await sandbox.jpg(["use", "-"]);
    expect(await branchOf([])).toBe(`${sandbox.conversation}/main`);
  });

  it("are branches, conversations, unique prefixes, titles, compactions, commits and events", async () => {
    const { compaction, commit } = await sandbox.json<{ compaction: string; commit: string }>([
      "compact",
      "--keep",
      "1",
    ]);
    expect(await branchOf([`${other}/main`])).toBe(`${other}/main`);
    expect(await branchOf([other])).toBe(`${other}/main`);
    expect(await branchOf([other.slice(0, -1)])).toBe(`${other}/main`);
    await sandbox.jpg(["title", other, "Spring tide tables"]);
    expect((await sandbox.json(["title", other]))["title"]).toBe("Spring tide tables");
    expect((await sandbox.json(["show", compaction]))["id"]).toBe(compaction);
    expect((await sandbox.json(["show", compaction.slice(0, 4)]))["id"]).toBe(compaction);
    expect((await sandbox.json(["show", commit.slice(0, 8)]))["id"]).toBe(compaction);
    const events = await sandbox.json<readonly { id?: string; type: string }[]>([
      "print",
      "--turn",
      "0",
      "--format",
      "jsonl",
    ]);
    const event = events.find(({ type }) => type === "chat_request")?.id ?? "";
    expect(await sandbox.json(["show", event])).toMatchObject({ kind: "event", turn: 0 });
  });

  it("a fork's name alone is refused with its full name", async () => {
    await sandbox.jpg(["fork", "@", "try-b", "--no-activate"]);
    await expectRefusal(sandbox, ["use", "try-b"], {
      code: "unknown_id",
      exit: 2,
      says: /try-b/,
      hint: new RegExp(`Did you mean ${sandbox.conversation}/try-b`),
    });
  });

  it("JPG_CONVERSATION stands for @, in any form, and a wrong one is named", async () => {
    for (const word of [other, `${other}/main`, other.slice(0, -1)])
      expect(await branchOf([], { JPG_CONVERSATION: word })).toBe(`${other}/main`);
    const before = sandbox.git(["rev-parse", `${sandbox.conversation}/main`]);
    await sandbox.jpg(["compact", "--keep", "1"], { env: { JPG_CONVERSATION: other } });
    expect(sandbox.git(["rev-parse", `${sandbox.conversation}/main`])).toBe(before);
    expect(await sandbox.json<Json[]>(["log", other])).toHaveLength(1);
    await expectRefusal(
      sandbox,
      ["show"],
      { code: "unknown_id", exit: 2, says: /JPG_CONVERSATION is nowhere/, hint: /unset/ },
      { env: { JPG_CONVERSATION: "nowhere" } },
    );
    await expectRefusal(
      sandbox,
      ["show"],
      { code: "ambiguous_id", exit: 2, says: /JPG_CONVERSATION is measure/ },
      { env: { JPG_CONVERSATION: "measure" } },
    );
  });
});

describe.concurrent("where the store is", () => {
  it("--store beats JPG_STORE beats the store one stands in beats the project's beats the user's", async () => {
    const sandbox = createSandbox();
    const stores = {
      flag: join(sandbox.root, "flag"),
      env: join(sandbox.root, "env"),
      user: join(sandbox.home, ".local", "share", "jpg", "store"),
    };
    const made = await Promise.all([
      sandbox.jpg(["init", stores.flag]),
      sandbox.jpg(["init", stores.env]),
      sandbox.jpg(["init"]),
      sandbox.jpg(["init"], { cwd: sandbox.root }),
    ]);
    expect(made.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const path = async (args: readonly string[], cwd: string, env = {}): Promise<string> =>
      (await sandbox.jpg([...args, "path"], { cwd, env })).stdout.trim();
    expect(await path(["--store", stores.flag], sandbox.store, { JPG_STORE: stores.env })).toBe(stores.flag);
    expect(await path([], sandbox.store, { JPG_STORE: stores.env })).toBe(stores.env);
    expect(await path([], stores.env)).toBe(stores.env);
    expect(await path([], join(stores.env, ".git"))).toBe(stores.env);
    expect(await path([], sandbox.project)).toBe(sandbox.store);
    expect(await path([], sandbox.root)).toBe(stores.user);
    await expectRefusal(sandbox, ["ls", "--store", join(sandbox.root, "none")], {
      code: "no_store",
      exit: 3,
      says: /no conversation store/,
      hint: /jpg init/,
    });
    await expectRefusal(sandbox, ["ls", "--store", sandbox.project], {
      code: "not_a_store",
      exit: 2,
      says: /no jpg store/,
    });
    sandbox.remove();
  });

  it("is one for all linked worktrees, and works in submodules, bare and SHA-256 projects and inside a project's hook", async () => {
    const sandbox = await copyImportedSandbox(2);
    const git = (args: readonly string[], cwd = sandbox.project): string =>
      sandbox.git(["-c", "protocol.file.allow=always", ...args], cwd);
    const bin = `'${process.execPath}' '${join(process.cwd(), "bin", "jpg.js")}'`;
    writeFileSync(
      join(sandbox.project, ".git", "hooks", "pre-commit"),
      `#!/bin/sh\n${bin} compact --keep 1 --json > '${sandbox.root}/hooked' 2>&1\n`,
      { mode: 0o755 },
    );
    mkdirSync(join(sandbox.project, ".git", "hooks"), { recursive: true });
    writeFileSync(join(sandbox.project, "file"), "x");
    git(["add", "file"]);
    git(["commit", "-qm", "first"]);
    expect(JSON.parse(readFileSync(join(sandbox.root, "hooked"), "utf8"))).toMatchObject({
      to_turn: 0,
      commit: expect.any(String) as string,
    });
    expect(git(["log", "--format=%s"])).toBe("first");
    expect(git(["status", "--porcelain"])).toBe("");

    const linked = join(sandbox.root, "linked");
    git(["worktree", "add", "-q", linked]);
    expect((await sandbox.jpg(["path"], { cwd: linked })).stdout.trim()).toBe(sandbox.store);

    const file = join(sandbox.root, "sessions", "small.jsonl");
    const bare = join(sandbox.root, "bare.git");
    git(["clone", "-q", "--bare", sandbox.project, bare]);
    const newer = join(sandbox.root, "sha256");
    git(["init", "-q", "--object-format=sha256", newer], sandbox.root);
    git(["submodule", "--quiet", "add", bare, "module"]);
    const places = [
      [bare, join(bare, "jpg")],
      [newer, join(newer, ".git", "jpg")],
      [join(sandbox.project, "module"), join(sandbox.project, ".git", "modules", "module", "jpg")],
    ] as const;
    const check = async ([cwd, store]: (typeof places)[number]): Promise<void> => {
      expect((await sandbox.jpg(["import", file], { cwd })).stdout).toMatch(/1 created/);
      expect((await sandbox.jpg(["path"], { cwd })).stdout.trim()).toBe(store);
      expect((await sandbox.jpg(["compact", "--keep", "1"], { cwd })).code).toBe(0);
      expect(sandbox.git(["rev-parse", "--show-object-format"], store)).toBe("sha1");
    };
    await Promise.all(places.map(check));
    sandbox.remove();
  });
});

describe.concurrent("compact", () => {
  it("--dry-run shows the plan and writes nothing", async () => {
    const sandbox = await copyImportedSandbox();
    const before = [storeState(sandbox), objects(sandbox)];
    expect(await sandbox.json(["compact", "--dry-run"])).toMatchObject({
      dry_run: true,
      commit: null,
      from_turn: 0,
      to_turn: 2,
    });
    expect((await sandbox.jpg(["compact", "--dry-run", "-c", "keep_last=1", "--fork"])).stdout).toMatch(
      /Would compact/,
    );
    expect([storeState(sandbox), objects(sandbox)]).toEqual(before);
    sandbox.remove();
  });

  it("takes ranges by turn, from the end, by time and by the last compaction", async () => {
    const sandbox = await copyImportedSandbox();
    const range = async (...args: string[]): Promise<unknown> => {
      const { from_turn, to_turn } = await sandbox.json(["compact", "--dry-run", ...args]);
      return [from_turn, to_turn];
    };
    const expectRanges = (cases: readonly (readonly [readonly string[], number, number])[]): Promise<unknown> =>
      Promise.all(
        cases.map(async ([args, from, to]) => expect(await range(...args), args.join(" ")).toEqual([from, to])),
      );
    await expectRanges([
      [[], 0, 2],
      [["--keep", "1"], 0, 4],
      [["--keep-last", "2"], 0, 3],
      [["--from", "1", "--to", "-1"], 1, 4],
      [["--to", "99"], 0, 5],
      [["--to", "1h"], 0, 5],
      [["--from", "100000d", "--to", "1w 2d"], 0, 5],
      [["-c", "keep_last=5"], 0, 0],
    ]);
    await sandbox.jpg(["compact", "--to", "1"]);
    await expectRanges([
      [["--from", "--to", "4"], 2, 4],
      [["--from", "last", "--to", "4"], 2, 4],
    ]);
    sandbox.remove();
  });

  it("--fork compacts a new branch and makes it active, --no-activate stays, the configured default is undone by --in-place", async () => {
    const sandbox = await copyImportedSandbox();
    const main = `${sandbox.conversation}/main`;
    const tip = sandbox.git(["rev-parse", main]);
    const stayed = await sandbox.json(["compact", "--fork", "--no-activate"]);
    expect((await sandbox.json(["title"]))["branch"]).toBe(main);
    const moved = await sandbox.json(["compact", "--fork"]);
    expect((await sandbox.json(["title"]))["branch"]).toBe(moved["branch"]);
    expect([stayed["branch"], moved["branch"], main]).toHaveLength(new Set(refs(sandbox)).size);
    expect(sandbox.git(["rev-parse", main])).toBe(tip);
    await sandbox.jpg(["use", main]);
    writeFileSync(join(sandbox.project, ".jpg.toml"), "[conversation.compaction]\nfork = true\n");
    expect((await sandbox.json(["compact", "--dry-run"]))["branch"]).not.toBe(main);
    expect((await sandbox.json(["compact", "--in-place"]))["branch"]).toBe(main);
    sandbox.remove();
  });

  it("--emit writes a bundle of raw events, --accept stores the summary, and refuses one of other turns or none", async () => {
    const sandbox = await copyImportedSandbox();
    await sandbox.jpg(["compact", "--to", "1"]);
    const path = join(sandbox.root, "bundle.json");
    expect((await sandbox.jpg(["compact", "--emit", path])).code).toBe(0);
    const bundle = JSON.parse(readFileSync(path, "utf8")) as {
      plan: Json;
      instructions: string;
      events: Json[];
      answer: Json;
    };
    expect(bundle.plan).toMatchObject({
      from_turn: 0,
      to_turn: 2,
      id: expect.any(String) as string,
      digest: expect.any(String) as string,
    });
    expect(JSON.stringify(bundle.events)).toContain("thought 0");
    expect((await sandbox.jpg(["compact", "--emit", "-"])).stdout).toBe(readFileSync(path, "utf8"));

    const before = storeState(sandbox);
    const answer = (summary: string, plan: Json = bundle.plan): string =>
      JSON.stringify({ plan, summary, files: ["pier.md"], open_tasks: [] });
    await expectRefusal(
      sandbox,
      ["compact", "--accept", "-"],
      { code: "bad_summary", exit: 2, says: /no text/ },
      { input: answer("  ") },
    );
    await expectRefusal(
      sandbox,
      ["compact", "--accept", "-"],
      { code: "bad_summary", exit: 2, says: /empty/ },
      { input: "\n" },
    );
    await expectRefusal(
      sandbox,
      ["compact", "--accept", "-"],
      { code: "bad_summary", exit: 2, says: /names no plan/, hint: /--from 0 --to/ },
      { input: "They measured." },
    );
    await expectRefusal(
      sandbox,
      ["compact", "--accept", "-"],
      { code: "range_changed", exit: 2, says: /other turns/, hint: /--emit/ },
      { input: answer("They measured.", { ...bundle.plan, to_turn: 3 }) },
    );
    expect(storeState(sandbox)).toBe(before);

    expect(
      (await sandbox.json(["compact", "--accept", "-"], { input: answer("They measured the tide.") }))["policies"],
    ).toBe("summary");
    expect((await sandbox.jpg(["print", "--compacted"])).stdout).toContain("They measured the tide.");
    await sandbox.jpg(["undo"]);
    const whole = JSON.stringify({ ...bundle, answer: { ...bundle.answer, summary: "All in one file." } });
    expect((await sandbox.json(["compact", "--accept", "-"], { input: whole }))["to_turn"]).toBe(2);
    const text = sandbox.session("summary.txt", "Plain words about the pier.\n");
    expect(await sandbox.json(["compact", "--accept", text, "--from", "0", "--to", "4"])).toMatchObject({
      to_turn: 4,
      policies: "summary",
    });
    expect((await sandbox.jpg(["print", "--compacted"])).stdout).toContain("Plain words about the pier.");
    sandbox.remove();
  });

  it("a profile with a model that has no key says which to set, and its dry run calls no model", async () => {
    const sandbox = await copyImportedSandbox();
    writeUserConfig(
      sandbox,
      '[conversation.compaction.profiles.heavy.summary]\npolicy = "summarize"\nmodel = "anthropic/claude-haiku"\n',
    );
    const before = storeState(sandbox);
    await expectRefusal(sandbox, ["compact", "--profile", "heavy"], {
      code: "no_key",
      exit: 4,
      says: /anthropic/,
      hint: /ANTHROPIC_API_KEY/,
    });
    await expectRefusal(sandbox, ["compact", "--profile", "heavvy"], {
      code: "unknown_profile",
      exit: 2,
      says: /heavvy/,
      hint: /Did you mean heavy/,
    });
    expect(storeState(sandbox)).toBe(before);
    expect((await sandbox.jpg(["compact", "--profile", "heavy", "--dry-run"])).stdout).toContain(
      "will generate a summary for turns 0-2 using model anthropic/claude-haiku",
    );
    await expectRefusal(sandbox, ["fork", "--compact=heavy", "--no-activate"], {
      code: "no_key",
      exit: 4,
      says: /The fork .* is there, not compacted/,
      hint: /compact .* --profile heavy. tries again/,
    });
    sandbox.remove();
  });

  it("--cfg is stored on the conversation by compact, and by nothing else", async () => {
    const sandbox = await copyImportedSandbox();
    expect((await sandbox.jpg(["ls", "-c", "keep_last=1"])).code).toBe(0);
    expect((await sandbox.json<Json[]>(["config", "keep_last"]))[0]).toMatchObject({ value: 3 });
    expect(await sandbox.json(["compact", "--cfg", "keep_last=1"])).toMatchObject({ to_turn: 4 });
    expect((await sandbox.jpg(["config", "keep_last", "--show-origin"])).stdout).toMatch(
      /^conversation\s.*keep_last=1/,
    );
    sandbox.remove();
  });
});

describe("fork", () => {
  const group = shared();
  const live = async (sandbox: Sandbox, branch: string): Promise<unknown[]> =>
    sandbox
      .git(["ls-tree", "--name-only", `${branch}:compactions`])
      .split("\n")
      .sort();

  it("plain writes one ref and no object", async () => {
    const sandbox = group.get();
    const before = { refs: refs(sandbox).length, objects: objects(sandbox) };
    const { branch } = await sandbox.json<{ branch: string }>(["fork", "@", "plain"]);
    expect({ refs: refs(sandbox).length, objects: objects(sandbox) }).toEqual({
      refs: before.refs + 1,
      objects: before.objects,
    });
    expect(sandbox.git(["symbolic-ref", "--short", "HEAD"])).toBe(branch);
    expect(sandbox.git(["rev-parse", branch])).toBe(sandbox.git(["rev-parse", `${sandbox.conversation}/main`]));
    await sandbox.jpg(["use", `${sandbox.conversation}/main`]);
  });

  it("--first and --until stand at that turn's commit, with the compactions that lie wholly within", async () => {
    const sandbox = group.get();
    const main = `${sandbox.conversation}/main`;
    const early = await sandbox.json(["fork", "--first", "3", "--no-activate"]);
    expect(early["turns"]).toBe(3);
    expect(sandbox.git(["log", "-1", "--format=%s", String(early["branch"])])).toMatch(/^turn 2:/);
    await sandbox.jpg(["compact", "--to", "1"]);
    await sandbox.jpg(["compact", "--profile", "light", "--to", "4"]);
    const [wide, narrow] = await sandbox.json<readonly { compaction: string }[]>(["log"]);
    const until = await sandbox.json<{ branch: string }>(["fork", "--until", "2", "--no-activate"]);
    expect(until).toMatchObject({ turns: 3 });
    expect(commits(sandbox, until.branch)).toBe(commits(sandbox, String(early["branch"])) + 1);
    expect((await live(sandbox, until.branch)).join()).toContain(narrow?.compaction);
    expect((await live(sandbox, until.branch)).join()).not.toContain(wide?.compaction);
    expect((await live(sandbox, main)).length).toBe(2);
  });

  it("--last and --from stand at the tip plus one compaction that leaves the turns before out", async () => {
    const sandbox = group.get();
    const tip = `${sandbox.conversation}/main`;
    for (const args of [
      ["--last", "2"],
      ["--from", "4"],
      ["--from", "-1"],
    ]) {
      const { branch, turns } = await sandbox.json<{ branch: string; turns: number }>([
        "fork",
        ...args,
        "--no-activate",
      ]);
      expect(turns).toBe(6);
      expect(sandbox.git(["rev-parse", `${branch}~1`])).toBe(sandbox.git(["rev-parse", tip]));
      const [row] = await sandbox.json<readonly { compaction: string }[]>(["log", branch]);
      expect(await sandbox.json(["show", row?.compaction ?? ""], { env: { JPG_CONVERSATION: branch } })).toMatchObject({
        turns: "omit",
        from_turn: 0,
        to_turn: 3,
      });
      const shown = (await sandbox.jpg(["print", branch, "--compacted"])).stdout;
      expect(shown).toContain("Answer 4");
      expect(shown).not.toContain("Answer 3");
    }
  });

  it("a name that is taken is refused, and --first past the end takes all", async () => {
    const sandbox = group.get();
    await expectRefusal(sandbox, ["fork", "@", "plain"], {
      code: "branch_exists",
      exit: 2,
      says: /exists already/,
      hint: /another name/,
    });
    expect((await sandbox.json(["fork", "--first", "99", "--no-activate"]))["turns"]).toBe(6);
  });
});

describe("print, export, resume", () => {
  const group = shared();

  it("print --turn takes one turn, a range, and positions from the end", async () => {
    const sandbox = group.get();
    const turns = async (...args: string[]): Promise<string[]> =>
      [...(await sandbox.jpg(["print", ...args])).stdout.matchAll(/^## Turn (\d+)/gm)].map((match) => match[1] ?? "");
    const shown = await Promise.all([turns("--turn", "2"), turns("--turn", "1..3"), turns("--turn", "..1")]);
    expect(shown).toEqual([["2"], ["1", "2", "3"], ["0", "1"]]);
    expect(await Promise.all([turns("--turn", "-1.."), turns()])).toEqual([
      ["4", "5"],
      ["0", "1", "2", "3", "4", "5"],
    ]);
    const lines = (await sandbox.jpg(["print", "--format", "jsonl", "--turn", "0"])).stdout.trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toContain("chat_request");
  });

  it("export writes the view, the history, an earlier state or the imported bytes, to a file or standard output", async () => {
    const sandbox = group.get();
    const commit = sandbox.git(["rev-parse", "HEAD"]);
    await sandbox.jpg(["compact"]);
    const markdown = async (...args: string[]): Promise<string> =>
      (await sandbox.jpg(["export", "--to", "markdown", ...args])).stdout;
    expect(await markdown()).not.toContain("thought 0");
    expect(await markdown("--full-history")).toContain("thought 0");
    expect(await markdown("--at", commit)).toContain("thought 0");
    expect(await markdown("--at", "2")).not.toContain("Answer 3");
    const original = readFileSync(join(sandbox.root, "sessions", "small.jsonl"), "utf8");
    expect((await sandbox.jpg(["export", "--original"])).stdout).toBe(original);
    const out = join(sandbox.root, "out.jsonl");
    const result = await sandbox.jpg(["export", "--original", "-o", out]);
    expect({ stdout: result.stdout, same: readFileSync(out, "utf8") === original }).toEqual({ stdout: "", same: true });
    expect(await sandbox.json(["export", "--to", "jsonl", "-o", out])).toEqual({
      path: out,
      bytes: readFileSync(out).length,
    });
    expect(readdirSync(sandbox.root).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("export writes bodies of requests that providers take, for the model that is named or answered last", async () => {
    const sandbox = group.get();
    const own = await sandbox.json<Record<string, unknown>>(["export", "--to", "anthropic"]);
    expect(own).toMatchObject({ model: "claude-sonnet-4-5-20250929", max_tokens: 8192 });
    const bare = await sandbox.json<{ messages: unknown[] }>(["export", "--to", "anthropic", "--messages"]);
    expect(Object.keys(bare)).toEqual(["messages"]);
    expect(own["messages"]).toEqual([
      ...bare.messages,
      { role: "user", content: [{ type: "text", text: "[No new message.]" }] },
    ]);
    const refused = await sandbox.jpg(["export", "--to", "openai-chat"]);
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toMatch(/No model of openai-chat answered in .*--model ollama\/qwen3/s);
    for (const [api, named, model] of [
      ["anthropic", "claude-opus-4-8", "claude-opus-4-8"],
      ["openai-chat", "ollama/qwen3:8b", "qwen3:8b"],
      ["openai-chat", "meta-llama/llama-3", "meta-llama/llama-3"],
      ["openai-responses", "openai/gpt-5.2", "gpt-5.2"],
      ["google", "gemini-2.5-pro", undefined],
    ] as const) {
      const file = join(sandbox.root, "body.json");
      expect((await sandbox.jpg(["export", "--to", api, "--model", named, "-o", file])).code).toBe(0);
      expect((JSON.parse(readFileSync(file, "utf8")) as { model?: string }).model).toBe(model);
      const checked = await sandbox.json(["check", file, ...(model === undefined ? ["--model", named] : [])]);
      expect(checked).toMatchObject({ ok: true, violations: [], checked: [{ provider: api }] });
    }
    const clash = await sandbox.jpg(["export", "--to", "markdown", "--messages"]);
    expect([clash.code, clash.stderr]).toEqual([2, expect.stringContaining("--messages is for requests")]);
  });

  it("resume writes the session where the agent looks, once, and says how to go on from anywhere in the project", async () => {
    const sandbox = group.get();
    const first = await sandbox.json<{ path: string; command: string[]; session: string; reused: boolean }>([
      "resume",
      "--with",
      "claude-code",
    ]);
    expect(first).toMatchObject({ reused: false, command: ["claude", "--resume", first.session] });
    expect(first.path.startsWith(join(sandbox.home, ".claude", "projects"))).toBe(true);
    expect((await sandbox.json(["resume", "--with", "claude-code"]))["reused"]).toBe(true);
    mkdirSync(join(sandbox.project, "deep"));
    expect(
      (await sandbox.jpg(["resume", "--with", "claude-code"], { cwd: join(sandbox.project, "deep") })).stdout,
    ).toBe(`cd '${sandbox.project}' && claude --resume ${first.session}\n`);
    writeFileSync(first.path, `${readFileSync(first.path, "utf8")}{"type":"note"}\n`);
    const next = await sandbox.json<{ path: string }>(["resume", "--with", "claude-code"]);
    expect(next.path).not.toBe(first.path);
    expect(readFileSync(first.path, "utf8")).toMatch(/\{"type":"note"\}\n$/);
  });
});

describe.concurrent("log, diff, undo, revert", () => {
  it("tell what happened, newest first, and take it back and forth", async () => {
    const sandbox = await copyImportedSandbox();
    expect((await sandbox.jpg(["log"])).stderr).toMatch(/no compactions yet: `jpg compact`/);
    const { compaction } = await sandbox.json<{ compaction: string }>(["compact"]);
    const diff = await sandbox.jpg(["diff"]);
    expect(diff.stdout).toMatch(
      new RegExp(
        `^--- before compaction ${compaction} \\([0-9a-f]{7}\\)\n\\+\\+\\+ compaction ${compaction} \\([0-9a-f]{7}\\)\n`,
      ),
    );
    expect(diff.stdout).toMatch(/^- .*|^-.*thought 0/m);
    expect((await sandbox.jpg(["diff", compaction])).stdout).toBe(diff.stdout);
    expect((await sandbox.jpg(["diff", "@", "main~1..main"])).stdout.split("\n").slice(2)).toEqual(
      diff.stdout.split("\n").slice(2),
    );
    expect((await sandbox.jpg(["diff", "--stat"])).stdout).toMatch(/total/);
    expect(await sandbox.json(["diff"])).toMatchObject({
      hunks: expect.any(Array) as unknown[],
      stat: expect.any(Object) as object,
    });
    const view = (await sandbox.jpg(["print", "--compacted"])).stdout;
    await sandbox.jpg(["undo"]);
    expect((await sandbox.jpg(["print", "--compacted"])).stdout).toContain("thought 0");
    await expectRefusal(sandbox, ["revert", compaction], {
      code: "already_reverted",
      exit: 2,
      says: /not in force/,
      hint: /jpg revert [0-9a-f]+/,
    });
    const [revert] = await sandbox.json<readonly { commit: string }[]>(["log"]);
    expect((await sandbox.jpg(["diff", revert?.commit ?? ""])).stdout).toContain(
      `+++ revert of compaction ${compaction} (`,
    );
    await sandbox.jpg(["revert", revert?.commit ?? ""]);
    expect((await sandbox.jpg(["print", "--compacted"])).stdout).toBe(view);
    expect((await sandbox.json<readonly { kind: string }[]>(["log"])).map(({ kind }) => kind)).toEqual([
      "reapply",
      "revert",
      "compaction",
    ]);
    const same = await sandbox.jpg(["diff", "@", "main..main"]);
    expect(same).toMatchObject({ stdout: "", code: 0, stderr: expect.stringMatching(/No difference/) as string });
    sandbox.remove();
  });
});

describe.concurrent("checkout", () => {
  it("is sparse unless --full, follows its branch, and refuses a folder in use", async () => {
    const sandbox = await copyImportedSandbox();
    const sparse = join(sandbox.root, "sparse");
    const full = join(sandbox.root, "full");
    await sandbox.jpg(["compact", "--to", "1"]);
    await sandbox.jpg(["checkout", "@", sparse]);
    await sandbox.jpg(["checkout", "@", full, "--full"]);
    expect(existsSync(join(sparse, "turns"))).toBe(false);
    expect(existsSync(join(full, "turns", "0000", "000005.jsonl"))).toBe(true);
    expect((await sandbox.jpg(["path"], { cwd: sparse })).stdout.trim()).toBe(sandbox.store);
    await sandbox.jpg(["compact"], { cwd: sparse });
    for (const place of [sparse, full, sandbox.store]) {
      expect(sandbox.git(["status", "--porcelain"], place)).toBe("");
      expect(readFileSync(join(place, "VIEW.md"), "utf8")).not.toContain("thought 2");
      expect(readdirSync(join(place, "compactions"))).toHaveLength(2);
    }
    await sandbox.jpg(["fork", "@", "other", "--no-activate"]);
    await expectRefusal(sandbox, ["checkout", `${sandbox.conversation}/other`, sparse], {
      code: "directory_in_use",
      exit: 2,
      says: /is a worktree of/,
    });
    sandbox.remove();
  });
});
