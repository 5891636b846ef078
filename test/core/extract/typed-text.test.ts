import { describe, expect, it } from "vitest";
import { typedText } from "../../../src/core/compact/passages.ts";

describe("typedText", () => {
  it.each([
    ["fix it", "fix it"],
    ["<system-reminder>\nmind this\n</system-reminder>\nfix it", "fix it"],
    ["fix it<ide_opened_file>a.ts</ide_opened_file> now", "fix it now"],
    ["<environment_context>\n<cwd>/p</cwd>\n</environment_context>", ""],
    ["<user_query>\nfix it\n</user_query>", "fix it"],
    [
      "<command-name>/goal</command-name>\n<command-message>goal</command-message>\n<command-args>be done</command-args>",
      "/goal be done",
    ],
    ["<command-name>review</command-name>", "/review"],
    ["<command-name>/exit</command-name><command-args></command-args>", ""],
    ["<command-name>/compact</command-name><command-args>keep the plan</command-args>", ""],
    ["/compact", ""],
    ["/compact keep the plan and the names of the tests", ""],
    [" /model opus \n", ""],
    ["/approvals", ""],
    ["<command-name>/add-dir</command-name><command-args>../lib</command-args>", ""],
    ["/review", "/review"],
    ["/init", "/init"],
    ["/model is undefined in the routes, please fix it", "/model is undefined in the routes, please fix it"],
    ["/config\nis the folder that you want", "/config\nis the folder that you want"],
    ["/home/ada/compact is missing", "/home/ada/compact is missing"],
    ["<bash-input>git pull</bash-input>", "! git pull"],
    ["[Request interrupted by user for tool use]", ""],
    ["No response requested.", ""],
    ["why does <Button> render <div>x</div>?", "why does <Button> render <div>x</div>?"],
    ["a <system-reminder> that is never closed", "a <system-reminder> that is never closed"],
    ["if a < b and c > d", "if a < b and c > d"],
  ])("of %j is %j", (text, typed) => {
    expect(typedText(text)).toBe(typed);
  });

  it("takes many tags that are never closed", () => {
    const text = "<system-reminder>".repeat(50_000);
    expect(typedText(text)).toBe(text);
  });
});
