// @module-tag law

import fc from "fast-check";
import { lexer } from "marked";
import { describe, expect, it } from "vitest";
import type { Screen } from "../../../src/cli/frame/screen.ts";
import { createStyle, displayWidth, unpainted } from "../../../src/cli/frame/terminal.ts";
import { createLiveLines, createMarkdownStream, createPlainStream } from "../../../src/cli/render/markdown.ts";
import { renderBlocks } from "../../../src/cli/render/markdown-blocks.ts";
import { forTerminal } from "../../../src/core/safe-text.ts";
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
});

/** Blocks of every kind, some of which eat the next one. */
const BLOCKS = [
  ...["para one\nline two", "# head", "Title\n===", "---", "a\\\nb", "&amp; &copy; x", "![img](u) and <http://a.b>"],
  ...["- a\n- b\n  - c\n\n    more\n- d", "1. x\n2. y\n\n   para\n3. z", "* star\n* list", "1) par\n2) par"],
  ...["- [ ] task\n- [x] done", "- item\n  ```\n  code in list\n  ```\n- after", "> quote\n> more\n>\n> - l"],
  ...["```js\ncode\n\n  more\n```", "~~~\nq\n~~~", "````\n```\nnested\n```\n````", "    indented code\n    more"],
  ...["| a | b |\n|--|--|\n| c | d |", "<details>\n<b>x</b>\n</details>", "text with `code", "**bold\nover lines**"],
];

/** Cuts a text into pieces of these lengths, again and again. */
function cut(text: string, lengths: readonly number[]): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0, index = 0; at < text.length; index++) {
    const length = lengths[index % lengths.length] ?? 1;
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

describe("Markdown that streams", () => {
  it("comes to the same, whatever pieces it comes in", { tags: ["slow"] }, () => {
    expect(stream([...SAMPLE])).toBe(render(SAMPLE));
    const parts = fc.array(fc.tuple(fc.constantFrom(...BLOCKS), fc.constantFrom("\n\n", "\n", "\n\n\n")), {
      maxLength: 6,
    });
    const lengths = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(
        parts,
        lengths,
        fc.integer({ min: 10, max: 50 }),
        fc.constantFrom(1, 1, 15),
        (blocks, cuts, width, times) => {
          const text = blocks.flat().join("").repeat(times);
          const shown = stream(cut(text, cuts), width);
          expect(shown.trimEnd()).toBe(render(text, width).trimEnd());
          for (const line of shown.split("\n")) expect(displayWidth(line)).toBeLessThanOrEqual(width);
        },
      ),
      { numRuns: runs(200) },
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

/** A terminal that knows only what live lines send it. */
function drawnScreen(columns: number, rows: number): { readonly screen: Screen; text(): string } {
  const lines: string[] = [""];
  let at = 0;
  const screen: Screen = {
    columns: () => columns,
    rows: () => rows,
    every: () => () => undefined,
    write(text) {
      for (const [index, part] of text.split("\n").entries()) {
        if (index > 0) {
          at++;
          lines[at] ??= "";
        }
        lines[at] += part;
      }
    },
    draw(sequences) {
      expect(sequences).toMatch(/^(\u001b\[2K\u001b\[A)*\r\u001b\[2K$/);
      at -= sequences.split("\u001b[A").length - 1;
      if (at < 0) throw new Error("above the screen");
      lines.length = at + 1;
      lines[at] = "";
    },
  };
  return { screen, text: () => lines.join("\n") };
}

describe("lines that change", () => {
  it("stand at last as they were settled, whatever was live between", () => {
    const line = fc.constantFrom(...["", "a", "ab", "a b c", "long line"].map(forTerminal));
    const step = fc.tuple(fc.array(line, { maxLength: 3 }), fc.array(line, { maxLength: 9 }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const { screen, text } = drawnScreen(20, 5);
        const live = createLiveLines(screen);
        for (const [settled, changing] of steps) live.show(settled, changing);
        live.show([], []);
        expect(text()).toBe([...steps.flatMap(([settled]) => settled), ""].join("\n"));
      }),
      { numRuns: runs(300) },
    );
  });
});
