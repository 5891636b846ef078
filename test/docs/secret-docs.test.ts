// The table of kinds in docs/SECURITY.md is what the rules say, and each of its examples is found as that kind.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
// @ts-expect-error: a script without types
import { secretKinds, withKinds } from "../../scripts/generate-secret-docs.mjs";
import { findSecrets } from "../../src/core/secrets/find-secrets.ts";
import { textOfLines } from "../../src/core/secrets/line-text.ts";
import { madeSecret } from "../helpers/made-secrets.ts";

const KINDS = secretKinds() as readonly {
  readonly id: string;
  readonly what: string;
  readonly examples: readonly string[];
}[];
const page = readFileSync(fileURLToPath(new URL("../../docs/SECURITY.md", import.meta.url)), "utf8");

it("is what the rules say (when it is not: npm run docs)", () => {
  expect(page).toBe(withKinds(page));
  const ids = KINDS.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { id, what, examples } of KINDS) {
    expect(page).toContain(`| \`${id}\` | ${what} |`);
    expect(examples).not.toEqual([]);
  }
});

it.each(KINDS.flatMap(({ id, examples }) => examples.map((example) => [id, example] as const)))(
  "finds a secret of the kind %s in %j, as it stands and inside JSON",
  (id, example) => {
    const text = madeSecret(example);
    const kinds = (lines: readonly string[]): readonly string[] => {
      const said = textOfLines(lines).text;
      return findSecrets(said).map(({ rule }) => rule);
    };
    expect(kinds([JSON.stringify({ type: "tool_result", content: text })])).toContain(id);
    expect(kinds([JSON.stringify({ arguments: JSON.stringify({ output: `before\n${text}\nbehind` }) })])).toContain(id);
  },
);
