// A session is listed alike before and after its import, and only what is said in it makes it newer.
// @module-tag slow
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox, smallSession } from "../../helpers/run-jpg.ts";

const SESSION = "5e551073-0000-4000-8000-00000000000c";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.remove());

function keep(session: string, text: string): string {
  const folder = join(sandbox.home, ".claude/projects", sandbox.project.replace(/[^A-Za-z0-9]/g, "-"));
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${session}.jsonl`);
  writeFileSync(file, text);
  return file;
}

interface Row {
  readonly id: string;
  readonly title: string;
  readonly updated_at: string;
}

const all = (): Promise<readonly Row[]> => sandbox.json<readonly Row[]>(["ls", "--all"]);

/** What is in the store that the environment names. */
const imported = (): Promise<readonly Row[]> => sandbox.json<readonly Row[]>(["ls"]);

/** A session of about so many bytes, with a name given in its last line. */
function named(size: number): string {
  const lines = smallSession({ id: SESSION }).toString().trimEnd().split("\n");
  const note = { type: "system", subtype: "local_command", sessionId: SESSION, content: "x".repeat(10_000) };
  const filler = Array.from({ length: Math.ceil(size / 10_000) }, () => JSON.stringify(note));
  const title = { type: "custom-title", customTitle: "The pier", sessionId: SESSION };
  return [...lines.slice(0, 3), ...filler, ...lines.slice(3), JSON.stringify(title), ""].join("\n");
}

describe("a session", () => {
  it.each([
    ["short", 0],
    ["longer than what is read of it", 3_000_000],
  ])("that is %s has the same title and time before and after its import", async (_, size) => {
    const file = keep(SESSION, named(size));
    utimesSync(file, 1_900_000_000, 1_900_000_000);
    const [before] = await all();
    expect(before).toMatchObject({ id: "", title: "The pier" });
    expect(before?.updated_at).not.toBe(new Date(1_900_000_000_000).toISOString());
    await sandbox.jpg(["import"]);
    const [after] = await imported();
    expect(after).toMatchObject({ title: "The pier", updated_at: before?.updated_at });
    expect(after?.id).not.toBe("");
  });

  it("is not newer because it was compacted, undone or named", async () => {
    keep(SESSION, named(0));
    await sandbox.jpg(["import"]);
    const [first] = await imported();
    expect(first?.id).not.toBe("");
    for (const words of [["compact", "--force"], ["undo"], ["title", "@", "Another name"]]) {
      expect((await sandbox.jpg(words)).code).toBe(0);
      expect((await imported())[0]?.updated_at).toBe(first?.updated_at);
    }
  });

  it.each([
    ["is empty", () => ""],
    ["has only a note of its agent", () => line({ type: "system", subtype: "local_command", content: "", uuid: "b" })],
  ])("that %s is new neither in the status nor in a list, and one with a request is", async (_, text) => {
    keep(SESSION, text());
    expect(await all()).toEqual([]);
    expect(await countNew()).toBe(0);
    expect((await sandbox.jpg(["status"])).stdout).toContain("jpg --all");
    keep(SESSION, text() + named(0));
    expect(await all()).toHaveLength(1);
    expect(await countNew()).toBe(1);
  });
});

const line = (fields: object): string =>
  `${JSON.stringify({ parentUuid: null, sessionId: SESSION, cwd: sandbox.project, timestamp: "2026-05-01T12:00:00Z", ...fields })}\n`;

async function countNew(): Promise<number> {
  const { sessions } = await sandbox.json<{ readonly sessions: readonly { readonly new: number }[] }>(["status"]);
  return sessions.reduce((sum, one) => sum + one.new, 0);
}
