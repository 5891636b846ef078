// @module-tag law
// Whatever is wrong with a session: it is imported or refused, what was imported can be read by every command, its bytes
// come back, and nothing is a bug.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EXPORT_FORMATS } from "../../../src/app/import/export.ts";
import { STRATEGIES } from "../../../src/core/compact/strategies/strategy-list.ts";
import {
  mutatedCodexSession,
  mutatedGeminiSession,
  mutatedJpStream,
  mutatedOpenCodeSession,
  mutatedPiSession,
  mutatedSession,
} from "../../helpers/mutated-session.ts";

import { runInProcess } from "../../helpers/run-in-process.ts";
import { runs } from "../../helpers/runs.ts";
import { createTempFolder, testEnvironment } from "../../helpers/temp-repository.ts";
import { createTestRuntime } from "../../helpers/workspace.ts";

const SESSIONS = ["5e55mut0-a", "5e55mut0-b"];
const sessions = fc.tuple(
  ...SESSIONS.map((session) => mutatedSession(session)),
  mutatedPiSession("5e55mut0-pi"),
  mutatedCodexSession("5e55mut0-codex"),
  mutatedJpStream,
  mutatedOpenCodeSession("ses_5e55mut0opencode"),
  mutatedGeminiSession(),
);

interface Imported {
  readonly branch: string;
  readonly source: string;
  /** Of what a sub-agent said in the file of another session: that session. */
  readonly agent_of?: string;
}

/** Commands that only read. */
const READING: readonly (readonly string[])[] = [
  ["print"],
  ["print", "--compacted"],
  ["show"],
  ["stats"],
  ["log"],
  ["diff"],
  ["check", "--provider", "all"],
  ...EXPORT_FORMATS.map((format) => ["export", "--to", format, "--model", "claude-sonnet-4-5"]),
];
/** All that choose by themselves what to take out, in one compaction. */
const STRATEGY_FLAGS = STRATEGIES.filter(({ isExclusive }) => isExclusive !== true).flatMap(({ name }) => [
  "--strategy",
  name,
]);
/** Codes by which a command says that it did what was asked, found something, or has nothing to do. */
const FINE = [0, 1];

async function expectReadable(folder: string, texts: readonly string[]): Promise<void> {
  const runtime = createTestRuntime(folder, testEnvironment(folder));
  const run = (...argv: string[]) => runInProcess(runtime, ["--store", join(folder, "store"), ...argv]);
  const must = async (codes: readonly number[], ...argv: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...argv);
    if (!codes.includes(code)) throw new Error(`jpg ${argv.join(" ")} ended with ${code}: ${stderr.slice(0, 2000)}`);
    return stdout;
  };
  mkdirSync(join(folder, "sessions"));
  for (const [index, text] of texts.entries()) writeFileSync(join(folder, "sessions", `${index}.jsonl`), text);
  const reports = JSON.parse(await must(FINE, "import", join(folder, "sessions"), "--json")) as Imported[];
  await must(FINE, "ls");
  for (const { branch, source, agent_of: caller } of reports.filter((report) => report.branch !== undefined)) {
    for (const [name, ...rest] of READING) await must(FINE, name!, branch, ...rest);
    const out = join(folder, "original.jsonl");
    await must([0], "export", branch, "--original", "-o", out);
    expectOriginal(readFileSync(out), readFileSync(source), caller !== undefined);
    rmSync(out); // `-o` never replaces a session
    await must(FINE, "compact", branch, "--force", "--keep", "0", ...STRATEGY_FLAGS);
    await must(FINE, "print", branch, "--compacted");
    await must(FINE, "export", branch, "--to", "jp");
    await must(FINE, "log", branch);
  }
  expect(await must(FINE, "import", join(folder, "sessions"), "--json")).not.toContain("created");
}

/** The bytes of a file come back; of a sub-agent that spoke in it, those of its lines. */
function expectOriginal(original: Buffer, file: Buffer, isPart: boolean): void {
  if (!isPart) expect(original.equals(file)).toBe(true);
  else {
    const lines = file.toString("latin1").split("\n");
    const own = original.toString("latin1").split("\n");
    expect(original.length).toBeGreaterThan(0);
    expect(own.filter((line) => !lines.includes(line))).toEqual([]);
  }
}

describe("a session with something wrong in it", () => {
  it("is refused, or imported whole, read by every command, and given back", {
    tags: ["slow"],
    timeout: 600_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(sessions, async (texts) => {
        const folder = createTempFolder();
        try {
          await expectReadable(folder.path, texts);
        } finally {
          folder.remove();
        }
      }),
      { numRuns: runs(Number(process.env["JPG_MUTATIONS"] ?? 2)), endOnFailure: true },
    );
  });
});
