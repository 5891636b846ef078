import { describe, expect, it } from "vitest";
import { actionsOf, lastAction, onlyLooks, plainCommand } from "../../../src/core/compact/failures.ts";

describe("onlyLooks", () => {
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
    expect(onlyLooks(command)).toBe(true);
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
    expect(onlyLooks(command)).toBe(false);
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
