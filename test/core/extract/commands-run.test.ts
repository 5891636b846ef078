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
    `grep "an unclosed pattern that was cut off | npm tes…`,
  ])("takes %j for looking", (command) => {
    expect(onlyLooks(command)).toBe(true);
  });

  it.each([
    "npm test",
    "cat a.ts > b.ts",
    "echo x >> notes.md",
    "ls && make",
    "sed -i s/a/b/ x.ts",
    "git commit -m 'x'",
    "git checkout main",
    "python3 - <<'EOF'",
  ])("takes %j for more", (command) => {
    expect(onlyLooks(command)).toBe(false);
  });
});
