import { describe, expect, it } from "vitest";
import {
  actionsOf,
  changeNotes,
  changesOf,
  commitsMade,
  isReadOnly,
  lastAction,
  listFailures,
  nameCall,
  plainCommand,
} from "../../../src/core/compact/failures.ts";
import { listToolCalls } from "../../../src/core/compact/tool-call.ts";
import { type CallSpec, call, callTurns, failed } from "../../helpers/call-conversation.ts";

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
  it("says what failed, why, and that nothing fixed it", () => {
    expect(failures([bash("cd /p && go test ./... 2>&1", RED, true)])).toEqual([
      {
        turn: 0,
        what: "`go test ./...`",
        lines: ["--- FAIL: TestParse (0.1s)", "parse_test.go:7: expected 1, got 2"],
        fixed: null,
      },
    ]);
  });

  it("says what fixed it: the turn, and the files that were changed until then", () => {
    const [failure, ...more] = failures(
      [bash("go test ./a", RED, true), edit("parse.go"), bash("go test ./...", "ok")],
      [edit("other.go")],
    );
    expect(failure).toMatchObject({ turn: 0, fixed: { turn: 0, changed: ["parse.go"] } });
    expect(more).toEqual([]);
  });

  it("skips what worked when tried again at once, and failed looks at what does not exist", () => {
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
    ).toMatchObject([{ what: "Edit never.ts", lines: ["String to replace not found in file."], fixed: null }]);
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

  it("skips calls that the user refused, and those without a result", () => {
    const refused = {
      ...call("Bash", { command: "rm x" }, "The user doesn't want to proceed with this tool use."),
      isError: true,
    };
    expect(failures([refused, bash("make", null)])).toEqual([]);
  });

  it("does not take another script for the fix of a script", () => {
    const found = failures([bash("python3 -c 'a()'", "NameError: a", true)], [bash("python3 -c 'b()'", "ok")]);
    expect(found).toMatchObject([{ fixed: null }]);
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

describe("isReadOnly", () => {
  it.each([
    "cat a.ts",
    "cd src && ls",
    'grep -rn "a|b; c" src | head -5',
    "sed -n '1,40p' x.ts; wc -l x.ts",
    "git -C /p log --oneline | head",
    "git status 2>&1",
    "find . -name '*.ts' 2>/dev/null",
    "ls || pwd",
    "ls;",
    "cat a.ts >> /dev/null; cat a.ts > /dev/null",
    "cat a.ts 2>&1 >&2",
    "wc -l a.ts 2> messages.txt",
    `cat ${"a".repeat(400)}; make`,
    `grep "an unclosed pattern that was cut off | npm tes…`,
    "for f in a b; do cat $f; done",
    "d=$(go list -m); grep x $d",
    "FOO=1 cat a.ts",
    "go doc net/http",
  ])("takes %j for looking", (command) => {
    expect(isReadOnly(command)).toBe(true);
  });

  it.each([
    "npm test",
    "cat a.ts > b.ts",
    "cat a.ts >  b.ts",
    "cat a.ts >b.ts",
    "echo x >> notes.md",
    "echo x >>notes.md",
    "ls > /dev/sda",
    "> new.txt",
    "make; ls",
    "ls | make",
    "ls || make",
    "'./run me'",
    '"./run me" and "him"',
    '"./run me',
    'ls "a" && make "b"',
    "ls && make",
    "sed -i s/a/b/ x.ts",
    "git commit -m 'x'",
    "git checkout main",
    "python3 - <<'EOF'",
  ])("takes %j for more", (command) => {
    expect(isReadOnly(command)).toBe(false);
  });
});

describe("lastAction and actionsOf", () => {
  it.each<[string, readonly string[]]>([
    ["cd /p && npm run lint -- --fix", ["npm run lint"]],
    ["FOO=1 go test ./... 2>&1 | tail -5", ["go test"]],
    ["gofmt -l . ; go build ./... && go test ./a", ["gofmt", "go build", "go test"]],
    ["ls | head", []],
    ["rtk bun run test", ["rtk bun"]],
    ["pytest tests/a.py", ["pytest"]],
    ["python3 -c 'print(1)'", ["python3 -c 'print(1)'"]],
    ["python3 -m pytest", ["python3 -m pytest"]],
  ])("tells what %j does", (command, actions) => {
    expect(actionsOf(command)).toEqual(actions);
    expect(lastAction(command)).toBe(actions.at(-1) ?? null);
  });
});

describe("plainCommand", () => {
  it.each([
    ["cd /p/q && npm test 2>&1 | tail -30", "npm test"],
    ['cd "/my dir"; make', "make"],
    ["npm test | grep x | head -n 3", "npm test | grep x"],
    ["npm test", "npm test"],
  ])("of %j is %j", (command, plain) => {
    expect(plainCommand(command)).toBe(plain);
  });
});

// What an extract says of changed files: where each was changed last, and what was defined in it.

const editChanges = (file_path: string, new_string: string) => call("Edit", { file_path, old_string: "x", new_string });
const changes = (...turns: readonly (readonly CallSpec[])[]) => changesOf(listToolCalls(callTurns(...turns)));

describe("changesOf", () => {
  it("lists the turn of the last change and the defined names, the newest first, with the last changed files at the end", () => {
    const found = changes(
      [editChanges("a.ts", "function parseLine() {}"), editChanges("b.ts", "x = 1")],
      [editChanges("a.ts", "class Parser {}\nfunction parseLine() {}"), failed("Edit", { file_path: "b.ts" })],
    );
    expect([...found]).toEqual([
      ["b.ts", { turn: 0, isDeleted: false, names: [] }],
      ["a.ts", { turn: 1, isDeleted: false, names: ["Parser", "parseLine"] }],
    ]);
  });

  it("knows files that a patch takes away, and gives no file the names of another", () => {
    const patch =
      "*** Begin Patch\n*** Delete File: old.go\n*** Update File: new.go\n+func (p *Parser) Parse() {\n*** End Patch";
    const one = "*** Begin Patch\n*** Update File: new.go\n+func (p *Parser) Parse() {\n*** End Patch";
    expect([...changes([call("apply_patch", { input: patch })])]).toEqual([
      ["old.go", { turn: 0, isDeleted: true, names: [] }],
      ["new.go", { turn: 0, isDeleted: false, names: [] }],
    ]);
    expect(changes([call("apply_patch", { input: one })]).get("new.go")?.names).toEqual(["Parse"]);
  });
});

describe("changeNotes", () => {
  const found = new Map([
    ["a", { turn: 3, isDeleted: true, names: ["gone"] }],
    ["b", { turn: 4, isDeleted: false, names: ["n1", "n2", "n3", "n4", "n5", "n6", "n7"] }],
    ["c", { turn: 5, isDeleted: false, names: [] }],
  ]);

  it("names the turn, six names at most, and that a file is gone", () => {
    const notes = [" (t5)", " (t3: deleted)", " (t4: n1, n2, n3, n4, n5, n6)", ""];
    expect(changeNotes(["c", "a", "b", "other"], found, 100)).toEqual(notes);
  });

  it("gives what room there is to the files that were changed last", () => {
    expect(changeNotes(["a", "b", "c"], found, " (t5)".length)).toEqual(["", "", " (t5)"]);
    expect(changeNotes(["a", "b", "c"], found, " (t5) (t3: deleted)".length)).toEqual([" (t3: deleted)", "", " (t5)"]);
    expect(changeNotes(["a", "b", "c"], found, 0)).toEqual(["", "", ""]);
  });
});

const made = (...calls: readonly CallSpec[]) => commitsMade(listToolCalls(callTurns(calls))).map(({ line }) => line);
const bashCommits = (command: string, result: string): CallSpec => call("Bash", { command }, result);

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
    expect(made(bashCommits(command, output))).toEqual(lines);
  });

  it("lists none that failed or has no result", () => {
    const failed = { ...bashCommits("git commit -m 'Add a'", "error: gpg failed to sign"), isError: true };
    expect(made(failed, call("Bash", { command: "git commit -m x" }, null))).toEqual([]);
  });
});
