// The real Claude Code sends for the small sessions of test/helpers/claude-ends.ts what stands there. Needs the agent
// (JPG_AGENTS_DIR) and its runner (../shared or JPG_CORPUS).
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { END_CASES, endCaseLines, wordsOf } from "../helpers/claude-ends.ts";
import { type Json, sessionBytes } from "../helpers/claude-session.ts";
import { agentMissing, letAgentGoOn } from "../helpers/real-agent.ts";

const why = agentMissing === null ? "" : ` (skipped: ${agentMissing})`;

describe.skipIf(agentMissing !== null)(`real agent: where Claude Code goes on${why}`, () => {
  it.each(END_CASES)("sends for $name what the table says ($lines)", async (one) => {
    const folder = await mkdtemp(join(tmpdir(), "jpg-e2e-"));
    const path = join(folder, "5e551073-0000-4000-8000-00000000000b.jsonl");
    await writeFile(path, sessionBytes([...endCaseLines(one)]));
    const { sent } = await letAgentGoOn(path, { prompt: "and then?", model: "claude-sonnet-4-5" });
    await rm(folder, { recursive: true, force: true });
    expect(wordsOf(sent.flatMap(({ blocks }) => blocks as readonly Json[]))).toBe(one.sent);
  });
});
