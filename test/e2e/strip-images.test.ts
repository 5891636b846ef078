// Images taken out of a session with screenshots: what stands for them, what of it is shown, and back again.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";

const PIXELS = Buffer.from(Uint8Array.from({ length: 48_213 }, (_, at) => (at * 7919) % 251)).toString("base64");
const SESSION = "11111111-1111-4111-8111-111111111111";
const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

/** An invented session of Claude Code: four turns, a picture in each request and in each result. */
function writeSession(sandbox: Sandbox): string {
  const lines: object[] = [];
  const add = (type: string, message: object): void => {
    const n = lines.length + 1;
    const parentUuid = n === 1 ? null : idOf(n - 1);
    const timestamp = `2026-05-04T10:00:${String(n).padStart(2, "0")}.000Z`;
    const common = {
      isSidechain: false,
      userType: "external",
      cwd: sandbox.project,
      sessionId: SESSION,
      version: "2.0.0",
    };
    lines.push({ parentUuid, ...common, type, message, uuid: idOf(n), timestamp });
  };
  const image = (media_type: string) => ({ type: "image", source: { type: "base64", media_type, data: PIXELS } });
  const answer = (id: string, content: object) =>
    add("assistant", { id, type: "message", role: "assistant", model: "claude-sonnet-4-5", content: [content] });
  for (let turn = 0; turn < 4; turn += 1) {
    add("user", { role: "user", content: [{ type: "text", text: `Look at ${turn}` }, image("image/png")] });
    answer(`a${turn}`, { type: "tool_use", id: `toolu_${turn}`, name: "Screenshot", input: {} });
    const content = [{ type: "text", text: "taken" }, image("image/jpeg")];
    add("user", { role: "user", content: [{ type: "tool_result", tool_use_id: `toolu_${turn}`, content }] });
    answer(`b${turn}`, { type: "text", text: `I see ${turn}` });
  }
  const path = join(sandbox.project, "session.jsonl");
  writeFileSync(path, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
  return path;
}

it("leaves a line for each image, tells what it hid, and gives it back", { tags: ["slow"] }, async () => {
  const sandbox = createSandbox();
  onTestFinished(() => sandbox.remove());
  const run = async (...args: string[]): Promise<string> => (await sandbox.jpg(args)).stdout;
  await run("init");
  await run("import", writeSession(sandbox));
  const whole = await run("export", "--to", "anthropic");
  expect(whole.split(PIXELS)).toHaveLength(9);

  const profile = "conversation.compaction.profiles.plain.images=strip";
  const made = await sandbox.json<{ compaction: string; policies: string; event: object }>([
    ...["compact", "-c", profile, "-p", "plain", "--keep", "0"],
  ]);
  expect(made).toMatchObject({ policies: "images stripped", event: { images: "strip", needs: ["images"] } });
  const view = await run("print", "--compacted");
  for (const [type, n] of [
    ["image/png", 1],
    ["image/jpeg", 3],
    ["image/jpeg", 15],
  ] as const)
    expect(view).toContain(`[compacted] image: ${type}, 48.2 kB · ${idOf(n)}`);
  expect(view.match(/^taken$/gm)).toHaveLength(4);
  expect(await run("log")).toContain("images stripped");
  expect(await run("show", made.compaction)).toMatch(/8 changed[\s\S]*Screenshot +4/);
  expect(await run("show", idOf(3))).toContain(made.compaction);
  expect(await run("check", "--provider", "anthropic")).toContain("no violations");
  expect((await sandbox.jpg(["fsck"])).code).toBe(0);
  expect(await run("export", "--to", "anthropic")).not.toContain(PIXELS);

  await run("undo");
  expect(await run("export", "--to", "anthropic")).toBe(whole);
});

it("is a strategy, too, and finds nothing where no image is left", async () => {
  const sandbox = createSandbox();
  onTestFinished(() => sandbox.remove());
  await sandbox.jpg(["init"]);
  await sandbox.jpg(["import", writeSession(sandbox)]);
  const compact = ["compact", "-s", "strip-images", "--keep", "0"];
  expect((await sandbox.jpg([...compact, "-s", "strip-tool-results"])).stdout).toContain(
    "tool results + images stripped",
  );
  const again = await sandbox.jpg(compact);
  expect(again.stdout + again.stderr).toContain("Nothing to compact");
});
