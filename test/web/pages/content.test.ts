// @module-tag law

import { deflateRawSync, inflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { forMarkdown } from "../../../src/core/safe-text.ts";
import { markdownHtml, type Write, writeCut, writePacked } from "../../../src/web/pages/content.ts";
import { html } from "../../../src/web/pages/html.ts";

const render = (text: string): string => String(markdownHtml(text));

/** All that a text may become: these elements, with these attributes. */
const ALLOWED =
  /<\/?(?:p|pre|code|blockquote|ul|li|strong|em|del|table|thead|tbody|tr|td)>|<(?:br|hr)>|<\/(?:ol|a|span|div|th)>|<ol start="\d+">|<p class="heading">|<pre class="plain">|<code data-code="[a-z0-9+#-]{1,20}">|<div class="table" tabindex="0">|<th scope="col">|<span class="address">|<a href="https?:\/\/[^"<>]*" rel="noopener noreferrer nofollow" target="_blank">/gi;

const PIECES = [
  "<script>alert(1)</script>",
  '<img src=x onerror="alert(1)">',
  "[x](javascript:alert(1))",
  '[x](https://a.example/?q="><b>)',
  "![x](https://a.example/pixel.png)",
  "<https://a.example>",
  "[x]: javascript:1",
  "[x][x]",
  "`a<b`",
  "```\n</code></pre><b>\n```",
  '```"><b>\nlet a;\n```',
  "**b**",
  "*i*",
  "~~d~~",
  "- [ ] t",
  "1. one",
  "> q",
  "# h",
  "a | b\n--|--\n1 | <u>",
  "---",
  "&lt;b&gt;",
  "\n",
  "\n\n",
  " ",
];

describe("Markdown as HTML", () => {
  it("becomes nothing but what is written here, whatever stands in it", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.string()), { maxLength: 12 }), (pieces) => {
        expect(render(pieces.join("")).replace(ALLOWED, "")).not.toMatch(/[<>]/);
      }),
    );
  });

  it("writes emphasis, lists, tables and code", () => {
    expect(
      render("# Plan\n\n1. **one** `a<b`\n2. [x] two\n\n| a | b |\n|--|--|\n| 1 | 2 |\n\n```ts\nlet a;\n```\n"),
    ).toBe(
      '<p class="heading">Plan</p><ol start="1"><li><strong>one</strong> <code>a&lt;b</code></li><li>☑ two</li></ol>' +
        '<div class="table" tabindex="0"><table><thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table></div>' +
        '<pre><code data-code="ts">let a;</code></pre>',
    );
  });

  it("says where a link leads, follows none but to the web, and gets no image", () => {
    expect(render("[docs](https://a.example/)")).toContain('<span class="address">(https://a.example/)</span>');
    expect(render("[x](javascript:alert(1))")).toBe("<p>[x](javascript:alert(1))</p>");
    expect(render("[x](file:///etc/passwd)")).not.toContain("<a");
    expect(render("![x](https://a.example/pixel.png)")).toBe("<p>![x](https://a.example/pixel.png)</p>");
  });

  it("shows long and deep texts as they are", () => {
    expect(render("a *b*\n".repeat(10_000))).toMatch(/^<pre class="plain">a \*b\*\n/);
    expect(render(`${"> ".repeat(5000)}deep`)).toMatch(/^<pre class="plain">/);
    expect(render(`${"- ".repeat(5000)}deep`)).toMatch(/^<pre class="plain">/);
  });
});

const write: Write = (text) => html`<pre>${text}</pre>`;
const pack = (text: string): string => deflateRawSync(text).toString("base64");

describe("long texts on a page", () => {
  it("are cut in the middle, and say where all of it is", () => {
    const text = `begin${"x".repeat(10_000_000)}end`;
    const served = String(writeCut(text, write, { id: "e1", address: "/c/b/text?at=1:e1" }));
    expect(served.length).toBeLessThan(101_000);
    expect(served).toMatch(/^<pre class="plain">begin.*9900008 characters are left out.*end<\/pre>$/s);
    expect(served).toContain('<a href="/c/b/text?at=1:e1">the whole text</a>');
    expect(String(writeCut(text, write, { id: "e1", address: null }))).toContain("<code>jpg show e1</code>");
    expect(String(writeCut("short", write, { id: "e1", address: null }))).toBe("<pre>short</pre>");
  });

  it("are packed so that the beginning and the rest are all of it", () => {
    const long = fc.string({ unit: "grapheme", minLength: 10, maxLength: 40 }).map((text) => text.repeat(400));
    fc.assert(
      fc.property(long, (text) => {
        let beginning = "";
        const note: Write = (given) => {
          beginning = given;
          return write(given);
        };
        const written = String(writePacked(text, note, { pack, id: "e1" }));
        const rest = /data-rest="([^"]*)"/.exec(written)?.[1] ?? "";
        expect(beginning + inflateRawSync(Buffer.from(rest, "base64")).toString()).toBe(forMarkdown(text));
      }),
    );
  });
});
