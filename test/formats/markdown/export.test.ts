// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Event, ProjectedTurn, View } from "../../../src/core/conversation/event.ts";
import { renderMarkdown, renderTurnMarkdown, renderViewHeading } from "../../../src/formats/markdown/write.ts";
import { runs } from "../../helpers/runs.ts";

const timestamp = "2026-03-04T05:06:07.123Z";
const event = (fields: object): Event => ({ id: "e", timestamp, ...fields }) as unknown as Event;
const start = event({ type: "turn_start" });
const kept = (turn: number, ...events: Event[]): ProjectedTurn => ({
  origin: { kind: "kept", turn },
  events: [start, ...events],
});
const says = (message: unknown): Event => event({ type: "chat_response", message });
const asks = (content: unknown, rest: object = {}): Event => event({ type: "chat_request", content, ...rest });
const calls = (args: unknown, name = "Bash"): Event =>
  event({ type: "tool_call_request", call_id: "c1", name, arguments: args });
const gives = (content: unknown, is_error = false): Event =>
  event({ type: "tool_call_response", call_id: "c1", content, is_error });

describe("renderMarkdown", () => {
  it("shows a turn with its request, reasoning, calls, results and answer", () => {
    const view: View = {
      turns: [
        kept(
          12,
          asks("Where is the kelp?\nHurry."),
          event({ type: "chat_response", reasoning: "Look north." }),
          calls({ command: "ls beds", script: "a\nb", depth: 2 }),
          gives("north\nsouth\n"),
          gives("lost", true),
          says("North."),
          event({ type: "note", kind: "progress" }),
        ),
      ],
    };
    expect(renderMarkdown(view)).toMatchInlineSnapshot(`
      "## Turn 12 · 2026-03-04 05:06:07 UTC

      **User**

      > Where is the kelp?
      > Hurry.

      **Reasoning**

      > Look north.

      **Tool call** \`Bash\`

      \`\`\`
      command: ls beds
      script:
        a
        b
      depth: 2
      \`\`\`

      **Result** \`Bash\`

      \`\`\`
      north
      south
      \`\`\`

      **Error** \`Bash\`

      \`\`\`
      lost
      \`\`\`

      **Assistant**

      > North.

      "
    `);
  });

  it("marks a summary with the range it stands for, and the remainder of a turn", () => {
    const view: View = {
      turns: [
        {
          origin: { kind: "summary", from: 0, to: 4, compaction: "k3f9q2" },
          events: [
            start,
            asks("[Summary of previous conversation]", { metadata: { origin: "summary" } }),
            says("Five beds."),
          ],
        },
        { origin: { kind: "kept", turn: 4, part: true }, events: [start, says("Done.")] },
        { origin: { kind: "replacement", from: 5, to: 5, compaction: "p81" }, events: [start] },
      ],
    };
    expect(
      renderMarkdown(view)
        .split("\n")
        .filter((line) => line !== ""),
    ).toEqual([
      "## Summary of turns 0..4 · compaction k3f9q2",
      "**Summary**",
      "> [Summary of previous conversation]",
      "**Summary**",
      "> Five beds.",
      "## Turn 4 (continued) · 2026-03-04 05:06:07 UTC",
      "**Assistant**",
      "> Done.",
      "## In place of turn 5 · compaction p81",
    ]);
  });

  it("names who a request came from", () => {
    const labels = [
      asks("a"),
      asks("a", { role: "developer" }),
      asks("a", { metadata: { origin: "harness" } }),
      asks("a", { metadata: { origin: "queued" } }),
    ].map((one) => renderTurnMarkdown(kept(0, one)).split("\n")[2]);
    expect(labels).toEqual([
      "**User**",
      "**System**",
      "**Added by the agent**",
      "**User** (while the agent was working)",
    ]);
  });

  it("shows images, attachments and provider items by a word", () => {
    const text = renderTurnMarkdown(
      kept(
        0,
        asks([
          { type: "text", text: { $attachment: "ab.txt" } },
          { type: "image", media_type: "image/png", data: "AAAA" },
          { type: "image", url: "https://example.invalid/x.png" },
          { type: "document", media_type: "application/pdf", data: { $attachment: "cd.pdf", encoding: "base64" } },
          { type: "attachment", name: "notes.md" },
          { type: "opaque", provider: "openai", value: {} },
          { type: "image", url: `data:image/png,${"A".repeat(85)}` },
          { type: "hologram" },
        ]),
      ),
    );
    expect(text.split("\n").filter((line) => line.startsWith("> "))).toEqual([
      "> [attachment ab.txt]",
      "> [image image/png, 4 characters of base64]",
      "> [image https://example.invalid/x.png]",
      "> [document application/pdf, cd.pdf]",
      "> [attachment notes.md]",
      "> [openai item]",
      "> [image data URL of 100 characters]",
      "> [unknown part]",
    ]);
  });

  it("shows the text of documents and of what a provider keeps verbatim", () => {
    const source = { type: "text", media_type: "text/plain", data: "one\ntwo" };
    const text = renderTurnMarkdown(
      kept(
        0,
        asks([
          { type: "document", media_type: "text/plain", data: Buffer.from("tide\nhigh").toString("base64") },
          { type: "opaque", provider: "anthropic", value: { type: "document", source, title: "Notes" } },
        ]),
      ),
    );
    expect(text.split("\n").filter((line) => line.startsWith("> "))).toEqual([
      "> [document text/plain, 12 characters of base64]",
      "> tide",
      "> high",
      "> [anthropic document]",
      "> one",
      "> two",
      "> Notes",
    ]);
  });

  it("shows data, questions, config changes and unknown events as JSON", () => {
    const text = renderTurnMarkdown(
      kept(
        0,
        event({ type: "chat_response", data: { a: 1 } }),
        event({ type: "inquiry_request", question: "Sure?" }),
        event({ type: "inquiry_response" }),
        event({ type: "config_delta", delta: {} }),
        event({ type: "sonar", ping: 1 }),
      ),
    );
    expect(text.split("\n").filter((line) => line.startsWith("**"))).toEqual([
      "**Data**",
      "**Question**",
      "**Answer**",
      "**Config**",
      "**Event** `sonar`",
    ]);
    expect(text).toContain('```json\n{\n  "a": 1\n}\n```\n');
  });

  it("shows arguments that are no object as they are", () => {
    const shown = ["*** patch", ["a", 1], undefined].map(
      (args) => renderTurnMarkdown(kept(0, calls(args))).split("\n")[5],
    );
    expect(shown).toEqual(["*** patch", '["a",1]', undefined]);
  });

  it("leaves out a time that it cannot read", () => {
    const turn: ProjectedTurn = {
      origin: { kind: "kept", turn: 0 },
      events: [event({ type: "turn_start", timestamp: "soon" })],
    };
    expect(renderTurnMarkdown(turn)).toBe("## Turn 0\n\n");
  });

  it("says when there is nothing to read", () => {
    const text = renderTurnMarkdown(
      kept(0, calls({}), gives(""), event({ type: "chat_response", reasoning: "", metadata: { encrypted: "x" } })),
    );
    expect(text).toContain("**Tool call** `Bash`\n\n**Result** `Bash`\n\n(empty)\n\n**Reasoning**\n\n(not readable)\n");
  });

  it("shows long results whole, or their first and last lines when told how many", () => {
    const long = kept(0, gives(Array.from({ length: 500 }, (_, at) => `line ${at}`).join("\n")));
    expect(renderTurnMarkdown(long)).toContain("line 250");
    expect(renderTurnMarkdown(long, { maxLines: 5 })).toContain(
      "```\nline 0\nline 1\nline 2\n… 495 lines left out …\nline 498\nline 499\n```",
    );
    expect(renderTurnMarkdown(kept(0, gives("a\nb\n")), { maxLines: 2 })).toContain("```\na\nb\n```");
    expect(renderTurnMarkdown(kept(0, gives("a\nb\nc")), { maxLines: 1 })).toContain(
      "```\na\n… 2 lines left out …\n```",
    );
  });

  it("is the concatenation of its turns", () => {
    const view: View = { turns: [kept(0, asks("a")), kept(1, asks("b"))] };
    expect(view.turns.map((turn) => renderTurnMarkdown(turn)).join("")).toBe(renderMarkdown(view));
  });
});

