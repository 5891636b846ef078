// `jpg sync` as a session of the real command: agents' files grow, the store follows, large views are compacted.
import { type ChildProcess, spawn } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Json } from "../helpers/claude-session.ts";
import { writeUserConfig } from "../helpers/live-jpg.ts";
import { createLongSession } from "../helpers/long-session.ts";
import { createSandbox, type Sandbox, smallSession } from "../helpers/run-jpg.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));

let sandbox: Sandbox;
let running: ChildProcess[];
beforeEach(() => {
  sandbox = createSandbox();
  running = [];
});
afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
  sandbox.remove();
});

/** Where Claude Code keeps a session of the project. */
function agentFile(name: string): string {
  const path = join(sandbox.home, ".claude", "projects", sandbox.project.replace(/[^A-Za-z0-9]/g, "-"), name);
  mkdirSync(dirname(path), { recursive: true });
  return path;
}

/** A session of Codex of this project, with one turn. */
function smallRollout(id: string): string {
  const at = "2026-01-02T03:04:05.000Z";
  const said = (role: string, type: string, text: string): Json => ({
    type: "response_item",
    payload: { type: "message", role, content: [{ type, text }] },
  });
  const meta = { id, timestamp: at, cwd: sandbox.project, originator: "codex_cli_rs", cli_version: "0.169.0" };
  const lines: Json[] = [
    { type: "session_meta", payload: meta },
    said("user", "input_text", "look at the tide tables"),
    said("assistant", "output_text", "They are wrong."),
  ];
  return lines.map((line) => `${JSON.stringify({ timestamp: at, ...line })}\n`).join("");
}

/** Turns automatic compaction on as the user, with a small part of the window for its limit. */
function configure(more = ""): void {
  writeUserConfig(
    sandbox,
    `[conversation.compaction.auto]\nenabled = true\ntrigger_ratio = 0.15\nwarning_ratio = 0.12\n${more}`,
  );
}

interface SyncDocument {
  readonly sessions: readonly { readonly id: string; readonly branch: string; readonly status: string }[];
  readonly failed: readonly { readonly path: string; readonly error: { readonly code: string } }[];
  readonly compactions: readonly {
    readonly compaction: string;
    readonly from_turn: number;
    readonly to_turn: number;
    readonly source: string;
  }[];
}

const sync = (...args: string[]): Promise<SyncDocument> => sandbox.json<SyncDocument>(["sync", ...args]);
const rangesOf = ({ compactions }: SyncDocument): unknown =>
  compactions.map(({ from_turn, to_turn }) => [from_turn, to_turn]);

