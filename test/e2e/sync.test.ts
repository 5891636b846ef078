// `jpg sync` as a session of the real command: agents' files grow, the store follows, large views are compacted.
import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
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
  it("imports what grew, compacts once each time it is needed, and leaves the agent's file as it is", async () => {
    configure();
    const file = agentFile("one.jsonl");
    const session = createLongSession();
    const seen: unknown[] = [];
    for (const turns of [3, 3, 1, 1, 4, 0]) {
      writeFileSync(file, session.turns(turns).bytes());
      const before = { bytes: readFileSync(file), time: statSync(file).mtimeMs };
      seen.push(rangesOf(await sync()));
      expect({ bytes: readFileSync(file), time: statSync(file).mtimeMs }).toEqual(before);
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
    expect(stderr).toContain("Tool outputs are shortened in place of the summary of profile worded.");
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
    expect(code).toBe(0);
    const document = JSON.parse(stdout) as SyncDocument;
    expect(document.sessions.map(({ status }) => status)).toEqual(["created"]);
    expect(document.failed.map(({ path }) => path)).toEqual([broken]);
    expect(stderr).toContain(broken);
    expect((await sandbox.jpg(["sync", broken])).code).toBe(2);
  });

  it("refuses flags that contradict each other", async () => {
    for (const [args, what] of [
      [["--every", "5"], "--every says nothing without --watch"],
      [["--watch", "--json"], "--json is of one pass"],
      [["--watch", "-"], "standard input cannot be watched"],
      [["--watch", "--every", "0"], "a number of seconds from 1 on"],
      [["--watch", "--every", "soon"], "a whole number"],
      [["--watch", "nowhere.jsonl"], "nowhere.jsonl does not exist"],
    ] as const) {
      const { stdout, stderr, code } = await sandbox.jpg(["sync", ...args]);
      expect([code, stdout + stderr]).toEqual([2, expect.stringContaining(what)]);
    }
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

const until = (printed: () => string, what: string): Promise<void> =>
  expect.poll(printed, { timeout: 30_000, interval: 50 }).toContain(what);

describe("a watch", () => {
  it.each(["SIGINT", "SIGTERM"] as const)("imports as sessions appear and grow, until %s", async (signal) => {
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
