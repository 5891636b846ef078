import { describe, expect, it } from "vitest";
import type { ListRow } from "../../../src/app/look/list.ts";
import { activeNote, renderList } from "../../../src/cli/render/conversations.ts";
import { PLAIN } from "../../helpers/plain-rendering.ts";

const now = new Date("2026-11-21T20:30:00Z");
const ACTIVE: ListRow = {
  id: "fix-parser-k3f9",
  title: "Fix the parser",
  branch: "fix-parser-k3f9/main",
  turns: 16,
  tokens: { raw: 184_200, view: 9140 },
  compactions: 1,
  forks: 0,
  updated_at: "2026-11-21T18:30:00Z",
  agent: "claude-code",
  cost_usd: 1.25,
  window: { model: "anthropic/claude-opus-4-8", tokens: 200_000, share: 0.0457 },
  active: true,
};
const OTHER: ListRow = {
  ...ACTIVE,
  id: "plan-a2b3",
  branch: "plan-a2b3/main",
  title: "Plan\nthe move",
  tokens: { raw: 1200, view: 1200 },
  agent: "codex",
  compactions: 0,
  active: false,
  pinned: true,
};

const at = (width: number) => ({ ...PLAIN, width, now });
const lines = (rows: readonly ListRow[], width = 80) => renderList(rows, at(width)).split("\n");

describe("renderList", () => {
  it("marks the active conversation and shows what its compactions save", () => {
    expect(renderList([ACTIVE, OTHER], at(100))).toMatchInlineSnapshot(`
      "AGE  AGENT   TITLE                   TURNS     TOKENS  FULL   COST   ID
       2h  claude  Fix the parser             16  184k→9.1k    5%  $1.25  *k3f9
       2h  codex   [pinned] Plan the move     16       1.2k    5%  $1.25   a2b3"
    `);
  });

  it("marks tokens that are an estimate", () => {
    const tokens = (source: "recorded" | "estimate") => renderList([{ ...OTHER, tokens_source: source }], at(100));
    expect(tokens("estimate")).toContain(" ~1.2k ");
    expect(tokens("recorded")).not.toContain("~");
  });

  it.each([
    [950, "950"],
    [9949, "9.9k"],
    [9950, "10k"],
    [84_499, "84k"],
    [999_499, "999k"],
    [999_500, "1.0M"],
    [12_345_678, "12.3M"],
  ])("shows %d tokens in few characters", (tokens, shown) => {
    expect(lines([{ ...OTHER, tokens: { raw: tokens, view: tokens } }])[1]).toContain(` ${shown} `);
  });

  it("says nothing of cost and share where they are not known, and leaves an empty column out", () => {
    const { cost_usd: _, window: __, ...bare } = OTHER;
    expect(lines([bare])[0]).not.toMatch(/COST|FULL/);
    const [head, unknown, known] = lines([{ ...OTHER, cost_usd: null }, ACTIVE]);
    expect(head).toMatch(/FULL {2}.*COST/);
    expect(unknown).not.toContain("$");
    expect(known).toContain("$1.25");
  });

  it("has columns for compactions and forks only where there are several", () => {
    expect(lines([ACTIVE, OTHER], 120)[0]).not.toMatch(/COMP|FORK/);
    expect(lines([{ ...ACTIVE, compactions: 2 }, OTHER], 120)[0]).toContain("COMP");
    expect(lines([{ ...ACTIVE, forks: 1 }, OTHER], 120)[0]).toContain("FORK");
  });

  it.each([80, 100])("gives the title 30 columns or more on %d columns", (width) => {
    const long = { ...ACTIVE, title: "long ".repeat(30), compactions: 12, forks: 3 };
    const large = {
      ...OTHER,
      title: "x",
      turns: 12_345,
      tokens: { raw: 12_345_678, view: 184_200 },
      agent: "opencode",
    };
    const shown = lines([long, { ...large, tokens_source: "estimate", overhead_source: "unknown" }], width);
    expect(shown.every((line) => line.length <= width)).toBe(true);
    expect(/long (?:long )*l?o?n?g?…?/.exec(shown[1] ?? "")?.[0].length).toBeGreaterThanOrEqual(29);
    expect(shown[1]).toMatch(/ \*k3f9$/);
  });

  it("shows the cost on 80 columns beside usual sizes, in cents", () => {
    const usual = { ...ACTIVE, title: "long ".repeat(30), tokens: { raw: 330_200, view: 48_100 } };
    const [head, ...rest] = lines([
      { ...usual, cost_usd: 23.95 },
      { ...usual, cost_usd: 0.0031 },
      { ...usual, cost_usd: 0 },
    ]);
    expect(head).toMatch(/TOKENS FULL +COST +ID$/);
    expect(rest.map((line) => /\S+(?= \*k3f9$)/.exec(line)?.[0])).toEqual(["$24", "<$0.01", "$0"]);
    expect(rest.every((line) => line.length <= 80 && / claude (.{30})/.test(line))).toBe(true);
  });

  it("names a conversation by the end of its name, a fork with its own, and both in full where two names end so", () => {
    const idOf = (...rows: readonly ListRow[]) =>
      lines(rows, 120)
        .slice(1)
        .map((line) => line.split(/\s+/).at(-1));
    expect(idOf(ACTIVE, OTHER, { ...OTHER, branch: "plan-a2b3/try-b" })).toEqual(["*k3f9", "a2b3", "a2b3/try-b"]);
    const twin = { ...OTHER, id: "other-a2b3", branch: "other-a2b3/main" };
    expect(idOf(OTHER, twin)).toEqual(["plan-a2b3", "other-a2b3"]);
  });

  it("says where a conversation began that no agent wrote", () => {
    const { agent: _, ...own } = OTHER;
    expect(lines([own, ACTIVE])[1]).toMatch(/^ +2h {2}jpg {5}\[pinned\] Plan the move/);
  });

  it("shows star and cost on 80 columns in a list of several projects, too", () => {
    const long = {
      ...ACTIVE,
      title: "A title that is longer than the terminal has room for",
      project: "/home/ada/webshop",
    };
    const [head = "", row = ""] = lines([long, { ...long, active: false }], 78);
    expect(head).toMatch(/PROJECT +TITLE .*COST +ID$/);
    expect(row).toMatch(/ webshop +A title that is .* \$1\.25 \*k3f9$/);
    expect(row.length).toBeLessThanOrEqual(78);
  });

  it("shows bytes, with their unit, of a session that is not imported: its tokens are not known", () => {
    const session = { path: "/s.jsonl", bytes: 3_800_000 };
    const fresh = { ...OTHER, id: "", branch: "", tokens: { raw: 0, view: 0 }, session };
    const [head, first, row] = lines([ACTIVE, fresh]);
    expect(head).toContain("TOKENS");
    expect(first).toContain("184k");
    expect(row).toMatch(/ 16 +3\.8 MB .* new$/);
  });

  it("explains the star where there is one", () => {
    expect(activeNote([OTHER, ACTIVE]).join("")).toMatch(/^\* the active conversation/);
    expect(activeNote([OTHER])).toEqual([]);
  });

  it("is empty without conversations", () => {
    expect(renderList([], at(80))).toBe("");
  });
});
