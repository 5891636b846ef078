// The line that people paste, in their own shell's words.
import { describe, expect, it } from "vitest";
import { shellLine, userShell } from "../../src/core/shell-line.ts";

it.each<[string, Record<string, string>, string]>([
  ["linux", {}, "posix"],
  ["darwin", { PROMPT: "$P$G" }, "posix"],
  ["win32", { MSYSTEM: "MINGW64", PROMPT: "$P$G" }, "posix"],
  ["win32", { SHELL: "/usr/bin/bash" }, "posix"],
  ["win32", { PROMPT: "$P$G" }, "cmd"],
  ["win32", { PSModulePath: String.raw`C:\modules` }, "powershell"],
])("on %s with %j it is %s", (platform, env, shell) => {
  expect(userShell(env, platform)).toBe(shell);
});

const RESUME = [["claude", "--resume", "0708a5fa-06bd-4274-b1fe-513c7202217e"]];
const ID = "0708a5fa-06bd-4274-b1fe-513c7202217e";

describe("a line", () => {
  it("goes to the project and starts the agent there", () => {
    const project = String.raw`C:\Users\Ida Nørby\it's 50% & more`;
    expect(shellLine("posix", RESUME, "/home/ida/it's")).toBe(`cd '/home/ida/it'\\''s' && claude --resume ${ID}`);
    expect(shellLine("cmd", RESUME, project)).toBe(`cd /d "${project}" && claude --resume ${ID}`);
    const quoted = project.replace("'", "''");
    expect(shellLine("powershell", RESUME, project)).toBe(
      `cd -LiteralPath '${quoted}'; if ($?) { claude --resume ${ID} }`,
    );
  });

  it("runs the second command only after the first", () => {
    const two = [["opencode", "import", "a b.json"], ["opencode"]];
    expect(shellLine("posix", two, null)).toBe("opencode import 'a b.json' && opencode");
    expect(shellLine("cmd", two, null)).toBe('opencode import "a b.json" && opencode');
    expect(shellLine("powershell", two, null)).toBe("opencode import 'a b.json'; if ($?) { opencode }");
  });

  it.each<["cmd" | "powershell", string, string]>([
    ["cmd", "a&b", 'x "a&b"'],
    ["cmd", 'say "hi"', 'x "say ""hi"""'],
    ["cmd", "C:\\a b\\", String.raw`x "C:\a b\\"`],
    ["cmd", "", 'x ""'],
    ["cmd", String.raw`C:\a\b`, String.raw`x C:\a\b`],
    ["powershell", "$(calc)", "x '$(calc)'"],
    ["powershell", "it’s; calc", "x 'it’’s; calc'"],
    ["powershell", "a`b", "x 'a`b'"],
    ["powershell", "", "x ''"],
    ["powershell", "@args", "x '@args'"],
  ])("in %s quotes %s", (shell, word, line) => {
    expect(shellLine(shell, [["x", word]], null)).toBe(line);
  });

  it("lets no folder of a stranger's session end the quotes or the line", () => {
    const folder = String.raw`C:\x" & calc`;
    expect(shellLine("cmd", RESUME, `${folder}\n& calc`)).toBe(
      `cd /d "${folder.replace('"', '""')} & calc" && claude --resume ${ID}`,
    );
    expect(shellLine("powershell", RESUME, "C:/x’; calc")).toBe(
      `cd -LiteralPath 'C:/x’’; calc'; if ($?) { claude --resume ${ID} }`,
    );
  });

  it("calls a program whose path has to be quoted", () => {
    const program = String.raw`C:\Program Files\a.exe`;
    expect(shellLine("powershell", [[program]], null)).toBe(`& '${program}'`);
    expect(shellLine("cmd", [[program]], null)).toBe(`"${program}"`);
  });
});
