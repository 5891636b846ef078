// The index of what a view hides, as a user meets it: made by default, shown once, replaced, taken back, left out, exported, known
// when the session comes back, masked with the rest.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Json } from "../helpers/claude-session.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";

const SAMPLE = fileURLToPath(new URL("../../examples/sample-session.jsonl", import.meta.url));
const HEADING = "[Index of what is left out above";
const SLOW = 300_000;

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = createSandbox();
  await sandbox.json(["import", SAMPLE]);
  // The agent's own summary hides the first turns; without it all are in view.
  await sandbox.jpg(["undo"]);
}, SLOW);
afterAll(() => sandbox.remove());

const view = async (): Promise<string> => (await sandbox.jpg(["print", "--compacted"])).stdout;
const count = (text: string): number => text.split(HEADING).length - 1;

it(
  "stands in the view once, is replaced by a later compaction's, and comes back with a revert",
  async () => {
    expect(count(await view())).toBe(0);
    await sandbox.jpg(["compact", "--to", "12"]);
    const first = await view();
    expect(count(first)).toBe(1);
    expect(first).toContain("## Index of what is hidden · compaction ");
    const made = await sandbox.json(["compact", "--to", "20", "--profile", "heavy", "--model", "extractive"]);
    const second = await view();
    expect(count(second)).toBe(1);
    expect(second).not.toContain("## Index of what is hidden");
    expect(await sandbox.json(["show", String(made["compaction"])])).toMatchObject({
      needs: ["index"],
      index: { text: expect.stringContaining(HEADING) as string },
    });
    expect(await sandbox.json<Json>(["fsck"])).toMatchObject({ ok: true });
    await sandbox.jpg(["undo"]);
    expect(await view()).toBe(first);
  },
  SLOW,
);

it(
  "goes to an agent and is known when the session comes back",
  async () => {
    const file = join(sandbox.project, "out.jsonl");
    await sandbox.jpg(["export", "--to", "claude-code", "-o", file]);
    expect(readFileSync(file, "utf8").split(HEADING)).toHaveLength(2);
    expect(await sandbox.json(["import", file])).toMatchObject([{ status: "unchanged", turns: 26 }]);
  },
  SLOW,
);

it(
  "is left out by --no-index and by the settings, and where a fork ends before it",
  async () => {
    await sandbox.jpg(["fork", "@", "short", "--first", "5"]);
    expect(count(await view())).toBe(0);
    await sandbox.jpg(["use", "-"]);
    expect(count(await view())).toBe(1);
    await sandbox.jpg(["undo"]);
    await sandbox.jpg(["compact", "--to", "12", "--no-index"]);
    expect(count(await view())).toBe(0);
    await sandbox.jpg(["undo"]);
    writeFileSync(join(sandbox.project, ".jpg.toml"), "[conversation.compaction]\nindex = false\n");
    await sandbox.jpg(["compact", "--to", "12"]);
    expect(count(await view())).toBe(0);
  },
  SLOW,
);