describe("a pass", () => {
  it("imports what grew, compacts once each time it is needed, and leaves the agent's file as it is", {
    tags: ["slow"],
  }, async () => {
    configure();
    const file = agentFile("one.jsonl");
    const session = createLongSession();
    const seen: unknown[] = [];
    for (const turns of [3, 3, 1, 1, 4, 0]) {
      writeFileSync(file, session.turns(turns).bytes());
      const before = { text: readFileSync(file, "latin1"), time: statSync(file).mtimeMs };
      seen.push(rangesOf(await sync()));
      expect({ text: readFileSync(file, "latin1"), time: statSync(file).mtimeMs }).toEqual(before);
      expect((await sandbox.jpg(["check"])).code).toBe(0);
    }
    expect(readdirSync(dirname(file))).toEqual(["one.jsonl"]);
    // Six turns are the first above min_turns; what is left is small enough until four more turns came.
    expect(seen).toEqual([[], [[0, 2]], [], [], [[3, 8]], []]);
    const log = await sandbox.json<readonly { source: string; live: boolean }[]>(["log"]);
    expect(log.map(({ source, live }) => [source, live])).toEqual([
      ["auto", true],
      ["auto", true],
    ]);
  });

  it("says what it imported and compacted", async () => {
    configure();
    writeFileSync(agentFile("one.jsonl"), createLongSession().turns(8).bytes());
    const { stdout, stderr, code } = await sandbox.jpg(["sync"]);
    expect(code).toBe(0);
    expect(stdout).toContain("1 session: 1 created; 8 turns.");
    expect(stderr).toMatch(
      /^\S+\/main: — context compacted \([\d.]+k → [\d.]+k tokens\) —\n\S+\/main: turns 0\.\.4 by/,
    );
  });

  it("compacts nothing where it is not turned on", async () => {
    writeFileSync(agentFile("one.jsonl"), createLongSession().turns(30).bytes());
    expect((await sync("-c", "auto.trigger_ratio=0.01")).compactions).toEqual([]);
  });

  it("does not compact into the turn that the agent is at work on", async () => {
    configure("min_turns = 0\n[conversation.compaction]\nkeep_last = 0\n");
    const file = agentFile("one.jsonl");
    const session = createLongSession().turns(6).openTurn().calls();
    writeFileSync(file, session.bytes());
    expect(rangesOf(await sync())).toEqual([[0, 6]]);
    const ofTurn = (turn: number, ...more: string[]): Promise<string> =>
      sandbox.jpg(["print", "--format", "jsonl", "--turn", `${turn}..${turn}`, ...more]).then(({ stdout }) => stdout);
    expect(await ofTurn(6)).toContain("a line of some output");
    expect(await ofTurn(6, "--compacted")).toBe(await ofTurn(6));
    expect(await ofTurn(5, "--compacted")).not.toContain("a line of some output");
    writeFileSync(file, session.calls().answer().turns(5).bytes());
    const second = await sync();
    expect(second.sessions).toMatchObject([{ status: "updated" }]);
    expect(rangesOf(second)).toEqual([[6, 11]]);
    expect((await sandbox.jpg(["check"])).code).toBe(0);
  });

  it("falls back to tiers with a warning when a summary cannot be written", async () => {
    configure(
      'profile = "worded"\n[conversation.compaction.profiles.worded.summary]\npolicy = "summarize"\nmodel = "anthropic/claude-haiku"\n',
    );
    writeFileSync(agentFile("one.jsonl"), createLongSession().turns(10).bytes());
    const { stdout, stderr, code } = await sandbox.jpg(["sync", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ compactions: [{ source: "auto", from_turn: 0, to_turn: 6 }] });
    expect(stderr).toContain("Tool outputs are shortened instead of writing the summary of profile worded.");
  });

  it("keeps the active conversation active, and makes the first one so", async () => {
    const [one, two] = [sandbox.session("one.jsonl", smallSession({ turns: 2 })), agentFile("two.jsonl")];
    const first = await sync(one);
    writeFileSync(two, createLongSession("5e551073-0000-4000-8000-00000000000b").turns(2).bytes());
    const second = await sync();
    expect(second.sessions[0]?.id).not.toBe(first.sessions[0]?.id);
    const [active] = await sandbox
      .json<readonly { id: string }[]>(["ls", "--json"])
      .then((rows) => rows.filter((row) => (row as { active?: boolean }).active === true));
    expect(active?.id).toBe(first.sessions[0]?.id);
  });

  it("goes on past a session that cannot be imported", async () => {
    const broken = sandbox.session("broken.jsonl", "this is no session\n");
    const good = sandbox.session("good.jsonl", smallSession({ turns: 2 }));
    const { stdout, stderr, code } = await sandbox.jpg(["sync", broken, good, "--json"]);
    expect(code).toBe(2);
    const document = JSON.parse(stdout) as SyncDocument;
    expect(document.sessions.map(({ status }) => status)).toEqual(["created"]);
    expect(document.failed.map(({ path }) => path)).toEqual([broken]);
    expect(stderr).toContain(broken);
    expect((await sandbox.jpg(["sync", broken])).code).toBe(2);
  });

  it("imports all of a folder but what cannot be read, names that, and ends with 1", { tags: ["slow"] }, async () => {
    const folder = join(sandbox.root, "many");
    const count = 300;
    const id = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`;
    mkdirSync(folder);
    for (let index = 0; index < count; index++)
      writeFileSync(join(folder, `${id(index)}.jsonl`), smallSession({ turns: 1, id: id(index) }));
    // A compressed file that is cut off: nobody, not even root, can read that.
    writeFileSync(join(folder, "cut.jsonl"), Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x24]));
    for (const status of ["created", "unchanged"]) {
      const { stdout, stderr, code } = await sandbox.jpg(["sync", folder, "--json"]);
      const document = JSON.parse(stdout) as SyncDocument;
      expect([code, document.sessions.length]).toEqual([1, count]);
      expect(new Set(document.sessions.map((session) => session.status))).toEqual(new Set([status]));
      expect(document.failed.map(({ path }) => path)).toEqual([join(folder, "cut.jsonl")]);
      expect(stderr).toContain("cut.jsonl");
    }
  });

  it("keeps two agents' sessions of one id apart", async () => {
    const id = "019b0000-0000-7000-8000-000000000001";
    const claude = sandbox.session(`${id}.jsonl`, smallSession({ turns: 2, id }));
    const codex = sandbox.session(`rollout-2026-01-02T03-04-05-${id}.jsonl`, smallRollout(id));
    const first = await sync(claude, codex);
    expect(first.sessions.map(({ status }) => status)).toEqual(["created", "created"]);
    expect(new Set(first.sessions.map((session) => session.id)).size).toBe(2);
    appendFileSync(claude, smallSession({ turns: 3, id }).subarray(smallSession({ turns: 2, id }).length));
    const second = await sync(claude, codex);
    expect(second.sessions.map(({ id: name, status }) => [name, status])).toEqual([
      [first.sessions[0]?.id, "updated"],
      [first.sessions[1]?.id, "unchanged"],
    ]);
  });

  it("imports what was written while the clock stood elsewhere", async () => {
    const file = agentFile("one.jsonl");
    writeFileSync(file, smallSession({ turns: 2 }));
    const at = (year: number): Date => new Date(Date.UTC(year, 0, 1));
    utimesSync(file, at(2090), at(2090));
    expect((await sync()).sessions).toMatchObject([{ status: "created" }]);
    appendFileSync(file, smallSession({ turns: 4 }).subarray(smallSession({ turns: 2 }).length));
    utimesSync(file, at(1990), at(1990));
    expect((await sync()).sessions).toMatchObject([{ status: "updated" }]);
    expect(await sandbox.json<readonly Json[]>(["ls"])).toMatchObject([{ turns: 4 }]);
  });

  it("refuses flags that contradict each other", async () => {
    for (const [args, what] of [
      [["--every", "5"], "--every has no effect without --watch"],
      [["--watch", "--json"], "--json prints one result"],
      [["--watch", "-"], "standard input cannot be watched"],
      [["--watch", "--every", "0"], "a number of seconds, 1 or more"],
      [["--watch", "--every", "soon"], "a whole number"],
      [["--watch", "nowhere.jsonl"], "nowhere.jsonl does not exist"],
    ] as const) {
      const { stdout, stderr, code } = await sandbox.jpg(["sync", ...args], { process: false });
      expect([code, stdout + stderr]).toEqual([2, expect.stringContaining(what)]);
    }
  });
});

describe("the guard (--compact)", () => {
  const LOW = ["-c", "auto.trigger_ratio=0.03", "-c", "auto.warning_ratio=0.02"];
  const guard = async (...more: string[]): Promise<{ readonly ranges: unknown; readonly stderr: string }> => {
    const { stdout, stderr, code } = await sandbox.jpg(["sync", "--compact", "--json", ...LOW, ...more]);
    expect(code).toBe(0);
    return { ranges: rangesOf(JSON.parse(stdout) as SyncDocument), stderr };
  };

  it("compacts what passes the threshold though nothing is switched on, and says how to go on with it", async () => {
    const file = agentFile("one.jsonl");
    const session = createLongSession();
    writeFileSync(file, session.turns(4).bytes());
    expect(await guard()).toMatchObject({ ranges: [] });
    writeFileSync(file, session.turns(4).bytes());
    const { ranges, stderr } = await guard();
    expect(ranges).toEqual([[0, 4]]);
    const [branch = ""] = /[\w-]+\/main/.exec(stderr) ?? [];
    expect(stderr).toContain(`${branch}: \`jpg resume ${branch} --with claude-code\` continues there`);
    expect((await sandbox.jpg(["resume", branch, "--with", "claude-code"])).code).toBe(0);
  });

  it("says of a large session that has not grown why it is unchanged, and what compacts it", async () => {
    writeFileSync(agentFile("one.jsonl"), createLongSession().turns(8).bytes());
    await sandbox.jpg(["sync"]);
    const { stderr } = await sandbox.jpg(["sync", "--compact", ...LOW]);
    const [, id = ""] =
      /has not grown since the last sync, so it was not compacted; `jpg compact (\S+)`/.exec(stderr) ?? [];
    expect((await sandbox.jpg(["sync", "--compact", "-c", "auto.trigger_ratio=0.99"])).stderr).not.toContain(
      "has not grown",
    );
    expect((await sandbox.jpg(["compact", id])).code).toBe(0);
  });

  it("does nothing a second time without a new turn", async () => {
    writeFileSync(agentFile("one.jsonl"), createLongSession().turns(8).bytes());
    expect((await guard()).ranges).toEqual([[0, 4]]);
    expect((await guard()).ranges).toEqual([]);
    expect((await guard("-c", "auto.trigger_ratio=0.001")).ranges).toEqual([]);
  });

  it("asks no model, whatever the settings say", async () => {
    configure(
      'profile = "worded"\n[conversation.compaction.profiles.worded.summary]\npolicy = "summarize"\nmodel = "anthropic/claude-haiku"\n',
    );
    writeFileSync(agentFile("one.jsonl"), createLongSession().turns(10).bytes());
    const { ranges, stderr } = await guard();
    expect(ranges).toEqual([[0, 6]]);
    expect(stderr).toContain("by tiers 1 and 2");
    expect(stderr).not.toContain("instead of writing the summary");
  });

  it("is refused beside --spool", async () => {
    expect((await sandbox.jpg(["sync", "--spool", "--compact"])).code).toBe(2);
  });
});

