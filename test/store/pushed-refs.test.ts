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
    { localRef: "refs/heads/pier/main", commit: one, remoteRef: "refs/heads/pier/main", remoteCommit: two },
    { localRef: "HEAD^{/low tide}", commit: two, remoteRef: "refs/heads/pier/low", remoteCommit: ZERO_ID },
    { localRef: "(delete)", commit: ZERO_ID, remoteRef: "refs/heads/gone/main", remoteCommit: one },
  ]);
});
