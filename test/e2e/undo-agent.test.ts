// `jpg undo --agent`: what the agent compacted by itself is undone, and the conversation goes on whole or smaller in a new session.
// `jpg redo`: what was undone comes back, the newest first.
// @module-tag slow
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { asSession, createClaudeWriter, type Json, sessionBytes } from "../helpers/claude-session.ts";
import { agentMissing, letAgentGoOn } from "../helpers/real-agent.ts";
import { createSandbox, type Sandbox, smallSession } from "../helpers/run-jpg.ts";
import { openPane, type Pane, tmuxMissing } from "../helpers/tmux.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.remove());

const SESSION = "5e551073-0000-4000-8000-00000000000a";
const SUMMARY = "Kelp and limpets were counted.";

/** Four turns; the agent replaced the first ones by a summary before the last. */
function compacted(size = 30): Json[] {
  const writer = createClaudeWriter();
  for (const name of ["kelp", "limpet", "whelk"]) {
    writer.prompt(`Count the ${name}.`);
    writer.think(`The ${name} grows on the pier.`, `I look for ${name}.`);
    writer.tools(1);
    writer.say(`Many a ${name}. ${`All the ${name} on the pier were counted twice. `.repeat(size)}`);
  }
  writer.compact(SUMMARY);
  writer.prompt("Count the mussel.");
  writer.say("Many a mussel.");
  return asSession(writer.lines, SESSION).map((line) => ({ ...line, ...("cwd" in line && { cwd: sandbox.project }) }));
}