/** A watch with what it has printed so far. */
function startWatch(...args: string[]): {
  readonly child: ChildProcess;
  printed(): string;
  ended: Promise<number | null>;
} {
  const child = spawn(process.execPath, [BIN, "sync", "--watch", ...args], { cwd: sandbox.project, env: sandbox.env });
  running.push(child);
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
  return { child, printed: () => text, ended: new Promise((resolve) => child.on("close", resolve)) };
}

const until = (printed: () => string, what: string): Promise<void> => expect.poll(printed).toContain(what);

describe("a watch", () => {
  it.each(["SIGINT", "SIGTERM"] as const)(
    "imports as sessions appear and grow, until %s",
    { tags: ["slow"] },
    async (signal) => {
      configure();
      mkdirSync(dirname(agentFile("one.jsonl")), { recursive: true });
      const { child, printed, ended } = startWatch("--every", "600");
      await until(printed, "Ctrl-C ends it");
      const session = createLongSession();
      const first = session.turns(4).bytes();
      writeFileSync(agentFile("one.jsonl"), first);
      await until(printed, "1 session: 1 created; 4 turns.");
      appendFileSync(agentFile("one.jsonl"), session.turns(4).bytes().subarray(first.length));
      await until(printed, "context compacted");
      await until(printed, "8 (+4)");
      writeFileSync(agentFile("broken.jsonl"), "this is no session\n");
      await until(printed, "broken.jsonl");
      child.kill(signal);
      expect(await ended).toBe(0);
      const rows = await sandbox.json<readonly Json[]>(["ls"]);
      expect(rows).toMatchObject([{ turns: 8, compactions: 1 }]);
    },
  );

  /** Starts one on a session of two turns, and looks at nothing but what changes from then on. */
  async function watchOne(): Promise<{ readonly file: string; readonly printed: () => string }> {
    const file = agentFile("one.jsonl");
    writeFileSync(file, smallSession({ turns: 2 }));
    const { printed } = startWatch("--every", "600");
    await until(printed, "1 session: 1 created; 2 turns.");
    return { file, printed };
  }
  const turnsNow = async (): Promise<unknown> =>
    (await sandbox.json<readonly Json[]>(["ls"])).map((row) => row["turns"]);
  const becomes = (turns: unknown): Promise<void> => expect.poll(turnsNow, { interval: 100 }).toEqual(turns);

  it("takes a line that is half written for what it becomes", { tags: ["slow"] }, async () => {
    const { file, printed } = await watchOne();
    const rest = smallSession({ turns: 4 }).subarray(smallSession({ turns: 2 }).length);
    for (let at = 0; at < rest.length; at += Math.ceil(rest.length / 5)) {
      appendFileSync(file, rest.subarray(at, at + Math.ceil(rest.length / 5)));
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    const original = async (): Promise<string> => (await sandbox.jpg(["export", "--original"])).stdout;
    await expect.poll(original, { interval: 200 }).toBe(smallSession({ turns: 4 }).toString());
    expect(await sandbox.json<readonly Json[]>(["ls"])).toMatchObject([{ turns: 4, forks: 0 }]);
    expect(printed()).not.toMatch(/error|forked/);
    expect((await sandbox.jpg(["fsck"])).code).toBe(0);
  });

  it("loses nothing of a session that is truncated in place, and goes on with it", { tags: ["slow"] }, async () => {
    const { file } = await watchOne();
    truncateSync(file, 0);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(await turnsNow()).toEqual([2]);
    writeFileSync(file, smallSession({ turns: 5 }));
    await becomes([5]);
  });

  it("follows a session whose file is moved away and made anew", { tags: ["slow"] }, async () => {
    const { file } = await watchOne();
    renameSync(file, `${file}.old`);
    writeFileSync(file, smallSession({ turns: 4 }));
    await becomes([4]);
    writeFileSync(`${file}.new`, smallSession({ turns: 6 }));
    renameSync(`${file}.new`, file);
    await becomes([6]);
  });

  it("sees folders that agents make while it runs, at once", { tags: ["slow"] }, async () => {
    const { printed } = startWatch("--every", "600");
    await until(printed, "Ctrl-C ends it");
    await new Promise((resolve) => setTimeout(resolve, 500));
    const id = "019b0000-0000-7000-8000-000000000002";
    for (const [day, turns] of [
      ["23", 1],
      ["24", 2],
    ] as const) {
      const folder = join(sandbox.home, ".codex", "sessions", "2026", "11", day);
      mkdirSync(folder, { recursive: true });
      writeFileSync(
        join(folder, `rollout-2026-11-${day}T03-04-05-${id.slice(0, -1)}${turns}.jsonl`),
        smallRollout(`${id.slice(0, -1)}${turns}`),
      );
      await expect.poll(async () => ((await turnsNow()) as unknown[]).length, { interval: 100 }).toBe(turns);
    }
    writeFileSync(agentFile("one.jsonl"), smallSession({ turns: 2 }));
    await expect.poll(async () => ((await turnsNow()) as unknown[]).length, { interval: 100 }).toBe(3);
  });

  it("guards: says once that a smaller session is ready, and goes on compacting as it grows", {
    tags: ["slow"],
  }, async () => {
    const { printed } = startWatch("--every", "600", "--compact", "-c", "auto.trigger_ratio=0.03");
    await until(printed, "Ctrl-C ends it");
    const session = createLongSession();
    for (const [turns, compactions] of [
      [8, 1],
      [8, 2],
    ] as const) {
      writeFileSync(agentFile("one.jsonl"), session.turns(turns).bytes());
      await expect.poll(() => printed().split("context compacted").length - 1).toBe(compactions);
    }
    expect(printed().match(/--with claude-code/g)).toHaveLength(1);
  });

  it("waits for an agent that has not been used here, looking now and then", async () => {
    const { child, printed, ended } = startWatch("--every", "1");
    await until(printed, "Ctrl-C ends it");
    writeFileSync(agentFile("one.jsonl"), smallSession({ turns: 2 }));
    await until(printed, "1 session: 1 created; 2 turns.");
    child.kill("SIGINT");
    expect(await ended).toBe(0);
    expect(printed()).not.toContain("warning");
  });
});
