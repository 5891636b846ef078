// `jpg check` as a user runs it: exit codes, text and JSON, with and without a store.
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";

describe("jpg check", () => {
  let sandbox: ImportedSandbox;
  beforeAll(async () => {
    sandbox = await copyImportedSandbox(2);
  });
  afterAll(() => sandbox.remove());

  it("finds nothing in the active conversation", async () => {
    const result = await sandbox.jpg(["check", "--provider", "all"]);
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(result.stdout).toMatch(/^no violations in view of \S+ \(anthropic for claude-sonnet-4-5-20250929: \d+ mess/);
  });

  it("exits with 1 where a provider would refuse a request, and needs no store for it", async () => {
    const body = {
      messages: [{ role: "assistant", content: [{ type: "tool_use", id: "a", name: "look", input: {} }] }],
    };
    const file = sandbox.session("body.json", JSON.stringify(body));
    const listHome = () => readdirSync(sandbox.home, { recursive: true });
    const before = listHome();
    const result = await sandbox.jpg(["check", file, "--json"], { cwd: sandbox.home });
    expect(result).toMatchObject({ code: 1, stderr: "" });
    expect(JSON.parse(result.stdout)).toMatchObject({
      ok: false,
      violations: [
        { rule: "A1", severity: "error", provider: "anthropic", position: { message: 0, block: 0 } },
        { rule: "A12", severity: "error", provider: "anthropic", position: { message: 0 } },
      ],
    });
    expect(listHome()).toEqual(before);
  });

  it("exits with 2 for what it cannot check", async () => {
    const file = sandbox.session("notes.txt", "low tide at six");
    for (const [args, code] of [
      [[file], "not_checkable"],
      [["none.jsonl"], "no_such_file"],
      [["nobody"], "unknown_id"],
      [[file, "--provider", "gogle"], "usage"],
    ] as const) {
      const result = await sandbox.jpg(["check", ...args, "--json"]);
      expect(result.code).toBe(2);
      expect(JSON.parse(result.stdout)).toMatchObject({ error: { code } });
    }
  });
});
