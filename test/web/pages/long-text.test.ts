// @module-tag law
import { deflateRawSync, inflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { forMarkdown } from "../../../src/core/safe-text.ts";
import { type Write, writeCut, writePacked } from "../../../src/web/pages/content.ts";
import { html } from "../../../src/web/pages/html.ts";

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
