// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { forMarkdown } from "../../../src/core/safe-text.ts";
import { html } from "../../../src/web/pages/html.ts";
import { anyText } from "../../helpers/any-text.ts";

/** What a browser reads of escaped text. */
function readEscaped(text: string): string {
  const signs: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  return text.replace(/&([a-z]+|#39);/g, (whole, name: string) => signs[name] ?? whole);
}

describe("HTML by construction", () => {
  it("says what a text says, and is no markup", () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const written = String(html`${text}`);
        expect(written).not.toMatch(/[<>"']/);
        expect(readEscaped(written)).toBe(forMarkdown(text).replace(/\p{Cs}/gu, "\ufffd"));
      }),
    );
  });

  it("escapes in lists and in attributes, and leaves its own alone", () => {
    const name = `x" onclick="alert(1)`;
    expect(String(html`<p title="${name}">${["<b>", html`<i>${"&"}</i>`]}</p>`)).toBe(
      `<p title="x&quot; onclick=&quot;alert(1)">&lt;b&gt;<i>&amp;</i></p>`,
    );
  });

  it("lets nothing turn text around or colour it", () => {
    expect(String(html`${"\u001b[31mred\u001b[0m \u202etxt.exe"}`)).toBe("red \ufffdtxt.exe");
  });

  it("cannot be made of what only looks like it", () => {
    const forged = { toString: () => "<script>" } as unknown as string;
    expect(() => String(html`${forged}`)).toThrow();
  });
});
