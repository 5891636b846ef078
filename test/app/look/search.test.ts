// Searching stored conversations: texts, not JSON; forks once; what the view hides is found and said to be hidden.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compact } from "../../../src/app/compact/compact.ts";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { type SearchHit, type SearchRequest, searchConversations } from "../../../src/app/look/search.ts";
import { forkConversation } from "../../../src/app/manage/fork.ts";
import { createClaudeWriter, sessionBytes } from "../../helpers/claude-session.ts";
import { smallSession } from "../../helpers/run-jpg.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

const QUOTED = 'The sign says "no mooring"\nC:\\tide\\table.txt → ÄSTUARY';
let workspace: GitWorkspace;
let quoted: string;
let small: string;

function quotedSession(): Buffer {
  const writer = createClaudeWriter();
  writer.prompt(QUOTED);
  writer.say("I read the sign.");
  writer.prompt(`Here is the log:\n${"wave after wave\n".repeat(25_000)}and then the buoy sank`);
  writer.say("That is long.");
  return sessionBytes(writer.lines.map((line) => ({ ...line, sessionId: "5e551073-0000-4000-8000-0000000000bb" })));
}

beforeAll(async () => {
  workspace = await createGitWorkspace();
  quoted = (await importBytes(workspace, quotedSession())).branch;
  small = (await importBytes(workspace, smallSession({ turns: 6 }))).branch;
});
afterAll(() => removeWorkspace(workspace));

const find = async (pattern: string, how: Omit<SearchRequest, "pattern"> = {}): Promise<readonly SearchHit[]> =>
  (await searchConversations(workspace, { pattern, ...how })).hits;
const treeOf = async (branch: string) => loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
const places = (hits: readonly SearchHit[]): readonly string[] => hits.map(({ branch, turn }) => `${branch} ${turn}`);

