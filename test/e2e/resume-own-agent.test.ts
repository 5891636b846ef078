// `jpg resume` without --with continues a conversation in the agent that it comes from.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { codexLines, rolloutBytes } from "../helpers/codex-session.ts";
import { createSandbox, type Sandbox, smallSession } from "../helpers/run-jpg.ts";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.remove());

const importFile = (name: string, content: Uint8Array | string) =>
  sandbox.jpg(["import", sandbox.session(name, content)]);

describe("a session that is not imported yet", () => {
  it("is named with what imports it, by its path, its id or the beginning of that", async () => {
    await importFile("other.jsonl", smallSession({ id: "5e551073-0000-4000-8000-00000000000b" }));
    const id = "6e551073-0000-4000-8000-00000000000a";
    const folder = join(sandbox.home, ".claude/projects", sandbox.project.replace(/[^A-Za-z0-9]/g, "-"));
    mkdirSync(folder, { recursive: true });
    const path = join(folder, `${id}.jsonl`);
    writeFileSync(path, smallSession({ id }));
    for (const word of [id, id.slice(0, 8), path]) {
      for (const verb of ["show", "print", "compact", "resume"]) {
        const { code, stderr } = await sandbox.jpg([verb, word]);
        expect({ code, stderr }).toEqual({
          code: 2,
          stderr: `error: ${word} is a session that is not in this store yet.\nhint: \`jpg import ${path}\` brings it in.\n`,
        });
      }
      await expect(sandbox.json(["show", word])).resolves.toMatchObject({ error: { code: "unknown_id" } });
    }
    await sandbox.jpg(["import", path]);
    for (const word of [id, id.slice(0, 8), path, relative(sandbox.project, path)])
      expect((await sandbox.jpg(["show", word])).code).toBe(0);
    expect(await sandbox.json(["show", "7e551073"])).toMatchObject({
      error: { message: expect.stringContaining("no conversation") },
    });
  });
});

describe("jpg resume without --with", () => {
  it("continues a session of Claude Code in Claude Code", async () => {
    await importFile("session.jsonl", smallSession());
    expect((await sandbox.jpg(["resume"])).stdout).toMatch(/claude --resume \S+\n$/);
  });

  it("continues a session of Codex in Codex, and in another agent with --with", async () => {
    await importFile("rollout.jsonl", rolloutBytes(codexLines("0199a213-81c0-7800-8aa1-bbab2a035a53")));
    expect((await sandbox.jpg(["resume"])).stdout).toMatch(/codex resume \S+\n$/);
    expect((await sandbox.jpg(["resume", "--with", "claude-code"])).stdout).toMatch(/claude --resume \S+\n$/);
  });

  it("says what it wrote, the way back and what the first call costs, and prints nothing but the command as data", async () => {
    await importFile("session.jsonl", smallSession());
    const [id] = await sandbox.json<readonly { id: string }[]>(["ls"]);
    await sandbox.jpg(["title", id?.id ?? "", "Fix the tide table"]);
    const { stdout, stderr } = await sandbox.jpg(["resume"]);
    expect(stdout).toMatch(/^cd '[^']+' && claude --resume \S+\n$|^claude --resume \S+\n$/);
    const [written, back, cost, ...more] = stderr.trimEnd().split("\n");
    expect(written).toMatch(
      /^Wrote "Fix the tide table \(jpg \d+k?\)" for Claude Code: ~\/\.claude\/projects\/\S+\.jsonl$/,
    );
    const session = JSON.parse(smallSession().toString().split("\n")[0] ?? "{}").sessionId;
    expect(back).toBe(
      `Your session ${session.slice(0, 8)} is not where Claude Code looks for it; jpg has its bytes: \`jpg export --original -o FILE\``,
    );
    expect(cost).toMatch(/^Its first call writes [\d.]+k? tokens (?:\(\d+ % of the window\) )?to the cache anew/);
    expect(more).toEqual([]);
    const { title, original } = await sandbox.json<{ title: string; original: object }>(["resume"]);
    expect(title).toMatch(/^Fix the tide table \(jpg /);
    expect(original).toEqual({ session, command: ["claude", "--resume", session], path: null });
    expect(await sandbox.json(["resume", "--with", "codex"])).not.toHaveProperty("original");
  });

  it("does not take the name that it gave a session for the conversation's title", async () => {
    await importFile("session.jsonl", smallSession());
    const { path, session } = await sandbox.json<{ path: string; session: string }>(["resume"]);
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    const name = lines.find((line) => line.includes('"custom-title"')) ?? "";
    expect(name).toMatch(/ \(jpg \d/);
    const last = JSON.parse(lines.at(-1) ?? "{}");
    const said = { role: "user", content: "Go on." };
    const uuid = "6e551073-0000-4000-8000-000000000001";
    const next = { ...last, type: "user", uuid, parentUuid: last.uuid, sessionId: session, message: said };
    // Claude Code repeats the name at the end of the file.
    writeFileSync(
      path,
      `${[...lines, JSON.stringify({ ...next, timestamp: "2030-01-01T00:00:00.000Z" }), name].join("\n")}\n`,
    );
    const [before] = await sandbox.json<readonly { title: string; turns: number }[]>(["ls"]);
    await sandbox.jpg(["import"]);
    const [after] = await sandbox.json<readonly { title: string; turns: number }[]>(["ls"]);
    expect(after).toMatchObject({ title: before?.title, turns: (before?.turns ?? 0) + 1 });
  });

  it("asks for an agent where the conversation comes from none that jpg can resume", async () => {
    const request = { model: "claude-sonnet-4-5", max_tokens: 9, messages: [{ role: "user", content: "Hello" }] };
    await importFile("request.json", JSON.stringify(request));
    const { code, stderr } = await sandbox.jpg(["resume"]);
    expect(stderr).toMatch(
      /^error: jpg resume: say which agent to continue in; \S+ comes from none that jpg can resume\.\n/,
    );
    expect(stderr).toContain("--with claude-code");
    expect(code).toBe(2);
  });
});
