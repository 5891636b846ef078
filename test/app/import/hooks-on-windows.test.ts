// Hooks where there is no POSIX shell: a line of plain words that every shell of Windows reads alike, or nothing, and the user is told.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  installLevel,
  installSetup,
  listSetups,
  needsPlainLine,
  uninstallSetup,
} from "../../../src/app/import/hooks.ts";
import { keepSession } from "../../../src/app/import/keep-session.ts";
import { hookPaths, listSpool } from "../../../src/app/import/spool.ts";
import { createTempFolder, type TempFolder, writeText } from "../../helpers/temp-repository.ts";
import { createTestRuntime } from "../../helpers/workspace.ts";

let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
});
afterEach(() => folder.remove());

const home = (): string => join(folder.path, "ada");
/** jpg's own folders on Windows are below the home with backslashes: here, next to it. */
const runtimeHere = () => createTestRuntime(folder.path, { HOME: home() });
const onWindows = (nodePath = "C:\\node\\node.exe", jpgPath = "C:\\jpg\\bin\\jpg.js") => ({
  ...runtimeHere(),
  platform: "win32",
  nodePath,
  jpgPath,
});
const SETTINGS: Readonly<Record<string, string>> = {
  codex: ".codex/hooks.json",
  "gemini-cli": ".gemini/settings.json",
  "copilot-cli": ".copilot/settings.json",
  opencode: ".config/opencode/plugin/jpg.js",
  pi: ".pi/agent/extensions/jpg.ts",
};
const settingsOf = (agent: string): string => readFileSync(join(home(), SETTINGS[agent] ?? ""), "utf8");

describe.each(Object.keys(SETTINGS))("hooks of %s on Windows", (agent) => {
  const request = { agent, what: "hooks", project: null } as const;

  it("call jpg by its path, without a script or a shell's words", async () => {
    const runtime = onWindows();
    expect((await installSetup(runtime, request)).status).toBe("installed");
    const written = settingsOf(agent).replaceAll("\\\\", "\\");
    expect(written).toContain(`C:\\node\\node.exe C:\\jpg\\bin\\jpg.js keep ${agent}`);
    expect(written).not.toMatch(/keep\.sh/);
    expect((await installSetup(runtime, request)).status).toBe("present");
    const [row] = (await listSetups(runtime, null)).filter((one) => one.agent === agent && one.what === "hooks");
    expect(row?.state).toBe("installed");
    expect((await uninstallSetup(runtime, request)).status).toBe("removed");
  });

  it("are refused where the path holds a blank, and no file changes", async () => {
    const before = readdirSync(folder.path);
    const refused = installSetup(onWindows("C:\\Program Files\\nodejs\\node.exe"), request);
    await expect(refused).rejects.toMatchObject({ code: "hooks_need_plain_path", kind: "user" });
    expect(readdirSync(folder.path)).toEqual(before);
  });

  it("are refused in a project's files, which others read on other systems", async () => {
    const refused = installSetup(onWindows(), { ...request, project: join(folder.path, "project") });
    await expect(refused).rejects.toMatchObject({ code: "hooks_need_shell", kind: "user" });
    expect(existsSync(join(folder.path, "project"))).toBe(false);
  });
});

it("Codex's model is told of a compaction by the same line", async () => {
  await installLevel(onWindows(), { agent: "codex", level: "live", project: null });
  expect(settingsOf("codex").replaceAll("\\\\", "\\")).toContain("jpg.js keep codex note");
});

it("Claude Code, which has git's shell there, gets the script only where git is", async () => {
  const place = { platform: "win32", env: { PATH: "C:\\Git\\cmd" } };
  const hasGit = (path: string): boolean => path === "C:\\Git\\cmd\\git.exe";
  expect(needsPlainLine(place, { hasShellOnWindows: true }, hasGit)).toBe(false);
  expect(needsPlainLine(place, {}, hasGit)).toBe(true);
  expect(needsPlainLine({ ...place, platform: "linux" }, {}, hasGit)).toBe(false);
  await installSetup(onWindows(), { agent: "claude-code", what: "hooks", project: null });
  const written = readFileSync(join(home(), ".claude", "settings.json"), "utf8").replaceAll("\\\\", "\\");
  expect(written).toContain("C:\\jpg\\bin\\jpg.js keep claude-code");
});

it("tools need no shell", async () => {
  const { status } = await installSetup(onWindows(), { agent: "codex", what: "server", project: null });
  expect(status).toBe("installed");
});

describe("what such a hook keeps", () => {
  /** A jpg that does nothing, so that the spool stays as it is. */
  const idle = () => ({ ...runtimeHere(), nodePath: "/bin/true", jpgPath: "/bin/true" });
  const keep = (event: string): string => keepSession(idle(), { agent: "codex", event });

  it("is the event as it came and the session as it is, for the user alone", async () => {
    const transcript = join(folder.path, "Ada Löw's \\ session.jsonl");
    writeText(transcript, "one\n");
    const event = JSON.stringify({ session_id: "s", transcript_path: transcript, cwd: folder.path });
    const entry = keep(event);
    writeText(transcript, "another\n");
    expect(readdirSync(entry).sort()).toEqual(["agent", "event", "ready", "session"]);
    expect([readFileSync(join(entry, "event"), "utf8"), readFileSync(join(entry, "session"), "utf8")]).toEqual([
      event,
      "one\n",
    ]);
    expect(statSync(entry).mode & 0o077).toBe(0);
    const spooled = await listSpool(hookPaths(idle()), new Date());
    expect(spooled).toMatchObject([
      { folder: entry, agent: "codex", transcript, kept: join(entry, "session"), problem: null },
    ]);
  });

  it.each(["", "no JSON", JSON.stringify({ transcript_path: "/nowhere/x" }), JSON.stringify({ transcript_path: "/" })])(
    "is the event alone where that names no file: %j",
    (event) => {
      expect(readdirSync(keep(event)).sort()).toEqual(["agent", "event", "ready"]);
    },
  );
});
