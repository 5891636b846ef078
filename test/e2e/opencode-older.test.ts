// Sessions of OpenCode before 1.2: found where it kept them, read with all their files, kept in step as files come, given back.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createOpenCodeWriter, type OpenCodeWriter } from "../helpers/opencode-session.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";
import { joinOpenCode, scatterOpenCode } from "../helpers/scattered-opencode.ts";

const SESSION = "ses_5ea1f00d0000kelpkelpkelp01";
let sandbox: Sandbox;
let session: OpenCodeWriter;
beforeEach(() => {
  sandbox = createSandbox();
  session = createOpenCodeWriter({ id: SESSION, directory: sandbox.project, version: "1.1.4" });
  session.user("Which kelp grows here?");
  session.say("Bull kelp.");
});
afterEach(() => sandbox.remove());

const storage = (...names: string[]): string => join(sandbox.home, ".local", "share", "opencode", "storage", ...names);
const description = (): string => storage("session", "prj", `${SESSION}.json`);
const files = (): Map<string, string> => scatterOpenCode(session.bytes().toString());

function save(): void {
  for (const [path, text] of files()) write(storage(path), text);
  write(storage("session_diff", `${SESSION}.json`), "[]");
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

type Row = Record<string, unknown>;
const imported = (...args: string[]) => sandbox.json<readonly Row[]>(["import", ...args]);

it("are found, and come in once, whole, with what was added since", async () => {
  save();
  const list = await sandbox.json(["import", "--list"]);
  expect(list).toMatchObject([{ agent: "OpenCode", path: description(), turns: 1, title: expect.any(String) }]);
  expect(await imported()).toMatchObject([{ status: "created", turns: 1, skipped_lines: 0, source: description() }]);
  expect(await imported()).toMatchObject([{ status: "unchanged" }]);
  session.user("And in winter?");
  session.say("None.");
  save();
  expect(await imported()).toMatchObject([{ status: "updated", turns: 2, turns_added: 1 }]);
  const { stdout } = await sandbox.jpg(["export", "--original"]);
  expect(stdout).toBe(joinOpenCode(files()));
  expect(JSON.parse(stdout)).toEqual(JSON.parse(session.bytes().toString()));
  expect((await sandbox.jpg(["fsck"])).code).toBe(0);
});

it("are kept in step by `jpg sync`, also where their description stays as it is", async () => {
  save();
  await sandbox.jpg(["sync", "opencode"]);
  session.user("And in winter?");
  session.say("None.");
  for (const [path, text] of files()) if (!path.startsWith("session/")) write(storage(path), text);
  await sandbox.jpg(["sync", "opencode"]);
  expect((await sandbox.jpg(["print"])).stdout).toContain("None.");
});

it("are found below a folder that is named; what changed in their files is none", async () => {
  save();
  expect(await imported(storage())).toMatchObject([{ status: "created", source: description() }]);
});

it("are not looked for once OpenCode has a database, which took them in", async () => {
  save();
  write(storage("..", "opencode.db"), "");
  expect((await sandbox.jpg(["import", "--list"])).stdout).not.toContain(SESSION);
  expect(await imported(description())).toMatchObject([{ status: "created" }]);
});

it("are no way to files elsewhere: links are left out, and messages that lack a description named", async () => {
  save();
  const secret = join(sandbox.root, "secret.json");
  write(secret, '{"id":"prt_x","type":"text","text":"hunter2"}');
  const [message] = [...files().keys()].filter((path) => path.startsWith("message/")).slice(-1);
  rmSync(storage(message!));
  symlinkSync(secret, storage(message!));
  const [report] = await imported(description());
  expect(report!["skipped"]).toEqual([{ line: 2, reason: "no `info`" }]);
  expect((await sandbox.jpg(["export", "--original"])).stdout).not.toContain("hunter2");
});
