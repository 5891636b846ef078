// Hooks are lines for a POSIX shell: where an agent on Windows has none, nothing is installed, and the user is told.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { installLevel, installSetup } from "../../../src/app/import/hooks.ts";
import { createTempFolder, type TempFolder } from "../../helpers/temp-repository.ts";
import { createTestRuntime } from "../../helpers/workspace.ts";

let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
});
afterEach(() => folder.remove());

const onWindows = () => ({ ...createTestRuntime(folder.path, { HOME: folder.path }), platform: "win32" });

it.each(["codex", "gemini-cli", "copilot-cli", "opencode", "pi"])(
  "%s gets none, and no file changes",
  async (agent) => {
    const refused = installSetup(onWindows(), { agent, what: "hooks", project: null });
    await expect(refused).rejects.toMatchObject({ code: "hooks_need_shell", kind: "user" });
    expect(readdirSync(folder.path)).toEqual([]);
  },
);

it("a level that needs hooks is refused as a whole", async () => {
  const refused = installLevel(onWindows(), { agent: "codex", level: "live", project: null });
  await expect(refused).rejects.toMatchObject({ code: "hooks_need_shell" });
  expect(readdirSync(folder.path)).toEqual([]);
});

it("Claude Code, which has a shell there, gets them", async () => {
  await installSetup(onWindows(), { agent: "claude-code", what: "hooks", project: null });
  expect(readFileSync(join(folder.path, ".claude", "settings.json"), "utf8")).toContain("keep.sh");
});

it("tools need no shell", async () => {
  const { status } = await installSetup(onWindows(), { agent: "codex", what: "server", project: null });
  expect(status).toBe("installed");
});
