// `jpg import` without a path: which of the sessions that agents keep for the project come in, and the picking at a terminal.
import { appendFileSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ImportReport } from "../../src/app/import/import-report.ts";
import type { KeptRow } from "../../src/app/import/list-kept.ts";
import type { ResumeReport } from "../../src/app/import/resume.ts";
import type { ListReport } from "../../src/app/look/list.ts";
import { answer, meta, prompt, rolloutBytes } from "../helpers/codex-session.ts";
import { createPiWriter } from "../helpers/pi-session.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";
import { openPane, tmuxMissing } from "../helpers/tmux.ts";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.remove());

const BIN = join(import.meta.dirname, "..", "..", "bin", "jpg.js");
const DAY = 24 * 3600;

function put(path: string, bytes: Uint8Array, daysAgo: number): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  const time = Date.now() / 1000 - daysAgo * DAY;
  utimesSync(path, time, time);
  return path;
}

function keepCodex(n: number, question: string, daysAgo = 0): string {
  const id = `019b1111-2222-7333-8444-00000000000${n}`;
  const path = join(sandbox.home, ".codex", "sessions", "2026", "01", "02", `rollout-2026-01-02T03-04-05-${id}.jsonl`);
  return put(path, rolloutBytes([meta({ id, cwd: sandbox.project }), prompt(question), answer("Yes.")]), daysAgo);
}

/** A session in Claude Code's folder for this project; null = its lines name no directory. */
function keepClaude(name: string, cwd: string | null, { text = name, daysAgo = 0 } = {}): string {
  const line = {
    type: "user",
    uuid: `u-${name}`,
    parentUuid: null,
    sessionId: name,
    timestamp: "2026-01-02T03:04:05Z",
  };
  const message = { role: "user", content: text };
  const folder = sandbox.project.replace(/[^A-Za-z0-9]/g, "-");
  const path = join(sandbox.home, ".claude", "projects", folder, `${name}.jsonl`);
  return put(path, Buffer.from(`${JSON.stringify({ ...line, message, ...(cwd === null ? {} : { cwd }) })}\n`), daysAgo);
}

/** A directory that is not there, of which Claude Code's folder has the same name. */
const sameName = (): string => sandbox.project.replace(/\/project$/, "_project");

function keepPi(question: string, daysAgo = 0): string {
  const pi = createPiWriter({ header: { cwd: sandbox.project } });
  pi.user(question);
  pi.say("yes");
  const folder = `--${sandbox.project.slice(1).replaceAll("/", "-")}--`;
  return put(join(sandbox.home, ".pi", "agent", "sessions", folder, "2026_one.jsonl"), pi.bytes(), daysAgo);
}

const titles = (rows: readonly { readonly title?: string }[]) => rows.map(({ title }) => title).sort();
const kept = (...words: readonly string[]) => sandbox.json<KeptRow[]>(["import", "--list", ...words]);

