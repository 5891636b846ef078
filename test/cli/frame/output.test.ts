import { describe, expect, it } from "vitest";
import { choosePager, createOutput, type OutputOptions, type OutputStream } from "../../../src/cli/frame/output.ts";
import { userError } from "../../../src/core/errors.ts";
import { forTerminal, type SafeText, safe } from "../../../src/core/safe-text.ts";

interface RecordedStream extends OutputStream {
  readonly chunks: (string | Uint8Array)[];
  fail(code: string): void;
}

function recordedStream(terminal: Partial<OutputStream> = {}): RecordedStream {
  const listeners: ((error: NodeJS.ErrnoException) => void)[] = [];
  const chunks: (string | Uint8Array)[] = [];
  return {
    ...terminal,
    chunks,
    write: (chunk) => chunks.push(chunk) > 0,
    on: (_, listener) => listeners.push(listener),
    fail: (code) => {
      for (const listener of listeners) listener(Object.assign(new Error(code), { code }));
    },
  };
}

function open(options: Partial<OutputOptions> = {}, terminal: Partial<OutputStream> = {}) {
  const stdout = recordedStream(terminal);
  const stderr = recordedStream(terminal);
  const output = createOutput({ stdout, stderr, env: {}, ...options });
  return { output, stdout, stderr, out: () => stdout.chunks.join(""), err: () => stderr.chunks.join("") };
}

