import { describe, expect, it } from "vitest";
import { createOutput } from "../../../src/cli/frame/output.ts";
import { createStyle } from "../../../src/cli/frame/terminal.ts";
import { createAnswerPrinter, createQueryPrinter, type QueryPrinter } from "../../../src/cli/render/answer.ts";
import { forTerminal, safe } from "../../../src/core/safe-text.ts";
import { openFakeKeyboard } from "../../helpers/fake-keyboard.ts";

/** What is left of a screen when all is drawn over that was. */
const leftOf = (text: string): string =>
  text.replaceAll(/[^\n]*\r\u001b\[2K/g, "").replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, "");

/** The printer of a query whose output is a screen, or goes to two files. */
function printTurn(isScreen: boolean, talk: (printer: QueryPrinter) => void): { stdout: string; stderr: string } {
  const { terminal, screen } = openFakeKeyboard();
  const written = { stdout: "", stderr: "" };
  const streamTo = (name: "stdout" | "stderr") => ({
    isTTY: isScreen,
    write: (chunk: string | Uint8Array) => {
      if (isScreen) terminal.write(forTerminal(String(chunk)));
      else written[name] += String(chunk);
      return true;
    },
    on: () => undefined,
  });
  const output = createOutput({
    stdout: streamTo("stdout"),
    stderr: streamTo("stderr"),
    env: { NO_COLOR: "1" },
    verbose: true,
  });
  const look = { style: createStyle(false), ascii: true, markdown: true };
  const printer = createQueryPrinter({
    output,
    json: false,
    yes: true,
    signal: new AbortController().signal,
    screen: isScreen ? createAnswerPrinter(terminal, look) : null,
  });
  talk(printer);
  printer.end();
  return isScreen ? { stdout: leftOf(screen()), stderr: "" } : written;
}

function talkTwice(printer: QueryPrinter): void {
  printer.delta("reasoning", "Look");
  printer.delta("reasoning", " first.");
  for (const piece of ["It is **", "high**", " today.\n\n- a", "\n- b"]) printer.delta("message", piece);
  printer.toolCall({ name: "gauge", arguments: { at: "pier" }, origin: "tides" });
  printer.toolResult({ name: "gauge", isError: false, text: "4 m" });
  for (const piece of ["Four ", "metres."]) printer.delta("message", piece);
}

describe("a turn of query", () => {
  it("is rendered on a screen as it comes, in one piece however many it came in", () => {
    expect(printTurn(true, talkTwice).stdout).toMatch(
      /Look first\.\nIt is high today\.\n\n- a\n- b\n→ gauge {"at":"pier"}\n✓ gauge 4 m\nFour metres\.\n$/,
    );
  });

  it("says what is waited for, and why it is asked again", () => {
    const { stdout } = printTurn(true, (printer) => {
      printer.asked?.("test/model-1");
      printer.retrying?.("test/model-1", { error: new Error("test is overloaded"), waitMs: 1500 });
      printer.delta("message", "Yes.");
    });
    expect(stdout).toBe("test is overloaded; asking again in 2 s\nYes.\n");
  });

  it("goes to a file as the model wrote it", () => {
    expect(printTurn(false, talkTwice).stdout).toBe("It is **high** today.\n\n- a\n- b\n\nFour metres.\n");
    expect(printTurn(false, (printer) => printer.asked?.("test/model-1"))).toEqual({ stdout: "", stderr: "" });
  });
});

const look = { style: createStyle(false), ascii: true, markdown: true };
const stripped = (text: string): string => text.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, "");

describe("an answer at the terminal", () => {
  it("is waited for with a sign of life, which goes when it comes", () => {
    const { terminal, tick, screen } = openFakeKeyboard();
    const printer = createAnswerPrinter(terminal, look);
    printer.waitFor("waiting for test/model-1");
    expect(screen()).not.toContain("waiting");
    tick(9);
    expect(screen()).toContain("/ waiting for test/model-1 (2s)");
    printer.delta("message", "Hello");
    const from = screen().length;
    tick(3);
    expect(screen().slice(from)).toBe("");
    printer.delta("message", " there");
    printer.close();
    expect(stripped(screen()).endsWith("Hello there\n")).toBe(true);
  });

  it("shows the sign below a text that has stopped coming", () => {
    const { terminal, tick, screen } = openFakeKeyboard();
    const printer = createAnswerPrinter(terminal, look);
    printer.waitFor("waiting");
    printer.delta("message", "Hello");
    tick(4);
    expect(stripped(screen())).toMatch(/Hello\n\| waiting \(1s\)$/);
    printer.close();
    expect(screen().endsWith("\u001b[2K\u001b[A\r\u001b[2KHello\n")).toBe(true);
  });

  it("parts reasoning, answers and calls", () => {
    const { terminal, screen } = openFakeKeyboard();
    const printer = createAnswerPrinter(terminal, look);
    printer.delta("reasoning", "hm\nwell");
    printer.delta("message", "**Yes**");
    printer.line(safe`> gauge {}`);
    printer.delta("message", "No");
    printer.close();
    expect(stripped(screen()).replaceAll("\r", "")).toContain("Yes\n> gauge {}\nNo\n");
    expect(stripped(screen())).toContain("hm\nwell");
  });

  it("comes as it is where the terminal is no screen", () => {
    const { terminal, screen, tick } = openFakeKeyboard({ plain: true });
    const printer = createAnswerPrinter(terminal, look);
    printer.waitFor("waiting for test/model-1");
    tick(4);
    printer.delta("message", "**Hello**");
    printer.mayWaitFor("compacting");
    printer.close();
    expect(screen()).toBe("... waiting for test/model-1\n**Hello**\n");
  });
});
