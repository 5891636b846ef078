import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { watchTransfer } from "../../../src/cli/frame/command.ts";
import { createOutput, type OutputStream } from "../../../src/cli/frame/output.ts";
import { safe } from "../../../src/core/safe-text.ts";

let chunks: string[];
let stderr: OutputStream & { columns: number };
beforeEach(() => {
  vi.useFakeTimers();
  chunks = [];
  stderr = { isTTY: true, columns: 40, write: (chunk) => chunks.push(String(chunk)) > 0, on: () => undefined };
});
afterEach(() => {
  vi.useRealTimers();
});

const open = (
  more: { readonly quiet?: boolean; readonly json?: boolean; readonly env?: Record<string, string> } = {},
) =>
  createOutput({
    stdout: { write: () => true, on: () => undefined },
    stderr,
    ...more,
    env: { NO_COLOR: "1", ...more.env },
  });
const ERASE = "\r\u001b[K";

describe("the progress line", () => {
  it("draws the first text at once, then the newest ten times a second, and is gone before anything else is written", () => {
    const output = open();
    for (const percent of [1, 2, 3]) output.progress(`Receiving: ${percent}%`);
    expect(chunks).toEqual([`${ERASE}Receiving: 1%`]);
    vi.advanceTimersByTime(100);
    expect(chunks.slice(1)).toEqual([`${ERASE}Receiving: 3%`]);
    vi.advanceTimersByTime(1000);
    output.info(safe`done`);
    output.data(safe`result`);
    expect(chunks.slice(2)).toEqual([ERASE, "done\n"]);
  });

  it("draws nothing after it was erased, whatever was waiting", () => {
    const output = open();
    output.progress("one");
    output.progress("two");
    output.progress("");
    vi.advanceTimersByTime(1000);
    expect(chunks).toEqual([`${ERASE}one`, ERASE]);
  });

  it("is one column narrower than the terminal is by then, and prints no control sequence of others", () => {
    const output = open();
    output.progress(`remote: \u001b[2J\u009b31m${"宽".repeat(40)}`);
    expect(chunks).toEqual([`${ERASE}remote: ␛[2J\ufffd31m${"宽".repeat(11)}…`]);
    vi.advanceTimersByTime(100);
    stderr.columns = 8;
    output.progress("Receiving objects");
    expect(chunks[1]).toBe(`${ERASE}Receiv…`);
  });

  it.each([["quiet"], ["json"]])("is not drawn with --%s", (name) => {
    open({ [name]: true }).progress("one");
    expect(chunks).toEqual([]);
  });

  it("is drawn only on a terminal that can overwrite a line", () => {
    open({ env: { TERM: "dumb" } }).progress("one");
    Object.assign(stderr, { isTTY: false });
    open().progress("one");
    expect(chunks).toEqual([]);
  });
});

describe("what git says of a transfer", () => {
  it("overwrites itself where it is progress, stays where the other side says something, and is left out where jpg says it", () => {
    const { progress } = watchTransfer(open());
    progress?.("remote: Counting objects:  50% (1/2)", false);
    progress?.("remote: Counting objects: 100% (2/2), done.", true);
    progress?.("remote: See https://host.example/new", true);
    progress?.("To /there", true);
    progress?.("Enumerating objects: 12", false);
    vi.advanceTimersByTime(1000);
    progress?.("", false);
    expect(chunks).toEqual([
      `${ERASE}remote: Counting objects: 50% (1/2)`,
      ERASE,
      "  remote: See https://host.example/new\n",
      `${ERASE}Enumerating objects: 12`,
      ERASE,
    ]);
  });
});
