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

/** The text of a program of the page: the first of a language, or another one. */
function programOf(language: string, nth = 0): string {
  const found = [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))];
  return found[nth]?.[1] ?? "";
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

interface Program {
  readonly runs: "bash" | "python3";
  readonly text: string;
}

const SHELL: Program = { runs: "bash", text: programOf("sh") };
const PYTHON: Program = { runs: "python3", text: programOf("python") };
const LONGER: Program = { runs: "python3", text: programOf("python", 1) };

function printed({ runs, text }: Program): readonly Line[] {
  const path = join(sandbox.home, "program");
  writeFileSync(path, text);
  const { stdout, stderr, status } = spawnSync(runs, [path], { cwd: sandbox.store, encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
}

const isMissing = (program: string): boolean => spawnSync(program, ["--version"]).status !== 0;

describe("docs/format-without-jpg.md", () => {
  it.skipIf(isMissing("jq"))("prints by shell what jpg shows, or says that it does not (jq)", async () => {
    await compareThroughout(SHELL, PLAIN_STEPS);
  });

  it.skipIf(isMissing("python3"))("prints by Python what jpg shows, or says that it does not (python3)", async () => {
    await compareThroughout(PYTHON, PLAIN_STEPS);
  });

  it.skipIf(isMissing("python3"))("prints by the longer Python what jpg shows of the profiles (python3)", async () => {
    await compareThroughout(LONGER, STEPS.length);
  });

  it("begins with programs of about a screen", () => {
    for (const { text } of [SHELL, PYTHON])
      expect(text.split("\n").filter((line) => line !== "").length).toBeLessThan(32);
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

/** Steps before the short programs have to say that there is more. */
const PLAIN_STEPS = 1;

const hasNote = (lines: readonly Line[]): boolean => lines.some(([type]) => type === "note");
const withoutNotes = (lines: readonly Line[]): readonly Line[] => lines.filter(([type]) => type !== "note");

/** Compares after each step; after the first `exact` of them a program may say that it shows too much, and never hides more. */
async function compareThroughout(program: Program, exact: number): Promise<void> {
  const whole = await shown();
  expect(whole.length).toBeGreaterThan(10);
  expect(printed(program)).toEqual(whole);
  const seen = new Set([JSON.stringify(whole)]);
  for (const [at, words] of STEPS.entries()) {
    const { code, stderr } = await sandbox.jpg(words);
    expect([words, code, code === 0 ? "" : stderr]).toEqual([words, 0, ""]);
    const view = await shown();
    const lines = printed(program);
    if (at < exact) expect([words, lines]).toEqual([words, view]);
    else expect([words, hasNote(lines), withoutNotes(lines)]).toEqual([words, true, whole]);
    seen.add(JSON.stringify(view));
  }
  expect(seen.size).toBeGreaterThanOrEqual(3);
  await sandbox.jpg(["import", join(root, "examples/sample-session.jsonl")]);
  await sandbox.jpg(["use", "tidepool"]);
  const imported = await shown();
  expect(JSON.stringify(imported)).toContain("This session is being continued");
  expect(printed(program)).toEqual(imported);
  await sandbox.jpg(["undo"]);
  expect(printed(program)).toEqual(await shown());
  await sandbox.jpg(["redo"]);
  await sandbox.jpg(["compact", "@", "-s", "auto:protect=0", "--keep", "0", "--force"]);
  expect(printed(program)[0]).toEqual(["note", expect.any(String), expect.stringContaining("does more")]);
}
