// `jpg checkout` in a terminal: what it says to those who know git's.
// @module-tag slow
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createImportedSandbox } from "../helpers/run-jpg.ts";
import { openPane, type Pane, tmuxMissing } from "../helpers/tmux.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));

let sandbox: Awaited<ReturnType<typeof createImportedSandbox>>;
let pane: Pane | null = null;
beforeEach(async () => {
  sandbox = await createImportedSandbox();
});
afterEach(() => {
  pane?.close();
  pane = null;
  sandbox.remove();
});

async function checkOut(...words: readonly string[]): Promise<string> {
  const env = { PATH: process.env["PATH"] ?? "", ...sandbox.env, NO_COLOR: "1" } as Record<string, string>;
  pane = openPane([process.execPath, BIN, "checkout", ...words], { cwd: sandbox.project, env, columns: 80 });
  const shown = await pane.shows("left with 0");
  pane.close();
  pane = null;
  return shown;
}

describe.skipIf(tmuxMissing !== null)("jpg checkout on a terminal (tmux)", () => {
  it("says how to make the conversation active, unless it is, and what removes the files", async () => {
    await sandbox.jpg(["fork", "@", "try", "--no-activate"]);
    const other = await checkOut(`${sandbox.conversation}/try`, "../try");
    expect(other).toMatch(/To make it the active conversation: `jpg use \w{4}\/try`/);
    expect(other).toMatch(/To remove the files again:\s+`jpg git worktree remove \S+\/try`/);
    expect(await checkOut("@", "../main")).not.toContain("To make it");
    const removed = await sandbox.jpg(["git", "worktree", "remove", resolve(sandbox.project, "../try")]);
    expect(removed.code).toBe(0);
    expect((await sandbox.jpg(["git", "worktree", "list"])).stdout).not.toContain("/try");
    expect((await sandbox.jpg(["checkout", "@", "../main"])).stderr).not.toContain("To remove");
  });
});
