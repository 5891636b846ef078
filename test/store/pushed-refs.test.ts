import { expect, it } from "vitest";
import { parsePushedRefs } from "../../src/store/git-dir.ts";
import { ZERO_ID } from "../../src/store/store.ts";

it("reads what git passes to a pre-push hook, revisions with spaces too, and skips other lines", () => {
  const [one, two] = ["1".repeat(40), "2".repeat(40)];
  const lines = [
    `refs/heads/pier/main ${one} refs/heads/pier/main ${two}`,
    `HEAD^{/low tide} ${two} refs/heads/pier/low ${ZERO_ID}`,
    `(delete) ${ZERO_ID} refs/heads/gone/main ${one}`,
    "refs/heads/pier/main 12 refs/heads/pier/main 34",
    "",
  ];
  expect(parsePushedRefs(lines.join("\n"))).toEqual([
    { from: "refs/heads/pier/main", commit: one, to: "refs/heads/pier/main", there: two },
    { from: "HEAD^{/low tide}", commit: two, to: "refs/heads/pier/low", there: ZERO_ID },
    { from: "(delete)", commit: ZERO_ID, to: "refs/heads/gone/main", there: one },
  ]);
});