describe("searchConversations", () => {
  it("finds events by their text and says where, with the line", async () => {
    const [hit, ...more] = await find("harbour wall", { id: small, limit: 1 });
    expect(more).toEqual([]);
    expect(hit).toMatchObject({ branch: small, turn: 1, type: "chat_request", state: "shown" });
    expect(hit?.line).toBe("Request 1 about the harbour wall");
    expect(hit?.line.slice(hit.from, hit.to)).toBe("harbour wall");
  });

  it("finds a text that JSON escapes, and not the JSON around texts", async () => {
    for (const text of ['"no mooring"', "C:\\tide\\table", "→ Ä", 'mooring"\nC:', "\\tide"]) {
      expect(places(await find(text)), text).toEqual([`${quoted} 0`]);
    }
    for (const text of ['\\"no', "\\n", '"type"', "turn_start", "chat_request", "\\\\tide"]) {
      expect(await find(text), text).toEqual([]);
    }
  });

  it("takes upper and lower case as the same where asked to, beyond ASCII too", async () => {
    expect(await find("ästuary")).toEqual([]);
    expect(places(await find("ästuary", { ignoreCase: true }))).toEqual([`${quoted} 0`]);
    expect(places(await find("NO MOORING", { ignoreCase: true }))).toEqual([`${quoted} 0`]);
  });

  it("finds texts that look alike in every way of searching, however their letters are composed", async () => {
    const writer = createClaudeWriter();
    writer.prompt("Das Büro in Zürich".normalize("NFD"));
    writer.say("Das Büro\u00a0in Zürich");
    writer.prompt("한글 파일".normalize("NFD"));
    const lines = writer.lines.map((line) => ({ ...line, sessionId: "5e551073-0000-4000-8000-0000000000cc" }));
    const { branch } = await importBytes(workspace, sessionBytes(lines));
    const [both, one] = [[`${branch} 0`, `${branch} 0`], [`${branch} 1`]];
    for (const form of ["NFC", "NFD"]) {
      expect(places(await find("Büro in Z".normalize(form)))).toEqual(both);
      expect(places(await find("BÜRO".normalize(form), { ignoreCase: true }))).toEqual(both);
      expect(places(await find("B.ro in Zü".normalize(form), { regex: true }))).toEqual(both);
      expect(places(await find("zürich".normalize(form), { rank: true }))).toEqual(both);
      expect(places(await find("한글".normalize(form)))).toEqual(one);
    }
  });

  it("finds by regular expression", async () => {
    expect(places(await find("buoy s[aeiou]nk$", { regex: true }))).toEqual([`${quoted} 1`]);
  });

  it("looks into long texts that are kept in files of their own", async () => {
    const [hit] = await find("the buoy sank");
    expect(hit).toMatchObject({ branch: quoted, turn: 1, line: "and then the buoy sank" });
    const files = await workspace.store.listTree(await tipOf(workspace, quoted), { under: ["attachments"] });
    expect(files).toHaveLength(1);
  });

  it("finds tool calls by name and argument, and reasoning", async () => {
    const types = new Set((await find("gauge", { id: small })).map(({ type }) => type));
    expect(types).toContain("chat_response");
  });

  it("finds nothing quietly, and says when there is more", async () => {
    expect(await searchConversations(workspace, { pattern: "no such words" })).toEqual({
      hits: [],
      cut: false,
      unreadable: [],
    });
    const report = await searchConversations(workspace, { pattern: "Answer", limit: 2 });
    expect(report).toMatchObject({ cut: true });
    expect(report.hits).toHaveLength(2);
  });

  it("reports a turn that forks share once, or on each if asked to", async () => {
    const { branch } = await forkConversation(workspace, await treeOf(small), {
      first: 2,
      name: "short",
      activate: false,
    });
    expect(places(await find("stood at 1 metres"))).toEqual([`${small} 1`]);
    expect(places(await find("stood at 1 metres", { all: true }))).toEqual([`${small} 1`, `${branch} 1`]);
    expect(places(await find("stood at 1 metres", { id: branch }))).toEqual([`${branch} 1`]);
    expect(await find("stood at 5 metres", { id: branch })).toEqual([]);
  });

  it("says what the view does not show, and which compaction it is by", async () => {
    const report = await compact(workspace, await treeOf(small), {
      range: { from: { type: "turn", turn: 0 }, to: { type: "turn", turn: 1 } },
      summary: { summary: "The tide was measured.", source: "authored" },
      dryRun: false,
      activate: false,
      force: true,
    });
    const stripped = await compact(workspace, await treeOf(small), {
      range: { from: { type: "turn", turn: 2 }, to: { type: "turn", turn: 3 } },
      dryRun: false,
      activate: false,
    });
    const id = small;
    expect(await find("stood at 1 metres", { id })).toMatchObject([
      { state: "hidden", compaction: report.compaction?.id },
    ]);
    expect(await find("stood at 3 metres", { id })).toMatchObject([{ state: "shown" }]);
    expect(await find("thought 3", { id })).toMatchObject([{ state: "hidden", compaction: stripped.compaction?.id }]);
    const results = await find(".", { id, regex: true });
    const states = results.flatMap(({ turn, type, state }) =>
      turn === 3 && type === "tool_call_response" ? state : [],
    );
    expect(states).toEqual(["changed"]);
  });

  it("ranks by words in any order, and takes what is hidden before what is shown", async () => {
    const id = small;
    const ranked = await find("metres 5 water", { id, rank: true });
    expect(ranked[0]).toMatchObject({ turn: 1, state: "hidden" });
    const [hit] = await find("BUOY zebra sank", { rank: true });
    expect(hit).toMatchObject({ branch: quoted, turn: 1 });
    expect(hit?.line.slice(hit.from, hit.to)).toMatch(/^(?:buoy|sank)$/);
    const report = await searchConversations(workspace, { pattern: "harbour wall", id, rank: true, limit: 2 });
    expect([report.hits.length, report.cut]).toEqual([2, true]);
    expect(await find("zebra quagga", { rank: true })).toEqual([]);
    for (const pattern of ["", " ?! ", "\u0000\u001b["])
      await expect(find(pattern, { rank: true }), pattern).rejects.toMatchObject({ code: "bad_pattern" });
  });

  it("lists once, ranked, what several events of a branch say, and says how many more there are", async () => {
    const writer = createClaudeWriter();
    const log = "the crane lifts\nthe gantry rolls\nthe winch is oiled";
    for (const [id, text] of [log, `again:\n${log}`, "a gantry of another yard", log].entries()) {
      writer.prompt(`Look ${id}.`);
      writer.say(text);
    }
    const lines = writer.lines.map((line) => ({ ...line, sessionId: "5e551073-0000-4000-8000-0000000000dd" }));
    const { branch } = await importBytes(workspace, sessionBytes(lines));
    const ranked = await find("gantry crane winch", { id: branch, rank: true });
    expect(ranked.map(({ turn, alike }) => [turn, alike])).toEqual([
      [3, 2],
      [2, undefined],
    ]);
    expect(places(await find("gantry", { id: branch }))).toHaveLength(4);
    await forkConversation(workspace, await treeOf(branch), { name: "again", activate: false });
    const everywhere = await find("gantry crane winch", { rank: true, all: true });
    expect(everywhere.map(({ turn, alike }) => `${turn} ${alike ?? 0}`).sort()).toEqual(["2 0", "2 0", "3 2", "3 2"]);
  });

  it("looks only at what some said", async () => {
    for (const rank of [false, true]) {
      const types = async (...scopes: NonNullable<SearchRequest["scopes"]>): Promise<readonly string[]> =>
        (await find("gauge", { id: small, rank, scopes })).map(({ type }) => type);
      expect(new Set(await types("assistant"))).toEqual(new Set(["chat_response"]));
      expect(await types("user")).toEqual([]);
    }
  });

  it("ends an expression that would take for ever, says where, and lets others through", async () => {
    expect(places(await find("har(bour|d) wal+", { id: small, regex: true }))).toContain(`${small} 1`);
    const endless = find("(?:\\w+\\s?)+!", { id: quoted, regex: true, longestMs: 100 });
    await expect(endless).rejects.toMatchObject({
      code: "slow_pattern",
      message: expect.stringMatching(/more than 0\.1 s on turn \d of /) as string,
    });
  });

  it("looks into summaries where they are named, and says whether the view shows them", async () => {
    const { branch } = await forkConversation(workspace, await treeOf(small), { name: "told", activate: false });
    const summarise = async (to: number, summary: string) =>
      compact(workspace, await treeOf(branch), {
        range: { to: { type: "turn", turn: to } },
        summary: { summary, source: "authored" },
        dryRun: false,
        activate: false,
        force: true,
      });
    const old = await summarise(1, "The breakwater was planned.");
    expect(await find("breakwater", { id: branch })).toEqual([]);
    expect(await find("breakwater", { id: branch, scopes: ["user", "assistant", "tool"] })).toEqual([]);
    const hit = { branch, event: old.compaction?.id, type: "summary", turn: 1, line: "The breakwater was planned." };
    expect(await find("breakwater", { id: branch, scopes: ["summary"] })).toMatchObject([{ ...hit, state: "shown" }]);
    await summarise(3, "The breakwater stands.");
    const found = await find("breakwater planned", { id: branch, scopes: ["summary"], rank: true });
    expect(found.map(({ event, state }) => [event === old.compaction?.id, state])).toEqual([
      [true, "hidden"],
      [false, "shown"],
    ]);
    expect(await find("stands", { id: branch, scopes: ["summary", "user"] })).toHaveLength(1);
  });

  it("refuses an id that names nothing", async () => {
    await expect(find("tide", { id: "nowhere" })).rejects.toMatchObject({ code: "unknown_id" });
  });
});
