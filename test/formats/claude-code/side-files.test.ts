import { describe, expect, it } from "vitest";
import { isSideFile, isSideFolder } from "../../../src/formats/claude-code/session-folder.ts";

describe("what Claude Code writes beside a session", () => {
  it.each([
    "subagents/agent-a6061d6e2a0c37a78.jsonl",
    "subagents/agent-acompact-629548848068aaa6.meta.json",
    "subagents/workflows/wf_854deede-0ff/agent-a1659bc55fa830aa1.jsonl",
    "subagents/workflows/wf_854deede-0ff/journal.jsonl",
    "workflows/wf_854deede-0ff.json",
    "workflows/scripts/reference-run-wf_854deede-0ff.js",
    "tool-results/toolu_01A8HAUpLBqTq2rkdocEm9bf.txt",
    "tool-results/mcp-result.json",
    "tool-results/pdf-1/page-01.jpg",
  ])("is %s, in folders that are looked into", (path) => {
    expect(isSideFile(path)).toBe(true);
    const names = path.split("/");
    for (let depth = 1; depth < names.length; depth++) expect(isSideFolder(names.slice(0, depth).join("/"))).toBe(true);
  });

  it.each([
    ".env",
    "notes.txt",
    "session.jsonl",
    "tool-results/.env",
    "tool-results/id_rsa",
    "tool-results/.ssh/known.txt",
    "tool-results/a/b/c.txt",
    "subagents/notes.txt",
    "subagents/agent-1.jsonl/agent-2.jsonl",
    "subagents/workflows/.git/journal.jsonl",
    "workflows/scripts/deep/run.js",
    "other/subagents/agent-1.jsonl",
    "subagents/../agent-1.jsonl",
  ])("is not %s", (path) => expect(isSideFile(path)).toBe(false));

  it.each([".ssh", ".git", "src", "src/subagents", "tool-results/.ssh", "tool-results/a/b", "node_modules", ""])(
    "does not look into %s",
    (path) => expect(isSideFolder(path)).toBe(false),
  );
});
