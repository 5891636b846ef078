// Long texts are stored in files of their own, and nobody may notice: what is read from a store is what was imported, from every
// format, and all that counts, shows or finds a text does so for a long one.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sha256 } from "../../../src/app/conversation/runtime.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadHistory } from "../../../src/app/conversation/view.ts";
import { renderPrinted } from "../../../src/app/look/print.ts";
import { searchConversations } from "../../../src/app/look/search.ts";
import { readEventText, show } from "../../../src/app/look/show.ts";
import { agents } from "../../../src/app/sessions/session-registry.ts";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { textsOf } from "../../../src/core/compact/hidden-content.ts";
import { attachmentPath } from "../../../src/core/conversation/attachment.ts";
import { type Event, traitsOf } from "../../../src/core/conversation/event.ts";
import { estimateEvents } from "../../../src/core/conversation/token-estimate.ts";
import type { Json } from "../../helpers/claude-session.ts";
import { createSandbox, type Sandbox } from "../../helpers/run-jpg.ts";
import { sampleBodies } from "../../helpers/sample-inputs.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

const LINE = "a line of the log with ordinary words in it\n";
const LONG = LINE.repeat(Math.ceil((270 * 1024) / LINE.length));
/** Keys of the formats under which people, models and tools have their words. */
const SAID = new Set("text content output thinking message command input reasoning arguments".split(" "));
/** Texts of a session that are made long. */
const MOST_LONG = 8;

/** A session in which some texts are long, each with a word of its own at its end. */
function lengthened(body: string): string {
  let count = 0;
  const grow = (value: unknown, key: string): unknown => {
    if (typeof value === "string") {
      const isSaid = SAID.has(key) && /^[^[{<]*[a-z]/i.test(value) && count < MOST_LONG;
      return isSaid ? `${value}\n${LONG}needle${count++}` : value;
    }
    if (Array.isArray(value)) return value.map((item) => grow(item, key));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, grow(inner, name)]));
  };
  const grown = (json: string): string => JSON.stringify(grow(JSON.parse(json), ""));
  return body.startsWith("{") && body.includes("}\n{") ? body.replace(/^\{.+/gm, grown) : grown(body);
}

async function imported(bytes: Buffer): Promise<{ readonly workspace: TestWorkspace; readonly tree: BranchTree }> {
  const workspace = await createMemoryWorkspace();
  const { branch } = await importBytes(workspace, bytes);
  return { workspace, tree: await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch)) };
}

function needlesIn(events: readonly Event[]): readonly string[] {
  const said = events.filter((event) => traitsOf(event).providerVisible).flatMap(textsOf);
  return [...new Set(said.flatMap((text) => text.match(/needle\d/g) ?? []))];
}

// What aider writes is Markdown.
describe.each(agents().filter(({ name }) => name !== "aider"))("long texts of $name", ({ name, read: readSession }) => {
  it("are read as they were imported, counted by their size, printed and found", async () => {
    const [body = ""] = sampleBodies(name);
    const bytes = Buffer.from(lengthened(body));
    const session = readSession(createBufferSource(bytes));
    const said = Array.from({ length: session.turnCount }, (_, turn) => session.readTurn(turn));
    const { workspace, tree } = await imported(bytes);
    const { turns } = await loadHistory(workspace.store, tree);
    const tokens = said.map((events) => estimateEvents(events));
    expect(turns.map(({ events }) => estimateEvents(events))).toEqual(tokens);
    expect(Math.max(...tokens)).toBeGreaterThan(LONG.length / 4);
    const needles = needlesIn(said.flat());
    expect(needles.length).toBeGreaterThan(1);
    const printed = await renderPrinted(workspace, tree, { compacted: false, format: "markdown" });
    for (const needle of needles) {
      expect(printed).toContain(needle);
      const { hits } = await searchConversations(workspace, { pattern: needle });
      const found = await show(workspace, hits[0]?.event);
      expect(found.kind === "event" && (await readEventText(workspace, found))).toContain(needle);
    }
  });
});

