import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readStoredFile } from "../../../src/app/look/textconv.ts";
import { displayWidth } from "../../../src/cli/frame/terminal.ts";
import { renderStoredFile } from "../../../src/cli/render/stored-file.ts";
import { createTempFolder } from "../../helpers/temp-repository.ts";

async function shown(text: string): Promise<string> {
  const folder = createTempFolder();
  try {
    const path = join(folder.path, "file.jsonl");
    writeFileSync(path, text);
    return renderStoredFile(await readStoredFile(path));
  } finally {
    folder.remove();
  }
}

const base = { type: "compaction", id: "k3f9q2", timestamp: "2026-11-21T20:30:00.123Z", from_turn: 0, to_turn: 12 };
const line = (fields: object): string => `${JSON.stringify({ ...base, ...fields })}\n`;

describe("a file as git shows it", () => {
  it("is a compaction in words, with nothing left out", async () => {
    const files = { total: 3, visible: 1, summary: 1, pointer: 0, hidden: 1, mentioned_later: 1 };
    const text = line({
      to_event: "e9",
      keep: ["e3"],
      summary: { summary: `# What happened\n\n- ${"a long story ".repeat(10)}`, source: "generated", model: "a/b" },
      tool_calls: {
        policy: "selective",
        calls: [{ event: "e1", request: "keep", response: "strip" }],
        else: { policy: "omit" },
      },
      receipt: { facts: { files }, mentioned_later: [{ kind: "files", text: "src/a.ts", turn: 14 }] },
      profile: "default",
      stats: { tokens: { before: 900, after: 90 }, events_removed: 7 },
      from_the_future: { a: [1] },
    });
    expect(await shown(text)).toMatchInlineSnapshot(`
      "compaction k3f9q2
      turns 0..12: summary
      made: 2026-11-21T20:30:00.123Z
      profile: default
      up to event: e9
      tokens of the view: 900 -> 90

      policies:
          tool calls: 1 by name
          call e1: request keep, response strip
          other tool calls: omit

      summary:
          # What happened

          - a long story a long story a long story a long story a long story a long
          story a long story a long story a long story a long story

      of the summary:
          source: generated
          model: a/b

      loss receipt:
          FACTS  TOTAL  VISIBLE  SUMMARY  HIDDEN  MENTIONED LATER
          files      3        1        1       1                1
          VISIBLE: still shown. SUMMARY: in the summary. HIDDEN: not shown, kept by
            jpg. MENTIONED LATER: gone, yet a later turn mentions it.

          Source gone, still mentioned by a later turn:
            files  src/a.ts  turn 14

      counts:
          events_removed: 7

      besides:
          keep: ["e3"]
          from_the_future: {"a":[1]}
      "
    `);
  });

  it("is a turn as it was said, and other records field by field", async () => {
    const at = { timestamp: "2026-11-21T20:30:00Z" };
    const events = [
      { type: "turn_start", id: "t", ...at, prev: "0".repeat(40) },
      { type: "chat_request", id: "r", ...at, content: "Fix it.\n\u001b[31mNow\u202e" },
      { type: "tool_call_request", id: "c", ...at, call_id: "1", name: "Bash", arguments: { command: "npm test" } },
      { type: "tool_call_response", id: "d", ...at, call_id: "1", content: "ok", is_error: false },
    ];
    expect(await shown(events.map((event) => `${JSON.stringify(event)}\n`).join(""))).toMatchInlineSnapshot(`
      "turn_start  2026-11-21T20:30:00Z  t
          {
            "prev": "0000000000000000000000000000000000000000"
          }

      user  2026-11-21T20:30:00Z  r
          Fix it.
          ␛[31mNow�

      tool call Bash  2026-11-21T20:30:00Z  c
          command: npm test

      tool result Bash  2026-11-21T20:30:00Z  d
          ok
      "
    `);
    expect(await shown(`   ${JSON.stringify({ type: "meta", id: "m", ...at, title: "Named" })}\n`)).toBe(
      "meta\nid: m\ntimestamp: 2026-11-21T20:30:00Z\ntitle: Named\n",
    );
  });

  it("is what stands there when it is damaged or something else, made safe", async () => {
    for (const text of ["", "plain\u001b[2J\n", '{"type":"compaction"}\n', '{"type":"turn_start"\n', "[1]\n"])
      expect(await shown(text)).toBe(text.replace("\u001b", "␛"));
  });

  it("fits 80 columns with a sign before each line, and no text can pass for a line of jpg's own", async () => {
    const evil = `x\ncompaction other\nturns 0..99: summary ${"y".repeat(200)}\u2028made: now`;
    const text = await shown(
      line({
        profile: evil,
        reason: evil,
        summary: { summary: evil, model: evil },
        source: "manual",
        from_event: evil,
      }),
    );
    for (const row of text.split("\n")) expect(displayWidth(row)).toBeLessThanOrEqual(79);
    expect(text.match(/^(compaction|turns|made)\b.*/gm)).toEqual([
      "compaction k3f9q2",
      "turns 0..12: summary",
      "made: 2026-11-21T20:30:00.123Z",
    ]);
  });
});
