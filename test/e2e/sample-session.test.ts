// The bundled sample session: what every newcomer imports first. It is realistic, and the real agent resumes it.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { agentsFolder } from "../helpers/real-agent.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const file = join(root, "examples/sample-session.jsonl");
const text = readFileSync(file, "utf8");

type Line = Readonly<Record<string, unknown>>;

interface Block {
  readonly type: string;
  readonly name?: string;
  readonly text?: string;
  readonly is_error?: boolean;
  readonly content?: unknown;
}

/** Parses the lines that can be parsed; the others are counted. */
function parseLines(): { lines: Line[]; malformed: number } {
  const lines: Line[] = [];
  let malformed = 0;
  for (const line of text.trimEnd().split("\n")) {
    try {
      lines.push(JSON.parse(line) as Line);
    } catch (error) {
      expect(error).toBeInstanceOf(SyntaxError);
      malformed += 1;
    }
  }
  return { lines, malformed };
}

const { lines, malformed } = parseLines();

function blocksOf(line: Line): readonly Block[] {
  const content = (line["message"] as { content?: unknown } | undefined)?.content;
  return Array.isArray(content) ? (content as Block[]) : [];
}

/** What a person typed: no tool results, no summary, no interruption marker. */
const prompts = lines.filter((line) => {
  if (line["type"] !== "user" || line["isCompactSummary"] === true) return false;
  const blocks = blocksOf(line);
  return blocks.length === 0 || (blocks[0]?.type === "text" && !blocks[0].text?.startsWith("[Request interrupted"));
});

const children = new Map<unknown, Line[]>();
for (const line of lines) children.set(line["parentUuid"], [...(children.get(line["parentUuid"]) ?? []), line]);

describe("sample session", () => {
  it("has at least 24 turns and stays small", () => {
    expect(prompts.length).toBeGreaterThanOrEqual(24);
    expect(text.length).toBeGreaterThan(250_000);
    expect(text.length).toBeLessThan(460_000);
  });

  it("has every kind of line that an import must cope with", () => {
    const kinds = new Set(lines.map((line) => line["type"]));
    for (const kind of [
      "progress",
      "attachment",
      "system",
      "file-history-snapshot",
      "ai-title",
      "last-prompt",
      "queue-operation",
    ])
      expect(kinds).toContain(kind);
    expect(malformed).toBe(1);
    const blocks = lines.flatMap(blocksOf);
    expect(blocks.filter((block) => block.type === "image")).toHaveLength(1);
    expect(blocks.filter((block) => block.type === "thinking").length).toBeGreaterThan(15);
    expect(blocks.filter((block) => block.is_error === true).length).toBeGreaterThan(8);
    expect(blocks.some((block) => String(block.content).split("\n").length > 400)).toBe(true);
  });

  it("holds one compaction of the agent, in the middle of a turn", () => {
    const boundary = lines.findIndex((line) => line["subtype"] === "compact_boundary");
    expect(lines.filter((line) => line["subtype"] === "compact_boundary")).toHaveLength(1);
    expect(lines[boundary]?.["logicalParentUuid"]).toBe(lines[boundary - 1]?.["uuid"]);
    expect(blocksOf(lines[boundary - 1] as Line)[0]?.type).toBe("tool_result");
    expect(lines[boundary + 1]?.["isCompactSummary"]).toBe(true);
  });

  it("holds one prompt that was taken back, and parallel calls that are no branches", () => {
    const forks = [...children.values()].filter((list) => list.filter((line) => prompts.includes(line)).length > 1);
    expect(forks).toHaveLength(1);
    const parallel = [...children.values()].filter((list) => list.length > 1);
    expect(parallel.length).toBeGreaterThan(10);
  });

  it("links every node to one that stands before it", () => {
    const seen = new Set<unknown>([null, undefined]);
    for (const line of lines) {
      expect(seen.has(line["parentUuid"])).toBe(true);
      if (line["uuid"] !== undefined) seen.add(line["uuid"]);
    }
  });
});

interface SentMessage {
  readonly role: string;
  readonly blocks: readonly { readonly type: string; readonly text?: string }[];
}

const agents = agentsFolder;
const runner = join(process.env["JPG_CORPUS"] ?? join(root, "../shared"), "agents/resume.mjs");
const canRun = agents !== undefined && existsSync(runner);
const why = canRun ? "" : " (SKIPPED: set JPG_AGENTS_DIR to a folder with the real agents)";
if (!canRun) console.warn(`real agent: the sample session is not resumed in Claude Code${why}`);

describe("real agent", () => {
  it.skipIf(!canRun)(
    `real agent: Claude Code resumes the sample session from its summary to its last answer${why}`,
    async () => {
      const url = new URL("normalize.mjs", `file://${runner}`).href;
      const { history } = (await import(url)) as {
        history: (messages: readonly SentMessage[]) => readonly SentMessage[];
      };
      const json = execFileSync(process.execPath, [runner, "claude-code", file, "--json", "--agents", String(agents)], {
        encoding: "utf8",
        maxBuffer: 32_000_000,
      });
      const sent = history((JSON.parse(json) as { messages: SentMessage[] }).messages);
      expect(sent[0]?.blocks[0]?.text).toMatch(/^This session is being continued from a previous conversation/);
      expect(sent.at(-1)?.role).toBe("assistant");
      expect(sent.at(-1)?.blocks.at(-1)?.text).toMatch(/^Promises we made: no new dependencies/);
      const all = JSON.stringify(sent);
      expect(all).toContain("and print how many were rejected at the end");
      expect(all).not.toContain("papaparse");
      expect(all).not.toContain("Take stock of tidepool");
    },
  );
});
