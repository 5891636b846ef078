import { describe, expect, it } from "vitest";
import { commitsMade } from "../../../src/core/compact/failures.ts";
import { listToolCalls } from "../../../src/core/compact/tool-call.ts";
import { type CallSpec, call, callTurns } from "../../helpers/call-conversation.ts";

const made = (...calls: readonly CallSpec[]) => commitsMade(listToolCalls(callTurns(calls))).map(({ line }) => line);
const bash = (command: string, result: string): CallSpec => call("Bash", { command }, result);

describe("commitsMade", () => {
  it.each<[string, string, readonly string[]]>([
    ["git commit -m 'Add a'", "[main 1a2b3c4] Add a\n 1 file changed", ["1a2b3c4 Add a"]],
    ["git commit -m x", "[main (root-commit) 1a2b3c4] First", ["1a2b3c4 First"]],
    ["git commit --amend", "[fix/a 1a2b3c4d] Better", ["1a2b3c4d Better (amended the commit before)"]],
    ["git add -A && git commit -q -m 'Add a'", "", ["Add a"]],
    ["git commit -qm \"$(cat <<'EOF'\nAdd a\n\nWhy.\nEOF\n)\"", "", ["Add a"]],
    ["git cherry-pick abc1234", "[main 1a2b3c4] Add a", ["1a2b3c4 Add a"]],
    ["gh pr create --fill", "https://github.com/o/r/pull/12", ["https://github.com/o/r/pull/12"]],
    ["gh pr view 12", "https://github.com/o/r/pull/12", []],
    ["git log", "[main 1a2b3c4] quoted", []],
    ["cat notes.md", "[main 1a2b3c4] quoted", []],
  ])("of %j: %j → %j", (command, output, lines) => {
    expect(made(bash(command, output))).toEqual(lines);
  });

  it("lists none that failed or has no result", () => {
    const failed = { ...bash("git commit -m 'Add a'", "error: gpg failed to sign"), isError: true };
    expect(made(failed, call("Bash", { command: "git commit -m x" }, null))).toEqual([]);
  });
});
