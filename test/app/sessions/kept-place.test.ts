// Which sessions are of a project: those begun in its folders and worktrees, by whatever spelling, and nobody else's, for every agent
// that keeps the sessions of several directories together.
import { createHash } from "node:crypto";
import { mkdirSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { locate } from "../../../src/app/conversation/engine.ts";
import { findAgentSessions, type KeptFiles } from "../../../src/app/sessions/kept-files.ts";
import { createTempFolder, git, type TempFolder, writeText } from "../../helpers/temp-repository.ts";
import { createTestRuntime } from "../../helpers/workspace.ts";

let folder: TempFolder;
let top: string;
const env = () => ({ PATH: process.env["PATH"] ?? "", HOME: join(top, "home"), GIT_CONFIG_NOSYSTEM: "1" });
beforeEach(() => {
  folder = createTempFolder();
  top = realpathSync.native(folder.path);
  mkdirSync(join(top, "home"));
});
afterEach(() => folder.remove());

function makeProject(name: string): string {
  const path = join(top, name);
  mkdirSync(path, { recursive: true });
  git(path, env(), ["init", "-q"]);
  git(path, env(), ["-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "x"]);
  return path;
}

const makeFolder = (...names: string[]): string => {
  const path = join(top, ...names);
  mkdirSync(path, { recursive: true });
  return path;
};

const claudeName = (directory: string): string => directory.replace(/[^A-Za-z0-9]/g, "-");
const claudeLine = (cwd: string | null, more = {}): string =>
  JSON.stringify({
    ...{ type: "user", uuid: "u", parentUuid: null, message: { role: "user", content: "Ask" } },
    ...(cwd === null ? {} : { cwd }),
    ...more,
  });

/** Keeps a session as an agent does, by the given name. */
const KEEP: Readonly<Record<string, (name: string, cwd: string) => void>> = {
  "claude-code": (name, cwd) => keepClaude(name, cwd, [claudeLine(cwd)]),
  codex: (name, cwd) =>
    writeText(
      join(top, "home/.codex/sessions/2026/01/02", `rollout-${name}.jsonl`),
      `${JSON.stringify({ type: "session_meta", payload: { id: name, cwd } })}\n`,
    ),
  pi: (name, cwd) =>
    writeText(
      join(top, "home/.pi/agent/sessions", `--${cwd.slice(1).replaceAll("/", "-")}--`, `${name}.jsonl`),
      `${JSON.stringify({ type: "session", version: 3, id: name, cwd })}\n`,
    ),
  "copilot-cli": (name, cwd) =>
    writeText(
      join(top, "home/.copilot/session-state", name, `${name}.jsonl`),
      `${JSON.stringify({ type: "session.start", data: { sessionId: name, context: { cwd } } })}\n`,
    ),
  "gemini-cli": (name, cwd) => {
    const hash = createHash("sha256").update(cwd).digest("hex");
    writeText(
      join(top, "home/.gemini/tmp", hash, "chats", `session-${name}.json`),
      JSON.stringify({ sessionId: name, projectHash: hash, messages: [] }, null, 2),
    );
  },
  opencode: (name, cwd) =>
    writeText(
      join(top, "home/.local/share/opencode/storage/session/project", `ses_${name}.json`),
      JSON.stringify({ id: `ses_${name}`, directory: cwd }),
    ),
};

function keepClaude(name: string, folderOf: string, lines: readonly string[]): void {
  writeText(join(top, "home/.claude/projects", claudeName(folderOf), `${name}.jsonl`), `${lines.join("\n")}\n`);
}

async function findAt(cwd: string): Promise<Omit<KeptFiles, "failed">> {
  const runtime = createTestRuntime(realpathSync.native(cwd), env());
  return findAgentSessions({ runtime, location: await locate(runtime) });
}

const nameOf = (path: string): string => path.replace(/^.*\/(?:rollout-|session-|ses_)?|\.jsonl?$/g, "");
const namesAt = async (cwd: string): Promise<readonly string[]> =>
  (await findAt(cwd)).files.map(({ path }) => nameOf(path)).sort();

describe.each(Object.keys(KEEP))("what %s keeps", (agent) => {
  const keep = (name: string, cwd: string): void => KEEP[agent]?.(name, cwd);

  it("is the nearest project's: of a folder in it, of a worktree, but not of a repository within", async () => {
    const project = makeProject("shop");
    const inner = makeProject("shop/vendor/inner");
    git(project, env(), ["worktree", "add", "-q", join(top, "wt"), "-b", "b"]);
    git(project, env(), ["worktree", "add", "-q", join(project, ".worktrees", "near"), "-b", "c"]);
    keep("top", project);
    keep("below", makeFolder("shop", "packages", "core"));
    keep("worktree", join(top, "wt"));
    keep("near", join(project, ".worktrees", "near"));
    keep("inner", inner);
    keep("inner-below", makeFolder("shop", "vendor", "inner", "src"));
    keep("beside", makeFolder("shop-web"));
    keep("above", top);
    const own = ["below", "near", "top", "worktree"];
    expect(await namesAt(project)).toEqual(own);
    expect(await namesAt(join(project, "packages", "core"))).toEqual(own);
    expect(await namesAt(join(top, "wt"))).toEqual(own);
    expect(await namesAt(inner)).toEqual(["inner", "inner-below"]);
    expect(await namesAt(join(top, "shop-web"))).toEqual(["beside"]);
  });

  it("is not another project's whose path gives the same name", async () => {
    const pairs = ["shop-web", "shop/web", "외주/app", "개인/app"].map(makeProject);
    for (const [at, path] of pairs.entries()) keep(`s${at}`, path);
    for (const [at, path] of pairs.entries()) expect(await namesAt(path)).toEqual([`s${at}`]);
  });
});

describe.each(["claude-code", "codex", "pi", "copilot-cli", "opencode"])("what %s keeps", (agent) => {
  const keep = (name: string, cwd: string): void => KEEP[agent]?.(name, cwd);

  it("is found by any spelling of the directory", async () => {
    const project = makeProject("shop");
    makeFolder("shop", "src");
    symlinkSync(project, join(top, "link"));
    keep("slash", `${project}/`);
    keep("dots", `${project}/src/../`);
    keep("link", join(top, "link"));
    keep("link-below", join(top, "link", "src"));
    expect(await namesAt(project)).toEqual(["dots", "link", "link-below", "slash"]);
  });

  it("is the project's where the folder, or the worktree, is gone", async () => {
    const project = makeProject("shop");
    git(project, env(), ["worktree", "add", "-q", join(top, "wt"), "-b", "b"]);
    rmSync(join(top, "wt"), { recursive: true });
    keep("gone", join(project, "old", "folder"));
    keep("gone-worktree", join(top, "wt", "src"));
    keep("nobody's", join(top, "nowhere"));
    expect(await namesAt(project)).toEqual(["gone", "gone-worktree"]);
  });

  it("is, outside every project, that of the directory and below", async () => {
    keep("here", makeFolder("notes"));
    keep("below", makeFolder("notes", "2026"));
    keep("beside", makeFolder("notes-2"));
    keep("project", makeProject("notes/shop"));
    expect(await namesAt(join(top, "notes"))).toEqual(["below", "here"]);
  });
});

describe("a session of Claude Code", () => {
  it("is of the directory that it was begun in, wherever its agent went, and whatever was copied into it", async () => {
    const [shop, web] = [makeProject("shop"), makeProject("web")];
    keepClaude("went", shop, [claudeLine(null), claudeLine(shop), claudeLine(web)]);
    keepClaude("taken along", web, [claudeLine(shop), claudeLine(web)]);
    keepClaude("copied", web, [claudeLine(shop)]);
    expect(await namesAt(shop)).toEqual(["copied", "went"]);
    expect(await namesAt(web)).toEqual(["taken along"]);
  });

  it("says its directory after a long first line, or within one that is cut", async () => {
    const [web, dash] = [makeProject("shop/web"), makeProject("shop-web")];
    const long = { message: { role: "user", content: "x".repeat(100_000) } };
    const cut = { message: { role: "user", content: "x".repeat(9_000_000) } };
    keepClaude("long", web, [JSON.stringify({ type: "user", uuid: "u", ...long, cwd: web }), claudeLine(dash)]);
    keepClaude("cut", web, [JSON.stringify({ type: "user", uuid: "u", isSidechain: false, cwd: web, ...cut })]);
    keepClaude("quoted", web, [claudeLine(null, { message: { content: `{"cwd":"${dash}"}` } }), claudeLine(web)]);
    expect(await namesAt(web)).toEqual(["cut", "long", "quoted"]);
    expect(await namesAt(dash)).toEqual([]);
  });

  it("is unclear in the project's folder when it names no directory, or one of that name that is gone", async () => {
    const [dash, web] = [makeProject("shop-web"), makeProject("shop/web")];
    keepClaude("unsaid", dash, [claudeLine(null)]);
    keepClaude("gone", web, [claudeLine(join(top, "shop_web"))]);
    keepClaude("elsewhere", join(top, "other"), [claudeLine(null)]);
    for (const path of [dash, web]) {
      const { files, unclear } = await findAt(path);
      expect(files).toEqual([]);
      expect(unclear.map(({ path: file, directory }) => [nameOf(file), directory])).toEqual([
        ["gone", join(top, "shop_web")],
        ["unsaid", null],
      ]);
    }
  });

  it("is of no matter where nothing was said in it, but for one that says whose it is", async () => {
    const web = makeProject("shop/web");
    keepClaude("empty", web, []);
    keepClaude("summary", web, [JSON.stringify({ type: "summary", summary: "Old", leafUuid: "x" })]);
    writeText(join(top, "home/.claude/projects", claudeName(web), "none.jsonl"), "");
    keepClaude("asked", web, [claudeLine(null)]);
    const { files, unclear } = await findAt(web);
    expect(files).toEqual([]);
    expect(unclear.map(({ path }) => nameOf(path))).toEqual(["asked"]);
  });

  it("is found by what its agents wrote, once the agent has deleted it", async () => {
    const web = makeProject("shop/web");
    for (const name of ["gone", "there"]) keepClaude(`${name}/subagents/agent-${name}`, web, [claudeLine(web)]);
    keepClaude("gone/notes", web, [claudeLine(web)]);
    keepClaude("there", web, [claudeLine(web)]);
    const { files } = await findAt(web);
    expect(files.map(({ path, isSideFile }) => [nameOf(path), isSideFile])).toEqual([
      ["agent-gone", true],
      ["there", undefined],
    ]);
  });

  it("stays with a project that was renamed together with its folder of sessions", async () => {
    const old = makeProject("old");
    renameSync(old, join(top, "new"));
    keepClaude("kept", join(top, "new"), [claudeLine(old)]);
    expect(await namesAt(join(top, "new"))).toEqual(["kept"]);
    makeProject("old");
    expect(await namesAt(join(top, "new"))).toEqual([]);
  });

  it("is found in the folder of a path of more than 200 characters", async () => {
    const project = makeProject(Array.from({ length: 20 }, () => "tidepool-설문").join("/"));
    const name = claudeName(project);
    let hash = 0;
    for (const char of project) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 2 ** 32;
    const signed = hash >= 2 ** 31 ? hash - 2 ** 32 : hash;
    const cut = `${name.slice(0, 200)}-${Math.abs(signed).toString(36)}`;
    writeText(join(top, "home/.claude/projects", cut, "long.jsonl"), `${claudeLine(null)}\n`);
    expect((await findAt(project)).unclear.map(({ path }) => nameOf(path))).toEqual(["long"]);
  });
});

describe("a session of Gemini CLI", () => {
  it("is of the directory that its folder, or the agent's list, says", async () => {
    const [shop, web] = [makeProject("shop"), makeProject("web")];
    const below = makeFolder("shop", "app");
    const chat = (name: string): string => join(top, "home/.gemini/tmp", name, "chats");
    for (const [name, session] of [
      ["app", "below"],
      ["app-1", "other"],
      ["shop", "listed"],
    ] as const)
      writeText(join(chat(name), `session-${session}.jsonl`), `${JSON.stringify({ sessionId: session })}\n`);
    writeText(join(top, "home/.gemini/tmp/app/.project_root"), below);
    writeText(join(top, "home/.gemini/tmp/app-1/.project_root"), join(web, "app"));
    writeText(join(top, "home/.gemini/projects.json"), JSON.stringify({ projects: { [shop]: "shop" } }));
    expect(await namesAt(shop)).toEqual(["below", "listed"]);
    expect(await namesAt(web)).toEqual(["other"]);
  });
});
