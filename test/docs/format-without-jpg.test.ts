// @module-tag slow
// The programs of docs/format-without-jpg.md, run in stores that jpg made: they print what `jpg print --compacted` shows.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const page = readFileSync(join(root, "docs/format-without-jpg.md"), "utf8");

function programOf(language: string): string {
  const [, text = ""] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
  return text;
}

type Line = readonly [type: string, id: string, content: unknown];

const VISIBLE = ["chat_request", "chat_response", "tool_call_request", "tool_call_response"];
const VALUES = ["content", "message", "reasoning", "data", "arguments"];

let sandbox: ImportedSandbox;
beforeEach(async () => {
  sandbox = await copyImportedSandbox();
});
afterEach(() => sandbox.remove());

/** What jpg shows of the active conversation, in the form of the page. */
async function shown(): Promise<readonly Line[]> {
  const { stdout } = await sandbox.jpg(["print", "--compacted", "--format", "jsonl"]);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  return events
    .filter(({ type }) => VISIBLE.includes(String(type)))
    .map((event) => [String(event["type"]), String(event["id"]), event[VALUES.find((name) => name in event) ?? ""]]);
}

function printed(program: string, file: string): readonly Line[] {
  const path = join(sandbox.home, file);
  writeFileSync(path, programOf(file.endsWith(".py") ? "python" : "sh"));
  const { stdout, stderr, status } = spawnSync(program, [path], { cwd: sandbox.store, encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
}

const isMissing = (program: string): boolean => spawnSync(program, ["--version"]).status !== 0;

describe("docs/format-without-jpg.md", () => {
  it.skipIf(isMissing("jq"))("prints by shell what jpg shows (jq)", async () => {
    await compareThroughout("bash", "view.sh");
  });

  it.skipIf(isMissing("python3"))("prints by Python what jpg shows (python3)", async () => {
    await compareThroughout("python3", "view.py");
  });
});

/** Commands after each of which the program is compared. */
const STEPS: readonly (readonly string[])[] = [
  ["pin", "@", "1"],
  ["compact", "@", "--keep", "2", "--force"],
  ["compact", "@", "..3", "-p", "heavy", "-m", "extractive", "--force"],
  ["undo"],
  ["compact", "@", "-p", "light", "--keep", "0", "--force"],
];

async function compareThroughout(program: string, file: string): Promise<void> {
  const whole = await shown();
  expect(whole.length).toBeGreaterThan(10);
  expect(printed(program, file)).toEqual(whole);
  const seen = new Set([JSON.stringify(whole)]);
  for (const words of STEPS) {
    const { code, stderr } = await sandbox.jpg(words);
    expect([words, code, code === 0 ? "" : stderr]).toEqual([words, 0, ""]);
    const view = await shown();
    expect([words, printed(program, file)]).toEqual([words, view]);
    seen.add(JSON.stringify(view));
  }
  expect(seen.size).toBeGreaterThanOrEqual(3);
  await sandbox.jpg(["import", join(root, "examples/sample-session.jsonl")]);
  await sandbox.jpg(["use", "tidepool"]);
  const imported = await shown();
  expect(JSON.stringify(imported)).toContain("This session is being continued");
  expect(printed(program, file)).toEqual(imported);
  await sandbox.jpg(["compact", "@", "-s", "auto:protect=0", "--keep", "0", "--force"]);
  expect(printed(program, file)[0]).toEqual(["note", expect.any(String), expect.stringContaining("does more")]);
}