describe("a conversation of long texts", () => {
  const at = (second: number): string => new Date(Date.UTC(2026, 2, 9, 8, 0, second)).toISOString();
  const long = (needle: string, factor = 1): string => `${LONG.repeat(factor)}needle-${needle}`;
  const block = (type: string, fields: object): object => ({ type, ...fields });
  const asked = (content: unknown): object => ({ type: "user", message: { role: "user", content } });
  const answered = (id: string, ...content: readonly object[]): object => ({
    type: "assistant",
    message: { id, role: "assistant", type: "message", model: "claude-sonnet-4-5", content },
  });
  const picture = { type: "base64", media_type: "image/png", data: Buffer.alloc(3000, 7).toString("base64") };
  const LINES: readonly object[] = [
    asked([
      block("text", { text: `What is wrong?\n${long("one")}` }),
      block("text", { text: long("two") }),
      block("image", { source: picture }),
      block("document", { title: "Notes", source: { type: "text", media_type: "text/plain", data: long("document") } }),
    ]),
    answered("m1", block("thinking", { thinking: long("thought"), signature: "s" })),
    answered("m1", block("tool_use", { id: "t1", name: "Bash", input: { command: long("argument") } })),
    asked([
      block("tool_result", {
        tool_use_id: "t1",
        content: [block("text", { text: long("first") }), block("text", { text: long("second", 3) })],
      }),
    ]),
    answered("m2", block("text", { text: long("answer") })),
  ];
  const NEEDLES = ["one", "two", "document", "thought", "argument", "first", "second", "answer"];
  const SESSION = LINES.map((line, index) => ({
    parentUuid: index === 0 ? null : `u${index - 1}`,
    uuid: `u${index}`,
    timestamp: at(index),
    sessionId: "5e551073-0000-4000-8000-00000000000c",
    cwd: "/home/sam/tidepool",
    version: "2.1.330",
    ...line,
  }));
  let sandbox: Sandbox;
  let conversation: string;
  beforeAll(async () => {
    sandbox = createSandbox();
    const path = sandbox.session("long.jsonl", SESSION.map((line) => `${JSON.stringify(line)}\n`).join(""));
    expect(await sandbox.jpg(["import", path])).toMatchObject({ code: 0 });
    conversation = (await sandbox.json<readonly { id: string }[]>(["ls"]))[0]?.id ?? "";
  });
  afterAll(() => sandbox.remove());

  const needlesOf = (text: string): readonly string[] => NEEDLES.filter((needle) => text.includes(`needle-${needle}`));

  it.each([
    ["print"],
    ["print", "--compacted"],
    ["print", "--engine", "embedded"],
    ["print", "--format", "jsonl"],
    ["export", "--to", "markdown"],
    ["export", "--to", "markdown", "--full-history"],
    ["export", "--to", "jsonl"],
  ])("has its texts in what `jpg %s %s %s` gives", async (...words) => {
    const { stdout } = await sandbox.jpg(words.filter((word) => word !== undefined));
    expect(needlesOf(stdout)).toEqual(NEEDLES);
    expect(stdout).not.toContain(".txt");
  });

  it("has them in the files of its view", async () => {
    await sandbox.jpg(["use", conversation]);
    expect(needlesOf(await readFile(join(sandbox.store, "view.jsonl"), "utf8"))).toEqual(NEEDLES);
    const view = await readFile(join(sandbox.store, "VIEW.md"), "utf8");
    // Results and arguments show their first and last lines there.
    expect(needlesOf(view)).toEqual(NEEDLES.filter((needle) => needle !== "first"));
    expect(view).toContain("lines left out …");
  });

  it("is counted by their size, wherever it is counted", async () => {
    const { bytes, tokens } = await sandbox.json<{ bytes: number; tokens: { by_kind: Record<string, Json> } }>([
      "stats",
    ]);
    const kinds = tokens.by_kind as Record<string, { raw: number; view: number }>;
    expect(bytes).toBeGreaterThan(10 * LONG.length);
    expect(kinds["tool_results"]?.view).toBeGreaterThan((4 * LONG.length) / 3);
    expect(kinds["messages"]?.view).toBeGreaterThan(LONG.length / 4);
    const [row] = await sandbox.json<readonly { tokens: { view: number } }[]>(["ls"]);
    expect(row?.tokens.view).toBeGreaterThan((10 * LONG.length) / 4);
  });

  it("is found by what they say, with the line that says it", { tags: ["slow"] }, async () => {
    for (const [at, needle] of NEEDLES.entries()) {
      const words = [[`needle-${needle}`], ["-i", `NEEDLE-${needle}`], ["--regex", `needle.${needle}$`]][at % 3];
      const [hit] = await sandbox.json<readonly { line: string; event: string }[]>(["search", ...(words ?? [])]);
      expect(hit?.line).toBe(`needle-${needle}`);
      expect((await sandbox.jpg(["show", hit?.event ?? ""])).stdout).toContain(`needle-${needle}`);
    }
    const ranked = await sandbox.jpg(["search", "--rank", "needle answer"]);
    expect(ranked.stdout).toContain("needle-answer");
  });

  it("shows in a diff what was cut out of them, which `undo` brings back", { tags: ["slow"] }, async () => {
    expect(await sandbox.jpg(["compact", "-s", "truncate-results", "--keep", "0"])).toMatchObject({ code: 0 });
    const { stdout } = await sandbox.jpg(["diff"]);
    expect(stdout).toMatch(/characters left out\]/);
    expect(stdout).toContain("-  a line of the log");
    expect(needlesOf((await sandbox.jpg(["print", "--compacted"])).stdout)).toEqual(
      NEEDLES.filter((needle) => needle !== "first"),
    );
    await sandbox.jpg(["undo"]);
    expect(needlesOf((await sandbox.jpg(["print", "--compacted"])).stdout)).toEqual(NEEDLES);
  });

  it("is still printed if a text is lost, with its name in its place; a search says that it could not read it", {
    tags: ["slow"],
  }, async () => {
    const name = `${sha256(Buffer.from(long("answer")))}.txt`;
    sandbox.git(["rm", "--quiet", "--cached", "--sparse", attachmentPath(name)]);
    sandbox.git(["commit", "--quiet", "-m", "lose a text"]);
    const { stdout, code } = await sandbox.jpg(["print"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^> \\[attachment ${name}\\]$`, "m"));
    expect(needlesOf(stdout)).toEqual(NEEDLES.filter((needle) => needle !== "answer"));
    expect(await sandbox.jpg(["stats"])).toMatchObject({ code: 0 });
    expect((await sandbox.jpg(["search", "--regex", "needle.*"])).stderr).toContain("is not in the tree of");
  });
});