describe("the sessions that agents keep for a project", () => {
  it("are chosen by agent and by age", async () => {
    keepCodex(1, "old kelp?", 9);
    keepCodex(2, "new kelp?", 1);
    keepPi("sand?", 2);
    // By their last messages, of which pi's is the newest; --since asks when a file changed.
    expect((await kept()).map(({ title }) => title)).toEqual(["sand?", "new kelp?", "old kelp?"]);
    expect(titles(await kept("codex"))).toEqual(["new kelp?", "old kelp?"]);
    expect(titles(await kept("--since", "7d"))).toEqual(["new kelp?", "sand?"]);
    expect(titles(await sandbox.json<ImportReport[]>(["import", "codex", "--since", "7d"]))).toEqual(["new kelp?"]);
    expect(titles(await sandbox.json<ImportReport[]>(["import", "pi", "codex"]))).toEqual([
      "new kelp?",
      "old kelp?",
      "sand?",
    ]);
  });

  it("are looked into from both ends only, where they are long", async () => {
    const id = "019b1111-2222-7333-8444-000000000001";
    const turns = Array.from({ length: 40 }, (_, at) => [prompt(`question ${at}`), answer("y".repeat(60_000))]);
    const path = keepCodex(1, "");
    put(path, rolloutBytes([meta({ id, cwd: sandbox.project }), ...turns.flat()]), 0);
    const [row] = await kept();
    expect(row).toMatchObject({ title: "question 0", is_beginning: true });
    expect(row!.turns).toBeLessThan(40);
    expect((await sandbox.jpg(["import", "--list"])).stdout).toMatch(new RegExp(` ${row!.turns}\\+ `));
  });

  it("are not chosen among where a path is named, nor by a time that is none", async () => {
    const path = keepCodex(1, "kelp?");
    for (const flag of ["--list", "--all"])
      expect(await sandbox.jpg(["import", path, flag])).toMatchObject({ code: 2, stderr: /cannot be used with paths/ });
    expect(await sandbox.jpg(["import", "--since", "lately"])).toMatchObject({ code: 2, stderr: /7d/ });
    expect(await sandbox.jpg(["import", "--since", "1m", "pi"])).toMatchObject({
      code: 2,
      stderr: /import --list --all/,
    });
  });
});

describe("what jpg wrote for an agent to resume", () => {
  const timestamp = "2026-03-02T03:04:05Z";
  /** A line with which each agent goes on, behind the last one of the file. */
  const further: Record<string, (last: Record<string, unknown>) => object> = {
    "claude-code": ({ uuid, sessionId, cwd }) => {
      const message = { role: "user", content: "and foam?" };
      return { type: "user", uuid: "u-2", parentUuid: uuid, sessionId, cwd, timestamp, message };
    },
    codex: () => ({ ...prompt("and foam?"), timestamp }),
    pi: ({ id }) => ({
      type: "message",
      id: "e2",
      parentId: id,
      timestamp,
      message: { role: "user", content: "and foam?" },
    }),
  };

  it.each(Object.keys(further))("is not offered for import until %s goes on with it", async (agent) => {
    await sandbox.jpg(["import", keepPi("kelp?")]);
    rmSync(join(sandbox.home, ".pi"), { recursive: true });
    const { path } = await sandbox.json<ResumeReport>(["resume", "--with", agent]);
    expect((await sandbox.jpg(["import", "--list"])).stdout).not.toContain("kelp?");
    expect(await kept()).toEqual([]);
    expect(await sandbox.jpg(["import"])).toMatchObject({ code: 0, stdout: /1 session: 1 unchanged/ });
    expect(await kept()).toEqual([]);
    const last = JSON.parse(readFileSync(path, "utf8").trimEnd().split("\n").at(-1) ?? "") as Record<string, unknown>;
    appendFileSync(path, `${JSON.stringify(further[agent]!(last))}\n`);
    expect(titles(await kept())).toEqual(["kelp?"]);
    expect(await sandbox.jpg(["import"])).toMatchObject({ code: 0, stdout: /1 session: 1 extended/ });
    expect((await sandbox.jpg(["print"])).stdout).toContain("and foam?");
  });
});

