import { describe, expect, it } from "vitest";
import { onlyLooks } from "../../../src/core/extract/commands-run.ts";

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
