import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
// @ts-expect-error: a script without types
import { renderPage } from "../../scripts/generate-cli-docs.mjs";
import { loadCommands } from "../../src/cli/help.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

describe("docs/cli.md", () => {
  const page = readFileSync(`${root}docs/cli.md`, "utf8");

  it("is what the commands' declarations say (when it is not: npm run docs)", async () => {
    expect(page).toBe(renderPage(await loadCommands()));
  });

  it("describes every command that people call, and no other", async () => {
    const described = [...page.matchAll(/^## jpg (\S+)$/gm)].map(([, name]) => name);
    expect(described).toEqual((await loadCommands()).map(({ name }) => name));
    expect(described).not.toContain("hook");
  });
});
