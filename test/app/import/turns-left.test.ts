// Turns on no branch are counted in the report, with what would import them.
import { beforeEach, describe, expect, it } from "vitest";
import { renderImport } from "../../../src/cli/render/import.ts";
import { createClaudeWriter, type Json, sessionBytes } from "../../helpers/claude-session.ts";
import { PLAIN } from "../../helpers/plain-rendering.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace } from "../../helpers/workspace.ts";

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await createMemoryWorkspace();
});

/** A second compaction whose boundary names a line before the first one. */
function compactedTwice(): Json[] {
  const writer = createClaudeWriter();
  writer.prompt("How high is the tower?");
  writer.say("Thirty metres.");
  writer.prompt("And the spire?");
  writer.say("Forty.");
  const early = writer.lines[1]!["uuid"] as string;
  writer.compact("Heights were looked up.");
  for (const part of ["nave", "crypt", "porch"]) {
    writer.prompt(`And the ${part}?`);
    writer.say(`The ${part}: ten.`);
  }
  writer.head = early;
  writer.compact("One height was looked up.");
  writer.prompt("Who built it?");
  writer.say("Nobody knows.");
  return writer.lines;
}

describe("turns between two compactions, the second attached before the first", () => {
  it("are counted, and imported as a fork when asked", async () => {
    const bytes = sessionBytes(compactedTwice());
    const report = await importBytes(workspace, bytes);
    expect(report).toMatchObject({ status: "created", turns: 2 });
    expect(report.turns_left).toBeGreaterThanOrEqual(3);
    expect(renderImport([report], PLAIN)).toMatch(
      /turns\s+are\s+on\s+branches\s+that\s+the\s+agent\s+abandoned:\s+`jpg import --all-branches`\s+imports\s+them\s+as\s+forks\./,
    );
    expect(report.left_at).not.toEqual([]);
    for (const { after_turn: after, request } of report.left_at ?? []) {
      expect(after).toBeLessThan(report.turns);
      expect(renderImport([report], PLAIN)).toContain(request);
    }
    expect(JSON.stringify(report.left_at)).toContain("?");
    const all = await importBytes(workspace, bytes, { allBranches: true });
    expect(all.abandoned).toHaveLength(1);
    expect(all.turns_left).toBeUndefined();
  });

  it("are not counted when they are on a branch", async () => {
    const lines = compactedTwice();
    await importBytes(workspace, sessionBytes(lines), { allBranches: true });
    const [first] = lines;
    const more = { ...first!, uuid: "eeeeeeee-0000-4000-8000-000000000001", parentUuid: lines.at(-1)!["uuid"] };
    expect((await importBytes(workspace, sessionBytes([...lines, more]))).turns_left).toBeUndefined();
  });
});
