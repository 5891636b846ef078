import { describe, expect, it } from "vitest";
import { listFailures, nameCall } from "../../../src/core/compact/failures.ts";
import { listToolCalls } from "../../../src/core/compact/tool-call.ts";
import { type CallSpec, call, callTurns } from "../../helpers/call-conversation.ts";

const failures = (...turns: readonly (readonly CallSpec[])[]) => listFailures(listToolCalls(callTurns(...turns)));
const bash = (command: string, result: string | null, isError = false): CallSpec => ({
  ...call("Bash", { command }, result),
  isError,
});
const edit = (file_path: string, isError = false): CallSpec => ({
  ...call("Edit", { file_path }, isError ? "String to replace not found in file." : "ok"),
  isError,
});
const RED = "Exit code 1\n--- FAIL: TestParse (0.1s)\n    parse_test.go:7: expected 1, got 2\nFAIL";

describe("listFailures", () => {
  it("tells what failed, why, and that nothing mended it", () => {
    expect(failures([bash("cd /p && go test ./... 2>&1", RED, true)])).toEqual([
      {
        turn: 0,
        what: "`go test ./...`",
        lines: ["--- FAIL: TestParse (0.1s)", "parse_test.go:7: expected 1, got 2"],
        mend: null,
      },
    ]);
  });

  it("tells what mended it: the turn, and the files that were changed until then", () => {
    const [failure, ...more] = failures(
      [bash("go test ./a", RED, true), edit("parse.go"), bash("go test ./...", "ok")],
      [edit("other.go")],
    );
    expect(failure).toMatchObject({ turn: 0, mend: { turn: 0, changed: ["parse.go"] } });
    expect(more).toEqual([]);
  });

  it("passes over what worked when it was tried again at once, and over looks at what is not there", () => {
    expect(
      failures([
        bash("npm test", "npm ERR! network", true),
        bash("npm test", "ok"),
        edit("a.ts", true),
        edit("a.ts"),
        { ...call("Read", { file_path: "no.ts" }, "File does not exist."), isError: true },
        bash("grep -rn nothing src", "Exit code 1", true),
        edit("never.ts", true),
      ]),
    ).toMatchObject([{ what: "Edit never.ts", lines: ["String to replace not found in file."], mend: null }]);
  });

  it("takes what succeeded for no failure, whatever it prints", () => {
    const green = "error: Item 3 failed\nError: All fail\n at f (a.ts:1:2)\n\n 12 pass\n 0 fail";
    expect(failures([bash("bun run test", green)])).toEqual([]);
    expect(failures([call("Read", { file_path: "log" }, RED)])).toEqual([]);
    expect(failures([bash("grep -rn FAIL log.txt", "--- FAIL: TestOld")])).toEqual([]);
  });

  it.each([
    ["go test ./... | tail -5", "FAIL\tpkg/a\t0.1s"],
    ["cargo build 2>&1 | head", "error[E0308]: mismatched types"],
    ["npx vitest run | tail", " Tests  1 failed | 3 passed (4)"],
    ["npx tsc --noEmit | head", "src/a.ts(3,5): error TS2322: Type 'a' is not 'b'."],
    ["pytest | tail", "===== 2 failed, 3 passed in 0.1s ====="],
    ["npm run x | cat", "npm error code 1"],
  ])("sees that %j failed although a pipe lost its exit code", (command, result) => {
    expect(failures([bash(command, result)])).toHaveLength(1);
  });

  it("leaves frames of stack traces out", () => {
    const trace =
      'Exit code 1\nTraceback (most recent call last):\n  File "a.py", line 3, in f\nValueError: bad value\nat run (a.js:1:2)\ngoroutine 1 [running]:';
    expect(failures([bash("python3 a.py", trace, true)])[0]?.lines).toEqual(["ValueError: bad value"]);
  });

  it("takes the end of what a command says where no line names a cause, and the start of what another tool says", () => {
    expect(failures([bash("make it", "one\ntwo", true)])[0]?.lines).toEqual(["two"]);
    const fetch = { ...call("WebFetch", { url: "u" }, "one\ntwo"), isError: true };
    expect(failures([fetch])).toMatchObject([{ what: "WebFetch", lines: ["one"] }]);
  });

  it("passes over calls that the user refused, and those without a result", () => {
    const refused = {
      ...call("Bash", { command: "rm x" }, "The user doesn't want to proceed with this tool use."),
      isError: true,
    };
    expect(failures([refused, bash("make", null)])).toEqual([]);
  });

  it("does not take another script for the mend of a script", () => {
    const found = failures([bash("python3 -c 'a()'", "NameError: a", true)], [bash("python3 -c 'b()'", "ok")]);
    expect(found).toMatchObject([{ mend: null }]);
  });
});

describe("nameCall", () => {
  const name = (spec: CallSpec) => nameCall(listToolCalls(callTurns([spec]))[0]!);
  it.each<[CallSpec, string]>([
    [bash("cd /p && make all 2>&1 | tail -3", ""), "`make all`"],
    [bash("python3 - <<'EOF'\nprint(1)\nEOF", ""), "`python3 - <<'EOF' …`"],
    [call("shell", { command: ["bash", "-lc", "npm test"] }), "`npm test`"],
    [call("Edit", { file_path: "a.ts" }), "Edit a.ts"],
    [call("Task", { prompt: "x" }), "Task"],
  ])("of %j is %j", (spec, expected) => {
    expect(name(spec)).toBe(expected);
  });
});
