import fc from "fast-check";
import { lexer } from "marked";
import { describe, expect, it } from "vitest";
import { displayWidth } from "../../../src/cli/frame/display-width.ts";
import { createStyle, unpainted } from "../../../src/cli/frame/style.ts";
import { createPlainStream } from "../../../src/cli/markdown/line-stream.ts";
import { createMarkdownStream } from "../../../src/cli/markdown/markdown-stream.ts";
import { renderBlocks } from "../../../src/cli/markdown/render-blocks.ts";
import { runs } from "../../helpers/runs.ts";

const look = (width: number, ascii = false) => ({ style: createStyle(false), width, ascii });
const render = (text: string, width = 40, ascii = false): string =>
  renderBlocks(lexer(text), look(width, ascii)).join("\n");

/** The lines that a text comes to in pieces. */
function stream(pieces: readonly string[], width = 40): string {
  const markdown = createMarkdownStream(() => look(width));
  const settled = pieces.flatMap((piece) => markdown.feed(piece).settled);
  return [...settled, ...markdown.end()].join("\n");
}

const SAMPLE = `# Tides

High water is at **noon**, see \`tide.ts\` and [the table](https://tide.example/t).

1. Measure:
   - at the pier
   - at the lighthouse, which is farther away than anybody thinks
2. Note it

\`\`\`ts
const high = 12;

if (high) note("a line of code that is too long for forty columns");
\`\`\`

> quoted *words*

| Pier | Height |
|---|---|
| West | 2 m |

---
Done.`;

describe("Markdown at a terminal", () => {
  it("is headings, paragraphs, lists, code, quotes and tables, wrapped at its width", () => {
    expect(render(SAMPLE)).toBe(`# Tides

High water is at noon, see \`tide.ts\` and
the table (https://tide.example/t).

1. Measure:
   • at the pier
   • at the lighthouse, which is farther
     away than anybody thinks
2. Note it

  ts
  const high = 12;

  if (high) note("a line of code that is
   too long for forty columns");

│ quoted words

Pier │ Height
─────┼───────
West │ 2 m

────────────────────────────────────────

Done.`);
    expect(render("- a\n\n---\n> b\n\n|a|b|\n|-|-|\n|1|2|", 20, true)).toBe(
      "- a\n\n--------------------\n\n| b\n\na | b\n--+--\n1 | 2",
    );
  });

  it("keeps what only looks like Markdown", () => {
    for (const text of ["2 ** 3 and src/**/*.ts", "a_b_c and __init", "1 < 2 & 3", "a * b", "<div>"])
      expect(render(text)).toBe(text);
    expect(render("a &lt; b")).toBe("a < b");
    expect(render("one\ntwo")).toBe("one\ntwo");
    expect(render("- [x] done\n- [ ] open")).toBe("• [x] done\n• [ ] open");
  });

  it("narrows the widest columns of a table, and writes cells one below the other where that is too wide", () => {
    const table = "| Name | What it does | cm |\n|---|---|--:|\n| tide | measures the<br>height of the water | 7 |";
    expect(render(table, 24)).toMatchInlineSnapshot(`
      "Name │ What it does │ cm
      ─────┼──────────────┼───
      tide │ measures the │  7
           │ height of    │
           │ the water    │"
    `);
    expect(render(table, 12)).toMatchInlineSnapshot(`
      "Name: tide
      What it
      does:
      measures the
      height of
      the water
      cm: 7"
    `);
  });

  it("wraps by columns, not by characters: wide ones anywhere, words whole, indentation kept", () => {
    expect(render("潮の高さは二メートルです。", 10)).toMatchInlineSnapshot(`
      "潮の高さは
      二メートル
      です。"
    `);
    expect(render("👩‍👩‍👧 café 🌊🌊🌊🌊🌊 waves", 9)).toMatchInlineSnapshot(`
      "👩‍👩‍👧 café
      🌊🌊🌊🌊
      🌊 waves"
    `);
    const plain = createPlainStream(() => 12, unpainted);
    expect(plain.feed("  two words and\tmore\n\nnext").settled.join("\n")).toMatchInlineSnapshot(`
      "  two words
      and    more
      "
    `);
    expect(plain.end()).toEqual(["next"]);
  });

  it("is coloured where there are colours, each run once, and where a link leads is shown", () => {
    const [line] = renderBlocks(lexer("a **bold `code`** [bank](https://evil.example)"), {
      ...look(80),
      style: createStyle(true),
    });
    expect(line).toBe(
      "a \u001b[1mbold \u001b[22m\u001b[36m\u001b[1mcode\u001b[22m\u001b[39m bank\u001b[2m (https://evil.example)\u001b[22m",
    );
  });

  it("never is wider than the terminal", () => {
    const word = fc.constantFrom(
      "tide",
      "**bold**",
      "`code`",
      "潮の高さ",
      "- item\n",
      "| a | b |\n|--|--|\n| c | d |\n",
      "\n\n",
      "```\nx y z\n```\n",
      "averylongwordthatdoesnotfit",
      "> q\n",
      "1. one\n",
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 20 }), fc.integer({ min: 12, max: 60 }), (words, width) => {
        for (const line of render(words.join(" "), width).split("\n"))
          expect(displayWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });
});

describe("Markdown that streams", () => {
  it("comes to the same, whatever pieces it comes in", () => {
    expect(stream([SAMPLE])).toBe(render(SAMPLE));
    expect(stream([...SAMPLE])).toBe(render(SAMPLE));
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (lengths) => {
        const pieces: string[] = [];
        for (let at = 0, index = 0; at < SAMPLE.length; index++) {
          const length = lengths[index % lengths.length] ?? 1;
          pieces.push(SAMPLE.slice(at, at + length));
          at += length;
        }
        expect(stream(pieces)).toBe(render(SAMPLE));
      }),
      { numRuns: runs(30) },
    );
  });

  it("settles what is over, line by line in code, and shows the rest live", () => {
    const markdown = createMarkdownStream(() => look(40));
    expect(markdown.feed("One **bo")).toEqual({ settled: [], live: ["One **bo"] });
    expect(markdown.feed("ld** word")).toEqual({ settled: [], live: ["One bold word"] });
    expect(markdown.feed("\n\n```\nfirst\nsec")).toEqual({
      settled: ["One bold word", "", "  first"],
      live: ["  sec"],
    });
    expect(markdown.feed("ond\n```\nafter")).toEqual({ settled: ["  second"], live: ["", "after"] });
    expect(markdown.end()).toEqual(["", "after"]);
  });

  it("shows what would steer the terminal, and ends code that was never closed", () => {
    expect(stream(["\u001b[2J\u202e"])).toBe("␛[2J\ufffd");
    expect(stream(["```\ncode"])).toBe("  code");
  });

  it("does not render a very long block again and again", () => {
    const markdown = createMarkdownStream(() => look(80));
    expect(markdown.feed("word ".repeat(4000)).settled.length).toBeGreaterThan(100);
  });
});