describe("sessions that may be of another project", () => {
  it.each([
    ["that changed a moment ago", 0],
    ["that changed long ago", 9],
  ])("are left out and named, until one %s is imported by its path", async (_, daysAgo) => {
    keepClaude("clear", sandbox.project);
    const [gone, unsaid] = [keepClaude("gone", sameName()), keepClaude("unsaid", null, { daysAgo })];
    const said = await sandbox.jpg(["import"]);
    expect(said).toMatchObject({ code: 0, stdout: /1 session: 1 created/ });
    expect(said.stderr).toContain(
      `A session was begun in ${sameName()}, which does not exist, so it may be of another project and was left out; \`jpg import ${gone}\` imports it.`,
    );
    expect(said.stderr).toContain(`does not say which directory it was begun in`);
    expect((await sandbox.jpg(["import", "--list"])).stderr).toContain(`jpg import ${unsaid}`);
    expect(titles(await kept())).toEqual(["clear"]);
    expect(await sandbox.jpg(["import", unsaid])).toMatchObject({ code: 0 });
    keepClaude("unsaid", null, { text: "unsaid, rewritten", daysAgo });
    const { stdout: gitDir } = await sandbox.jpg(["git", "rev-parse", "--absolute-git-dir"]);
    rmSync(join(gitDir.trim(), "jpg-cache"), { recursive: true });
    const again = await sandbox.jpg(["import"]);
    expect(again.stdout).toMatch(/2 sessions: /);
    expect(again.stderr).not.toContain(unsaid);
  });

  it("are all there is now and then: nothing is imported then, and they are named", async () => {
    const gone = keepClaude("gone", sameName());
    expect(await sandbox.jpg(["import"])).toMatchObject({
      code: 1,
      stdout: /No sessions imported/,
      stderr: /imports it/,
    });
    const { stdout } = await sandbox.jpg(["import", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject([{ source: gone, status: "left_out" }]);
  });

  it("are scanned with the rest, and where there is nothing to scan that is said", async () => {
    expect((await sandbox.jpg(["scan"])).stdout).toBe(
      `Nothing was scanned: no agent on this machine keeps sessions for ${sandbox.project}.\n`,
    );
    keepClaude("unsaid", null, { text: "OPENAI_API_KEY=sk-4f9d2c7b1e8a6035d9c4b7e2f1a80c63" });
    expect(await sandbox.jpg(["scan"])).toMatchObject({ code: 1, stdout: /1 secret in 1 file/ });
  });
});

describe.skipIf(tmuxMissing !== null)("jpg import at a terminal (tmux)", () => {
  const imported = async () => titles(await sandbox.json<ListReport>(["ls"]));
  const pane = () =>
    openPane([process.execPath, BIN, "import"], { cwd: sandbox.project, env: sandbox.env, columns: 80 });

  it("asks which of the new sessions are wanted, and takes those", async () => {
    keepCodex(1, "first kelp?", 3);
    keepCodex(2, "second kelp?", 2);
    keepPi("sand?", 1);
    const terminal = pane();
    const screen = await terminal.shows("Which?");
    expect(screen).toMatch(/# +AGENT +AGE +TURNS +SIZE +TITLE/);
    expect(screen).toMatch(/1 +pi .*sand\?/);
    terminal.type("9", "Enter");
    await terminal.shows("numbers from 1 to 3");
    terminal.type("1 3", "Enter");
    await terminal.shows("left with 0");
    terminal.close();
    expect(await imported()).toEqual(["first kelp?", "sand?"]);
  });

  it("takes all for Enter, and asks nobody about what it knows", { tags: ["slow"] }, async () => {
    keepCodex(1, "first kelp?", 3);
    keepCodex(2, "second kelp?", 2);
    const terminal = pane();
    await terminal.shows("Which?");
    terminal.type("Enter");
    await terminal.shows("left with 0");
    terminal.close();
    expect(await imported()).toEqual(["first kelp?", "second kelp?"]);
    const again = pane();
    expect(await again.shows("left with 0")).not.toContain("Which?");
    again.close();
  });

  it("asks which of those that may be of another project are of this one: none for Enter", {
    tags: ["slow"],
  }, async () => {
    keepClaude("clear", sandbox.project);
    keepClaude("gone", sameName());
    const terminal = pane();
    const screen = await terminal.shows("Which belong to this one?");
    expect(screen).toMatch(/1 +Claude Code .*gone/);
    expect(screen).toContain("They name no directory that exists, so they may belong to another project.");
    terminal.type("Enter");
    expect(await terminal.shows("left with 0")).not.toContain("imports it");
    terminal.close();
    expect(await imported()).toEqual(["clear"]);
    const again = pane();
    await again.shows("Which belong to this one?");
    again.type("1", "Enter");
    await again.shows("left with 0");
    again.close();
    expect(await imported()).toEqual(["clear", "gone"]);
    const last = pane();
    expect(await last.shows("left with 0")).not.toContain("Which");
    last.close();
  });
});
