// `jpg resume --repair`: says what the agent alone would lose of a damaged session, and writes one that the agent takes whole.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createClaudeWriter, type Json } from "../helpers/claude-session.ts";
import { agentMissing, letAgentGoOn } from "../helpers/real-agent.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.remove());

const GONE = "99999999-0000-4000-8000-000000000000";

/** Three turns, a line each for request and answer. */
function threeTurns(ending?: "compacted"): Json[] {
  const writer = createClaudeWriter();
  for (const name of ["kelp", "limpet", "whelk"]) {
    writer.prompt(`Count the ${name}.`);
    writer.say(`Many a ${name}.`);
  }
  if (ending === undefined) return writer.lines;
  writer.compact("All were counted.");
  writer.prompt("Count the mussel.");
  writer.say("Many a mussel.");
  return writer.lines;
}

/** The same, where the third request names a parent that nobody wrote, and a line is torn. */
function damaged(ending?: "compacted"): string {
  const lines = threeTurns(ending).map((line) => JSON.stringify(line));
  const third = lines.findIndex((line) => line.includes("Count the whelk."));
  lines[third] = JSON.stringify({
    ...JSON.parse(lines[third] ?? "{}"),
    parentUuid: GONE,
    timestamp: "2026-03-01T10:00:00.000Z",
  });
  lines.splice(third, 0, '{"type":"user","message":{"role":"us');
  return `${lines.join("\n")}\n`;
}

interface Written {
  readonly path: string;
  readonly damage: { readonly unreached: readonly Json[]; readonly unreadable: readonly Json[] };
}

const SESSION = "5e551073-0000-4000-8000-00000000000a";

async function imported(content: string): Promise<string> {
  const file = sandbox.session(`${SESSION}.jsonl`, content);
  await sandbox.jpg(["import", file]);
  return file;
}