describe("createOutput", () => {
  it("writes results to standard output and all else to standard error", () => {
    const { output, out, err } = open();
    output.data(safe`result`);
    output.info(safe`done`);
    output.warn(safe`careful`);
    expect(out()).toBe("result\n");
    expect(err()).toBe("done\nwarning: careful\n");
  });

  it.each([
    [{}, {}, Number.POSITIVE_INFINITY],
    [{}, { COLUMNS: "72" }, 72],
    [{}, { COLUMNS: "" }, Number.POSITIVE_INFINITY],
    [{}, { COLUMNS: "0" }, Number.POSITIVE_INFINITY],
    [{}, { COLUMNS: "wide" }, Number.POSITIVE_INFINITY],
    [{ isTTY: true, columns: 90 }, { COLUMNS: "72" }, 90],
  ])("is as wide as the terminal %j, else as the environment %j says: %d", (terminal, env, width) => {
    expect(open({ env }, terminal).output.width).toBe(width);
  });

  it("says only results and errors with quiet", () => {
    const { output, out, err } = open({ quiet: true });
    output.data(safe`result`);
    output.info(safe`done`);
    output.detail(safe`how`);
    output.warn(safe`careful`);
    output.error(userError("bad_bound", "No."));
    expect(out()).toBe("result\n");
    expect(err()).toBe("error: No.\n");
  });

  it("says more with verbose alone", () => {
    const silent = open();
    silent.output.detail(safe`how`);
    expect(silent.err()).toBe("");
    const { output, err } = open({ verbose: true });
    output.detail(safe`how`);
    expect(err()).toBe("how\n");
  });

  it("writes nothing for an empty result", () => {
    const { output, stdout } = open();
    output.data("");
    expect(stdout.chunks).toEqual([]);
  });

  it("lets nothing but text and its own colours through to a terminal", async () => {
    // A cast that lied.
    const attack = "\u001b[31mred\u001b[39m\u001b[2J\u009b5n\u001b]52;c;eA==\u0007\u202e" as SafeText;
    const { output, out, err } = open({}, { isTTY: true, columns: 80 });
    output.data(attack);
    output.raw(attack);
    for (const byte of Buffer.from(attack)) output.raw(Uint8Array.of(byte));
    await output.page(attack);
    output.info(attack);
    output.prompt(attack);
    for (const text of [out(), err()]) {
      expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u202e]/);
      expect(text.replaceAll(/\u001b\[3[19]m/g, "")).not.toContain("\u001b");
    }
    expect(out().match(/red/g)).toHaveLength(4);
  });

  it("writes bytes as they are", () => {
    const { output, stdout } = open();
    output.raw(Uint8Array.of(0, 27));
    expect(stdout.chunks).toEqual([Uint8Array.of(0, 27)]);
  });

  it("reports errors as a document on standard output with json", () => {
    const { output, out, err } = open({ json: true });
    output.error(userError("unknown_profile", "No such profile.", { hints: ["Try light."] }));
    expect(JSON.parse(out())).toEqual({
      error: { kind: "user", code: "unknown_profile", message: "No such profile.", hints: ["Try light."] },
    });
    expect(err()).toBe("");
  });

  it("escapes control characters in JSON without changing the value", () => {
    const text = "a\u001b[2J\u009b31m\u202eb\u007f";
    const { output, out } = open();
    output.json({ text, half: "x\ud83d" });
    expect(out()).not.toMatch(/[\u001b\u007f-\u009f\u202e]|\\ud83d/);
    expect(JSON.parse(out())).toEqual({ text, half: "x\ufffd" });
  });

  it("wraps what it says on a terminal between words, as one message, and nowhere else", () => {
    const said = safe`jpg kept 12 turns of it, run \`jpg revert k3f9\` for more`;
    const { output, err, out } = open({ env: { NO_COLOR: "1" } }, { isTTY: true, columns: 30 });
    output.info(said);
    output.warn(said);
    output.error(userError("bad_bound", "No turn of this session is as long as that."));
    output.data(said);
    expect(err().split("\n")).toEqual([
      "jpg kept 12 turns of it, run",
      "  `jpg revert k3f9` for more",
      "warning: jpg kept 12 turns of",
      "  it, run `jpg revert k3f9`",
      "  for more",
      "error: No turn of this session",
      "  is as long as that.",
      "",
    ]);
    expect(out()).toBe(`${said}\n`);
    const elsewhere = open();
    elsewhere.output.info(said);
    expect(elsewhere.err()).toBe(`${said}\n`);
  });

  it("colours on a terminal and not elsewhere", () => {
    expect(open({}, { isTTY: true, columns: 80 }).output.style.enabled).toBe(true);
    expect(open().output.style.enabled).toBe(false);
    expect(open().output.width).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("a reader that goes away", () => {
  it("ends the output quietly, once", () => {
    let times = 0;
    const { output, stdout } = open({ onClosed: () => times++ });
    output.data(safe`one`);
    stdout.fail("EPIPE");
    stdout.fail("EPIPE");
    output.data(safe`two`);
    expect([stdout.chunks, output.closed, times]).toEqual([["one\n"], true, 1]);
  });

  it("is not taken for a full disk, which is reported once", () => {
    const failures: unknown[] = [];
    const { output, stdout } = open({
      onClosed: () => failures.push("closed"),
      onFailed: ({ code }) => failures.push(code),
    });
    stdout.fail("ENOSPC");
    stdout.fail("ENOSPC");
    output.data(safe`two`);
    expect([failures, output.closed, stdout.chunks]).toEqual([["ENOSPC"], true, []]);
  });
});

describe("page", () => {
  const long = forTerminal("line\n".repeat(30));
  const terminal = { isTTY: true, columns: 80, rows: 24 };

  it("pages what does not fit on the terminal", async () => {
    const shown: string[] = [];
    const { output, stdout } = open({ runPager: async (_, text) => shown.push(text) > 0 }, terminal);
    await output.page(long);
    expect([shown, stdout.chunks]).toEqual([[long], []]);
  });

  it("prints what fits, and whatever goes elsewhere than to a terminal", async () => {
    const runPager = async (): Promise<boolean> => expect.fail("must not page");
    const short = open({ runPager }, terminal);
    await short.output.page(safe`one line`);
    const piped = open({ runPager });
    await piped.output.page(long);
    expect([short.out(), piped.out()]).toEqual(["one line\n", long]);
  });

  it("prints when the pager cannot be started", async () => {
    const { output, out } = open({ runPager: async () => false }, terminal);
    await output.page(long);
    expect(out()).toBe(long);
  });
});

describe("choosePager", () => {
  it("takes less when the user names none", () => {
    expect(choosePager({}, true)).toEqual({ program: "less", arguments: ["-FRX"] });
  });

  it("takes the user's own, jpg's before the general one", () => {
    expect(choosePager({ PAGER: "more" }, true)).toEqual({ shellCommand: "more" });
    expect(choosePager({ PAGER: "more", JPG_PAGER: "less -S" }, true)).toEqual({ shellCommand: "less -S" });
  });

  it("takes none when there is no terminal to page on, or the user wants none", () => {
    expect(choosePager({}, false)).toBeNull();
    expect(choosePager({ TERM: "dumb" }, true)).toBeNull();
    expect(choosePager({ PAGER: "cat" }, true)).toBeNull();
    expect(choosePager({ JPG_PAGER: "", PAGER: "more" }, true)).toBeNull();
  });
});
