// Summaries of ranges that do not fit the model's window.

import { describe, expect, it } from "vitest";
import { JpgError } from "../../../src/core/errors.ts";
import { createClaudeWriter, sessionBytes } from "../../helpers/claude-session.ts";
import { type Script, stop } from "../../helpers/scripted-model.ts";
import { good, openConversation, reportOf, session, textOf } from "../../helpers/summaries.ts";

/** A conversation with one result of three thousand lines. */
function withLog(): Buffer {
  const writer = createClaudeWriter();
  writer.prompt("read the log");
  const input = { command: "cat log" };
  writer.node({
    type: "assistant",
    message: {
      id: "m_log",
      role: "assistant",
      model: "claude-test",
      content: [{ type: "tool_use", id: "log", name: "Bash", input }],
    },
  });
  const lines = Array.from({ length: 3000 }, (_, n) => `line ${n} of the log`).join("\n");
  writer.node({
    type: "user",
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: "log", content: lines }] },
  });
  writer.say("It is long.");
  writer.prompt("thanks");
  writer.say("Welcome.");
  return sessionBytes(writer.lines);
}

describe("a range that does not fit the model", () => {
  const long = () => session(10, 60);

  it("is summarised in parts at the ends of turns, which are merged, each from its own raw events", async () => {
    const { run, message } = await openConversation(long());
    const parts = [1, 2, 3, 4, 5].map((part) => good(`PART ${part}`));
    const { outcome, requests, progress } = await run([...parts, good("MERGED")], { range: { keep: 0 } }, 16_000);
    expect(reportOf(outcome).compaction?.summary?.summary).toContain("MERGED");
    const texts = requests.map(textOf);
    const merge = texts.pop()!;
    expect(texts).toHaveLength(5);
    for (let turn = 0; turn < 10; turn += 1)
      expect(texts.filter((text) => text.includes(`request number ${turn}: `))).toHaveLength(1);
    expect(texts[0]).toMatch(/of turns 0 to \d of a conversation .*, part 1 of \d\./);
    expect(merge).toContain("PART 1");
    expect(merge).not.toContain("request number");
    expect(progress.some((line) => /merging the summaries of \d parts/.test(line))).toBe(true);
    expect(reportOf(outcome).compaction?.summary?.parts).toBe(5);
    expect(await message()).toContain("Read in 5 parts, with their summaries merged\n");
  });

  it("has nothing left out, and no parts, if all raw events fit", async () => {
    const { run } = await openConversation(withLog());
    const { outcome, requests } = await run([good()], { range: { keep: 0 } }, 200_000);
    expect(textOf(requests[0]!)).toContain("line 1500 of the log");
    expect(textOf(requests[0]!)).not.toContain("shortened in the middle");
    expect(reportOf(outcome).compaction?.summary).not.toHaveProperty("shortened");
    expect(reportOf(outcome).compaction?.summary).not.toHaveProperty("parts");
  });

  it("has the longest output shortened as little as need be, and says so in prompt, record, commit and progress", async () => {
    const { run, message } = await openConversation(withLog());
    const { outcome, requests, progress } = await run([good()], { range: { keep: 0 } }, 24_000);
    expect(requests).toHaveLength(1);
    const text = textOf(requests[0]!);
    expect(text).toMatch(/One text was shortened in the middle, by \d+ characters in all/);
    expect(text).toContain("line 0 of the log");
    expect(text).toContain("line 2999 of the log");
    expect(text).not.toContain("line 1500 of the log");
    const shortened = reportOf(outcome).compaction?.summary?.shortened;
    expect(shortened).toEqual({ texts: 1, chars: expect.any(Number) });
    const words = `with one text shortened in the middle, by ${shortened?.chars} characters in all`;
    expect(await message()).toContain(`Read ${words}\n`);
    expect(progress).toContain(`the model is asked ${words}`);
  });

  it("has the sections of the parts joined where the merge fails", async () => {
    const { run } = await openConversation(long());
    const broken: Script = [new JpgError("provider", "overloaded", "The model is busy.")];
    const first = await run(
      [good("PART 1"), good("PART 2"), good("PART 3"), good("PART 4"), broken],
      { range: { keep: 0 } },
      22_000,
    );
    const text = reportOf(first.outcome).compaction?.summary?.summary ?? "";
    expect(text).toMatch(/^## TASK STATE\nPART 1\nPART 2/);
    expect(text.match(/## FILES/g)).toHaveLength(1);
    expect(first.progress.some((line) => line.includes("joined as they are"))).toBe(true);
  });

  it("is cut smaller when the provider still says that it is too large", async () => {
    const { run } = await openConversation(long());
    const overflow: Script = [new JpgError("provider", "context_overflow", "Too long.")];
    const { outcome, requests } = await run(
      [overflow, overflow, good("A"), good("B"), good("C"), good("D"), good("E"), good("ALL")],
      { range: { keep: 0 } },
      200_000,
    );
    expect(reportOf(outcome).commit).not.toBeNull();
    expect(textOf(requests[0]!)).toContain("record of turns 0 to 9 ");
    expect(textOf(requests.at(-1)!)).toContain("as summaries of its parts");
  });

  it("fails as a whole when one part is rejected, and commits nothing", async () => {
    const { run, tip } = await openConversation(long());
    const before = await tip();
    const { outcome } = await run([good("PART 1"), [stop()], [stop()]], { range: { keep: 0 } }, 16_000);
    expect(outcome).toMatchObject({ code: "summary_rejected", data: { calls: 3 } });
    expect(await tip()).toBe(before);
  });
});
