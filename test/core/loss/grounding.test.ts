import { describe, expect, it } from "vitest";
import type { Event } from "../../../src/core/event.ts";
import { checkGrounding } from "../../../src/core/loss/grounding.ts";

const base = { id: "e", timestamp: "2026-01-01T00:00:00Z" };
const raw: readonly Event[] = [
  { type: "chat_request", ...base, content: "Make the  parser\nfaster, say “please” to src/core/parser.ts" },
  { type: "tool_call_request", ...base, call_id: "c", name: "RunCommand", arguments: { command_line: "make all" } },
  {
    type: "tool_call_response",
    ...base,
    call_id: "c",
    content: "took 1234 ms, 45% of 2500; a1b2c3d #77 https://x.example/a; resolveBound(turn)",
    is_error: false,
  },
  { type: "note", ...base, kind: "hidden", data: "the secret note" },
];

describe("checkGrounding", () => {
  it("lets pass what the events bear out", () => {
    const summary = [
      'Asked to "Make the parser faster, say …please… to src/core/parser.ts." in parser.ts and `core/parser.ts`.',
      "`RunCommand` with `command_line` took 1,234 ms (45%, of 2,500, about 1.2k), see a1b2c3d, #77,",
      'https://x.example/a and `resolveBound()`. A "short" one.',
    ].join("\n");
    expect(checkGrounding(summary, raw)).toEqual([]);
  });

  it("lists what stands nowhere in them, each once", () => {
    const summary =
      'He said "make it slower now" and "make it slower now" in src/core/lexer.ts at b2c3d4e: 1,235 ms, 46%, #78, `https://y.example`, “the secret note”.';
    expect(checkGrounding(summary, raw)).toEqual([
      { kind: "quote", text: "make it slower now" },
      { kind: "quote", text: "the secret note" },
      { kind: "path", text: "src/core/lexer.ts" },
      { kind: "sha", text: "b2c3d4e" },
      { kind: "number", text: "1235 ms" },
      { kind: "number", text: "46%" },
      { kind: "issue", text: "#78" },
      { kind: "url", text: "https://y.example" },
    ]);
  });

  it("wants the parts of a cut quotation in their order", () => {
    expect(checkGrounding('"parser faster ... Make the"', raw)).toMatchObject([{ kind: "quote" }]);
    expect(checkGrounding('"Make the ... parser faster"', raw)).toEqual([]);
  });

  it("takes a mark that nothing closes for none", () => {
    expect(checkGrounding('6" long\nand “open, `too', raw)).toEqual([]);
  });
});
