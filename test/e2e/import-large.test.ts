// Imports large enough for git to write packs, by the built command: git finds nothing wrong with the store, and what
// goes wrong on the way is said and leaves nothing behind.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createClaudeWriter, sessionBytes } from "../helpers/claude-session.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox({ process: true });
});
afterEach(() => sandbox.remove());

/** Text that does not deflate to nothing. */
function noise(seed: string, bytes: number): string {
  const parts = Array.from({ length: Math.ceil(bytes / 44) }, (_, at) =>
    createHash("sha256").update(`${seed}:${at}`).digest("base64"),
  );
  return parts.join("").slice(0, bytes);
}

/** A session of about `turns` times 50 KB. */
function largeSession(turns: number): Buffer {
  const writer = createClaudeWriter();
  for (let turn = 0; turn < turns; turn++) {
    writer.prompt(`request ${turn}`);
    writer.say(`answer ${turn}: ${noise(String(turn), 50_000)}`);
  }
  return sessionBytes(writer.lines);
}

const packFolder = (): string => join(sandbox.store, ".git", "objects", "pack");

describe("a large import", () => {
  it("leaves a store that git checks, repacks and clones, and the same history", { tags: ["slow"] }, async () => {
    const file = sandbox.session("large.jsonl", largeSession(60));
    const [report] = await sandbox.json<{ branch: string; turns: number }[]>(["import", file]);
    expect(report?.turns).toBe(60);
    const names = readdirSync(packFolder());
    const packs = names.filter((name) => name.endsWith(".pack"));
    expect(packs.length).toBeGreaterThan(0);
    expect(names.filter((name) => name.startsWith("tmp_"))).toEqual([]);
    for (const name of names.filter((other) => /\.(pack|idx)$/.test(other)))
      expect(statSync(join(packFolder(), name)).mode & 0o777).toBe(0o400);
    const objects = packs.flatMap((name) => sandbox.git(["verify-pack", "-v", join(packFolder(), name)]).split("\n"));
    // A turn's events and the agent's lines of it stand as the difference of one to the other.
    expect(objects.filter((line) => /^[0-9a-f]{40} blob( +\d+){4} /.test(line)).length).toBeGreaterThanOrEqual(60);
    const state = (store?: string): string =>
      [sandbox.git(["rev-parse", report!.branch], store), sandbox.git(["ls-tree", "-r", report!.branch], store)].join(
        "\n",
      );
    const before = state();
    const clone = join(sandbox.root, "clone");
    sandbox.git(["clone", "--quiet", "--no-local", "--branch", report!.branch, sandbox.store, clone], sandbox.root);
    sandbox.git(["fsck", "--strict", "--full"], clone);
    expect(state(clone)).toBe(before);
    for (const command of [
      ["fsck", "--strict", "--full"],
      ["repack", "-a", "-d", "-q"],
      ["gc", "--quiet", "--prune=now"],
    ]) {
      sandbox.git(command);
      expect(sandbox.git(["fsck", "--strict", "--full", "--no-dangling"])).toBe("");
      expect(state()).toBe(before);
    }
    const original = execFileSync(process.execPath, [BIN, "export", "--original"], {
      cwd: sandbox.project,
      env: sandbox.env,
      maxBuffer: 1 << 26,
    });
    expect(original.equals(largeSession(60))).toBe(true);
  });

  it("says that git could not write a pack, leaves no branch, and works when it is called again", {
    tags: ["slow"],
  }, async () => {
    await sandbox.jpg(["init"]);
    const file = sandbox.session("large.jsonl", largeSession(120));
    const command = `ulimit -f 1000 && exec "${process.execPath}" "${BIN}" import --json "${file}"`;
    const { status, stdout } = spawnSync("bash", ["-c", command], {
      cwd: sandbox.project,
      env: sandbox.env,
      encoding: "utf8",
    });
    expect(status).toBe(3);
    const { error } = JSON.parse(stdout) as { error: { code: string; message: string } };
    expect(error.code).toBe("git_failed");
    expect(error.message).toContain("`git fast-import --quiet` failed");
    expect(sandbox.git(["for-each-ref"])).toBe("");
    expect((await sandbox.json<{ status: string }[]>(["import", file]))[0]?.status).toBe("created");
  });
});