/** Puts a session where Claude Code keeps it; `minute` = when it last changed. */
function keep(content: Uint8Array, { id = SESSION, minute = 0 }: { id?: string; minute?: number } = {}): string {
  const folder = join(sandbox.home, ".claude/projects", sandbox.project.replace(/[^A-Za-z0-9]/g, "-"));
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${id}.jsonl`);
  writeFileSync(path, content);
  const time = new Date(Date.UTC(2026, 2, 1, 10, minute));
  utimesSync(path, time, time);
  return path;
}

interface Undone {
  readonly path: string;
  readonly undone: { readonly tokens: { readonly before: number; readonly after: number } };
}

describe("jpg undo --agent", () => {
  it("imports the newest session of the folder, undoes its agent's compaction and writes it whole", async () => {
    const other = "5e551073-0000-4000-8000-00000000000b";
    keep(smallSession({ id: other }), { id: other });
    const original = keep(sessionBytes(compacted()), { minute: 5 });
    const before = readFileSync(original);
    const { code, stdout, stderr } = await sandbox.jpg(["undo", "--agent"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^claude --resume \S+\n$/) });
    const [what, price] = stderr.split("\n");
    expect(what).toMatch(/^Claude Code compacted turns 0\.\.2 of "Count the kelp\."; without it: \S+ → \S+ tokens\.$/);
    expect(price).toMatch(/^Its first call writes /);
    expect(stderr).toContain("`jpg redo` brings Claude Code's compaction back.");
    expect(stderr).toContain(`the way back: claude --resume ${SESSION}`);
    expect(stderr.match(/first call/g)).toHaveLength(1);
    const written = readFileSync(original.replace(SESSION, stdout.trim().split(" ").at(-1) ?? ""), "utf8");
    expect(written).toContain("Count the kelp.");
    expect(written).not.toContain(SUMMARY);
    expect(readFileSync(original)).toEqual(before);
    expect((await sandbox.jpg(["print", "--compacted"])).stdout).toContain("Count the kelp.");
  });

  it("is named as the agent's own in log and show; the JSON stays as it was", async () => {
    keep(sessionBytes(compacted()));
    await sandbox.jpg(["import"]);
    const [row] = await sandbox.json<readonly { compaction: string }[]>(["log"]);
    expect(row).not.toHaveProperty("agent");
    expect((await sandbox.jpg(["log"])).stdout).toMatch(/^\S+ \(\S+, in force, by Claude Code\) compact 0\.\.2: /);
    expect((await sandbox.jpg(["show"])).stdout).toContain(", in force, by Claude Code) compact 0..2: ");
    const shown = await sandbox.jpg(["show", row?.compaction ?? ""]);
    expect(shown.stdout).toMatch(/^compaction \S+ \(in force, by Claude Code\)$/m);
    expect(await sandbox.json(["show", row?.compaction ?? ""])).not.toHaveProperty("agent");
  });

  it("imports what the session has gained, and undoes nothing twice", async () => {
    const lines = compacted();
    keep(sessionBytes(lines.slice(0, -2)));
    await sandbox.jpg(["import"]);
    keep(sessionBytes(lines), { minute: 1 });
    const { path, undone } = await sandbox.json<Undone>(["undo", "--agent"]);
    expect(undone.tokens.after).toBeGreaterThan(undone.tokens.before);
    expect(readFileSync(path, "utf8")).toContain("Count the mussel.");
    const again = await sandbox.jpg(["undo", "--agent"]);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("Claude Code has compacted nothing") });
    expect((await sandbox.jpg(["redo"])).stdout).toMatch(/^Brought back /);
    expect((await sandbox.jpg(["print", "--compacted"])).stdout).toContain(SUMMARY);
  });

  it("makes it smaller in jpg's way, and says that size first", async () => {
    keep(sessionBytes(compacted()));
    const whole = await sandbox.json<Undone>(["undo", "--agent"]);
    await sandbox.jpg(["redo"]);
    const { stdout, stderr } = await sandbox.jpg(["undo", "--agent", "-s", "strip-reasoning", "--yes"]);
    const said = /made smaller by jpg: \S+ → (\S+) tokens/.exec(stderr)?.[1] ?? "";
    const { first_call: first } = await sandbox.json<{ first_call: { tokens: number } }>(["resume"]);
    expect(first.tokens).toBeLessThan(whole.undone.tokens.after);
    expect(stderr).toContain(`(jpg ${said.replace(/\.\dk$/, "")}`);
    const session = stdout.trim().split(" ").at(-1) ?? "";
    const written = readFileSync(whole.path.replace(/[^/]+$/, `${session}.jsonl`), "utf8");
    expect(written).toContain("Count the kelp.");
    expect(written).not.toContain("The kelp grows on the pier");
  });

  it("leaves jpg's own compactions, and says what undoes them", async () => {
    keep(smallSession({ id: SESSION }));
    await sandbox.jpg(["import"]);
    await sandbox.jpg(["compact", "-p", "light"]);
    const { code, stderr } = await sandbox.jpg(["undo", "--agent"]);
    expect(code).toBe(2);
    expect(stderr).toContain("`jpg undo` undoes the newest compaction that jpg made.");
    expect((await sandbox.jpg(["log"])).stdout).toContain("in force)");
  });

  describe("where another conversation is active", () => {
    const OTHER = "5e551073-0000-4000-8000-00000000000b";
    const refs = (): string => sandbox.git(["for-each-ref", "--format=%(refname) %(objectname)"]);
    const active = async (): Promise<unknown> => (await sandbox.json<{ active: { id: string } }>([])).active;

    /** Two conversations, the one that is active has a session by jpg, the newest file of all. */
    async function prepare({ minute }: { minute: number }): Promise<string> {
      keep(smallSession({ id: OTHER }), { id: OTHER, minute: 3 });
      keep(sessionBytes(compacted()), { minute });
      await sandbox.jpg(["import"]);
      await sandbox.jpg(["use", OTHER]);
      await sandbox.jpg(["compact", "-p", "light"]);
      await sandbox.jpg(["resume"]);
      const rows = await sandbox.json<readonly { id: string; title: string }[]>(["ls"]);
      return /\w+$/.exec(rows.find(({ title }) => title === "Count the kelp.")?.id ?? "")?.[0] ?? "";
    }

    it("passes over what jpg wrote, and leaves the active one; what to type names the other", async () => {
      const id = await prepare({ minute: 5 });
      const before = await active();
      const { code, stderr } = await sandbox.jpg(["undo", "--agent"]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(`\`jpg redo ${id}\` brings`) });
      expect(await active()).toEqual(before);
      expect((await sandbox.jpg(["print", id, "--compacted"])).stdout).toContain("Count the kelp.");
    });

    it("names where there is something to undo when it fails, and changes nothing", async () => {
      const id = await prepare({ minute: 1 });
      const before = { active: await active(), refs: refs() };
      const { code, stderr } = await sandbox.jpg(["undo", "--agent"]);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("has compacted nothing") });
      expect({ active: await active(), refs: refs() }).toEqual(before);
      const [, command = ""] = /compacted something here: `jpg (.*)`/.exec(stderr) ?? [];
      expect(command).toBe(`undo --agent ${id}`);
      await sandbox.jpg(command.split(" "));
      expect((await sandbox.jpg(["undo", "--agent"])).stderr).not.toContain("compacted something here");
    });
  });

  describe.skipIf(tmuxMissing !== null)("on a terminal (tmux)", () => {
    let pane: Pane;
    afterEach(() => pane.close());
    const open = (...words: string[]): Pane => {
      pane = openPane([process.execPath, BIN, ...words], { cwd: sandbox.project, env: sandbox.env });
      return pane;
    };

    it.each([
      ["fits", 30, "[Y/n]"],
      ["is more than the window holds", 30_000, "[y/N]"],
    ])("asks with the answer that is safe where the result %s", async (_, size, choices) => {
      keep(sessionBytes(compacted(size)));
      await sandbox.jpg(["import"]);
      const [row] = await sandbox.json<readonly { id: string }[]>(["ls"]);
      const id = /\w+$/.exec(row?.id ?? "")?.[0] ?? "";
      const asked = await open("undo", "--agent", id).shows(/write a session for Claude Code\? \S+/);
      expect(asked).toContain(choices);
      if (choices === "[Y/n]") return;
      expect(asked.replace(/\s+/g, " ")).toContain(`\`jpg undo --agent ${id} -s auto\` makes it smaller first`);
      pane.type("Enter");
      await pane.shows("Nothing was undone.");
      expect((await sandbox.jpg(["print", "--compacted"])).stdout).toContain(SUMMARY);
    });

    it("says after an undo how to go on", async () => {
      keep(smallSession({ id: SESSION }));
      await sandbox.jpg(["import"]);
      await sandbox.jpg(["compact", "-p", "light"]);
      expect(await open("undo").shows("left with 0")).toMatch(/^Continue: jpg resume --exec$/m);
    });
  });

  it("says that there is no session, and which options need it", async () => {
    expect(await sandbox.json(["undo", "--agent"])).toMatchObject({ error: { code: "no_sessions" } });
    for (const option of [["--exec"], ["--yes"], ["-s", "auto"], ["-p", "light"]])
      expect(await sandbox.json(["undo", ...option])).toMatchObject({ error: { code: "usage" } });
  });

  it.skipIf(agentMissing !== null)(
    "is what the real Claude Code then sends (real agent: needs JPG_AGENTS_DIR)",
    async () => {
      keep(sessionBytes(compacted()));
      const { path } = await sandbox.json<Undone>(["undo", "--agent"]);
      const { sent } = await letAgentGoOn(path, { prompt: "Go on.", model: "claude-sonnet-4-5" });
      const text = JSON.stringify(sent);
      for (const name of ["kelp", "limpet", "whelk", "mussel"]) expect(text).toContain(`Count the ${name}.`);
      expect(text).not.toContain(SUMMARY);
    },
  );
});

describe("jpg redo", () => {
  const view = async (): Promise<string> => (await sandbox.jpg(["print", "--compacted"])).stdout;

  it("brings back what was undone, the newest first, until nothing is left", async () => {
    await sandbox.jpg(["import", sandbox.session("small.jsonl", smallSession({ turns: 6 }))]);
    const states = [await view()];
    for (const profile of ["light", "default"]) {
      await sandbox.jpg(["compact", "-p", profile]);
      states.push(await view());
    }
    const undone = [await sandbox.jpg(["undo"]), await sandbox.jpg(["undo"])];
    for (const { stderr } of undone) expect(stderr).toBe("`jpg redo` brings it back.\n");
    expect(await view()).toBe(states[0]);
    await sandbox.jpg(["redo"]);
    expect(await view()).toBe(states[1]);
    await sandbox.jpg(["redo"]);
    expect(await view()).toBe(states[2]);
    expect(await sandbox.json(["redo"])).toMatchObject({ error: { code: "nothing_to_redo" } });
    await sandbox.jpg(["undo"]);
    expect(await view()).toBe(states[1]);
    await sandbox.jpg(["redo"]);
    expect(await view()).toBe(states[2]);
  });
});
