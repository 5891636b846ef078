import { describe, expect, it } from "vitest";
import { formatReminder } from "../../../src/core/model/thread.ts";

describe("formatReminder", () => {
  it("puts a text between the marks of a reminder", () => {
    expect(formatReminder("Lint found 2 problems.")).toBe(
      "<system-reminder>\nLint found 2 problems.\n</system-reminder>",
    );
  });

  it("gives a text back that has the marks already", () => {
    const text = "\n<system-reminder>\nToday is Monday.\n</system-reminder>";
    expect(formatReminder(text)).toBe(text);
  });
});