describe("jpg resume --repair", () => {
  it("says what the agent alone would lose, and with --all writes it", async () => {
    const file = await imported(damaged());
    const before = readFileSync(file, "utf8");
    const line = before.split("\n").findIndex((text) => text.includes(GONE)) + 1;
    const reached = await sandbox.jpg(["resume", "--repair"]);
    expect(reached).toMatchObject({ code: 0, stdout: expect.stringMatching(/claude --resume \S+\n$/) });
    expect(reached.stderr).toContain(
      `Claude Code alone would lose turns 0–1: line ${line} names a parent that is not in the file. The new session leaves that out, too; with --all it has it.`,
    );
    expect(reached.stderr).toContain(
      `1 line of the file cannot be read (line ${line - 1}: not JSON: cut off before its end)`,
    );

    const { path, damage } = await sandbox.json<Written>(["resume", "--repair", "--all"]);
    expect(damage).toMatchObject({ unreached: [{ from_turn: 0, to_turn: 1, line }], unreadable: [{ line: line - 1 }] });
    const written = readFileSync(path, "utf8");
    for (const name of ["kelp", "limpet", "whelk"]) expect(written).toContain(`Count the ${name}.`);
    expect(readFileSync(file, "utf8")).toBe(before);

    const [revert] = await sandbox.json<readonly { readonly commit: string }[]>(["log"]);
    await sandbox.jpg(["revert", revert?.commit ?? ""]);
    expect((await sandbox.jpg(["export", "--to", "markdown"])).stdout).not.toContain("Many a kelp.");
  });

  it("is what import says to type, and log says why", async () => {
    const { stdout } = await sandbox.jpg(["import", sandbox.session(`${SESSION}.jsonl`, damaged())]);
    const [, id = "", command = ""] =
      /^Claude Code will not see turns 0–1 of (\S+) on resume \(broken chain\); jpg has them: `jpg (.+)` hands them back\.$/m.exec(
        stdout,
      ) ?? [];
    expect(id).toMatch(/^count-the-kelp-/);
    expect((await sandbox.jpg(["log"])).stdout).toMatch(
      /The file is damaged: a line names a parent that is not in the file\. .*`jpg resume --repair --all` hands them back/,
    );
    const { path } = await sandbox.json<Written>(command.split(" "));
    expect(readFileSync(path, "utf8")).toContain("Count the kelp.");
  });

  it("says that there is nothing to repair, and resumes as usual", async () => {
    await imported(
      `${threeTurns()
        .map((line) => JSON.stringify(line))
        .join("\n")}\n`,
    );
    const plain = await sandbox.jpg(["resume"]);
    const repaired = await sandbox.jpg(["resume", "--repair", "--all"]);
    expect(repaired).toMatchObject({ code: 0, stdout: plain.stdout });
    expect(repaired.stderr).toMatch(/Nothing to repair in \S+\/main\./);
  });

  it("is what a plain resume says to type, where its own session holds the view", async () => {
    const folder = join(sandbox.home, ".claude/projects", sandbox.project.replace(/[^A-Za-z0-9]/g, "-"));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${SESSION}.jsonl`), damaged());
    await sandbox.jpg(["import"]);
    expect(await sandbox.json(["resume"])).toMatchObject({
      is_original: true,
      unreached: [{ from_turn: 0, to_turn: 1 }],
    });
    const { stderr } = await sandbox.jpg(["resume"]);
    const [, command = ""] =
      /Claude Code will not see turns 0–1 \(broken chain\): `jpg (.*)` hands them back\./.exec(stderr) ?? [];
    const { path } = await sandbox.json<Written>(command.split(" "));
    expect(readFileSync(path, "utf8")).toContain("Count the kelp.");
    const { stderr: after } = await sandbox.jpg(["resume"]);
    expect(after).not.toContain("broken chain");
  });

  it("is not offered for turns that the agent compacted as well, before that is undone", async () => {
    const { stdout } = await sandbox.jpg(["import", sandbox.session(`${SESSION}.jsonl`, damaged("compacted"))]);
    const [, undo = "", repair = ""] =
      /^Claude Code has compacted turns 0–1 of \S+, and .* \(broken chain\); jpg has them: `jpg (.+)`, then `jpg (.+)` hand them back\.$/m.exec(
        stdout,
      ) ?? [];
    // log says what import said, before that is undone and after it.
    const reasonInLog = async () => (await sandbox.jpg(["log"])).stdout;
    expect(await reasonInLog()).toMatch(
      /not in the file\. The agent has compacted these turns besides: `jpg undo --agent`, then/,
    );
    expect(await reasonInLog()).not.toContain("does not see these turns");
    expect((await sandbox.jpg(["resume"])).stderr).not.toContain("broken chain");
    expect((await sandbox.jpg(["resume", "--repair", "--all"])).stderr).not.toContain("alone would lose");
    expect((await sandbox.jpg(undo.split(" "))).stderr).toContain("will not see turns 0–1 (broken chain)");
    expect(await reasonInLog()).toContain("does not see these turns");
    const { path } = await sandbox.json<Written>(repair.split(" "));
    expect(readFileSync(path, "utf8")).toContain("Count the kelp.");
  });

  it("refuses --all without --repair", async () => {
    expect(await sandbox.json(["resume", "--all"])).toMatchObject({ error: { code: "usage" } });
  });
});

const why = agentMissing === null ? "" : ` (skipped: ${agentMissing})`;

describe.skipIf(agentMissing !== null)(`real agent: a repaired session${why}`, () => {
  it("is sent with everything on it", { tags: ["slow"], timeout: 120_000 }, async () => {
    await imported(damaged());
    const { path } = await sandbox.json<Written>(["resume", "--repair", "--all"]);
    const { sent } = await letAgentGoOn(path, { prompt: "and now?", model: "claude-sonnet-4-5" });
    expect(sent.flatMap(({ blocks }) => blocks.map(({ text }) => text))).toEqual(
      ["kelp", "limpet", "whelk"].flatMap((name) => [`Count the ${name}.`, `Many a ${name}.`]),
    );
  });
});
