import { describe, expect, it } from "vitest";
import { createStyle } from "../../../src/cli/frame/terminal.ts";
import { createAnswerPrinter } from "../../../src/cli/render/answer.ts";
import { safe } from "../../../src/core/safe-text.ts";
import { openFakeKeyboard } from "../../helpers/fake-keyboard.ts";

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