/** Lines that are not quoted and not inside a fence, as CommonMark reads them. */
function structure(text: string): string[] {
  const lines: string[] = [];
  let fence: string | null = null;
  for (const line of text.split(/\r\n?|\n/)) {
    const run = /^ {0,3}(`{3,})[^`]*$/.exec(line)?.[1] ?? null;
    if (fence !== null) {
      if (run !== null && run.length >= fence.length && line.trim() === run) fence = null;
    } else if (run !== null) fence = run;
    else if (!line.startsWith("> ") && line !== "") lines.push(line);
  }
  return fence === null ? lines : [...lines, "UNCLOSED"];
}

describe("renderViewHeading", () => {
  it("names the conversation, its branch and commit", () => {
    expect(renderViewHeading({ title: "Kelp\n# beds </h1>", branch: "kelp/main", commit: "abc" })).toBe(
      "# Kelp # beds \\</h1>\n\n`kelp/main` at `abc`\n\n",
    );
    expect(renderMarkdown({ turns: [] }, { title: " " })).toBe("# untitled\n\n");
  });
});

describe("hostile content", () => {
  const hostile = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          "\n",
          "\r",
          "```",
          "````",
          "~~~",
          "# ",
          "## Turn 9",
          "> ",
          "</blockquote>",
          "<!--",
          "**User**",
          "`",
          "\u001b[2J",
          "\u009b",
          "---",
        ),
        fc.string(),
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join(""));

  it("never leaves its quote or fence", () => {
    fc.assert(
      fc.property(
        hostile,
        hostile,
        fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
        (text, name, maxLines) => {
          const turn = kept(
            3,
            asks(text),
            says(text),
            event({ type: "chat_response", reasoning: `x${text}` }),
            calls({ [text]: text, b: text }, name),
            gives(`x${text}`),
          );
          const shape = structure(renderTurnMarkdown(turn, maxLines === undefined ? {} : { maxLines }));
          expect(shape.map((line) => line.replace(/ `[^`]*`$/, ""))).toEqual([
            "## Turn 3 · 2026-03-04 05:06:07 UTC",
            "**User**",
            "**Assistant**",
            "**Reasoning**",
            "**Tool call**",
            "**Result**",
          ]);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it("cannot close the quote with a tag nor open a comment over what follows", () => {
    const text = renderTurnMarkdown(
      kept(0, says("a < b </blockquote><h2>Turn 9</h2><!-- <details> `<T>` Array<string>")),
    );
    expect(text).toContain("> a < b \\</blockquote>\\<h2>Turn 9\\</h2>\\<!-- \\<details> `<T>` Array<string>\n");
  });

  it("gets no form from what is taken out of it", () => {
    const shown = renderTurnMarkdown(kept(0, says("<\u001b[m/blockquote>"), gives("a\n``\u001b[m`\nb")));
    expect(shown).toContain("> \\</blockquote>\n");
    expect(shown).toContain("````\na\n```\nb\n````\n");
  });

  it("sends no control character to a terminal, but tabs and line feeds", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const shown = renderTurnMarkdown(kept(0, asks(`${text}\t\u001b]0;title\u0007\u202e`), gives(`x${text}`)));
        expect(shown).not.toMatch(
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/,
        );
        expect(shown).toContain("␛]0;title␇");
        expect(shown).toContain("\t");
      }),
    );
  });
});
