// examples/plain-agent, the smallest format plug-in, goes the whole way: imported, grown, compacted, written back, continued.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isWindows } from "../helpers/platform.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";

const PLUGIN = fileURLToPath(new URL("../../examples/plain-agent/jpg-format-plain", import.meta.url));

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = createSandbox();
  const folder = join(sandbox.home, ".config", "jpg", "formats");
  mkdirSync(folder, { recursive: true });
  copyFileSync(PLUGIN, join(folder, "jpg-format-plain"));
  await sandbox.jpg(["trust", "--format", "plain", "--yes"]);
});
afterEach(() => sandbox.remove());

/** Some turns of a question and an answer. */
function talk(turns: number, from = 0): string {
  return Array.from({ length: turns }, (_, at) => [
    { role: "user", text: `question ${from + at}` },
    { role: "assistant", text: `answer ${from + at}` },
  ])
    .flat()
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
}

describe.skipIf(isWindows)("the plain agent's plug-in (POSIX)", () => {
  it("imports, appends what is new, writes a compacted view, and knows it again when it was continued", {
    tags: ["slow"],
  }, async () => {
    const { jpg, json, session } = sandbox;
    const file = session("monday.log", talk(6));
    const load = (path: string) => json<{ branch: string }[]>(["import", "plain", path]);
    expect(await load(file)).toMatchObject([{ status: "created", turns: 6, title: "question 0" }]);
    expect(await load(file)).toMatchObject([{ status: "unchanged", turns: 6 }]);
    writeFileSync(file, talk(1, 6), { flag: "a" });
    const [{ branch = "" } = {}] = await load(file);
    expect((await jpg(["show"])).stdout).toMatch(/Source: +plain/);

    const summary = session("summary.txt", "");
    writeFileSync(summary, "all that was said");
    const compacted = await jpg(["compact", "--to", "4", "--accept", summary, "--in-place", "--force"]);
    expect(compacted.stderr).toBe("");
    const out = join(sandbox.root, "sessions", "out.log");
    expect((await jpg(["export", "--to", "plain", "-o", out])).code).toBe(0);
    expect(readFileSync(out, "utf8")).toContain("all that was said");
    expect(readFileSync(out, "utf8")).not.toContain("question 2");

    expect(await load(out)).toMatchObject([{ status: "unchanged", branch }]);
    writeFileSync(out, talk(1, 7), { flag: "a" });
    expect(await load(out)).toMatchObject([{ status: "updated", branch, turns: 8, turns_added: 1 }]);
    expect(await load(out)).toMatchObject([{ status: "unchanged", branch }]);
    const whole = (await jpg(["export", "--to", "plain", "--full-history"])).stdout;
    expect(whole.match(/question \d/g)?.slice(-8)).toEqual(Array.from({ length: 8 }, (_, at) => `question ${at}`));
    expect((await jpg(["export", "--original", "--session", "monday"])).code).not.toBe(70);
    expect((await jpg(["fsck"])).code).toBe(0);
  });
});
