// `jpg resume` without --with continues a conversation in the agent that it comes from.
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
