// How long an agent waits for jpg's hook: the shell line that stands in its settings, run as the agent runs it.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { median } from "./measure.mjs";
import { createRow, ms } from "./row.mjs";

/** The limit stands for what an agent would notice, and for a slow machine. */
const LIMIT_MS = 30;

/** Measures a session of a usual size, which is copied, and a large one, which is linked. */
export async function benchHooks(sandbox, { runs, megabytes }) {
  const home = sandbox.newPath("hook-home");
  mkdirSync(home);
  const env = { ...sandbox.env, HOME: home };
  await sandbox.jpg(["hooks", "install", "claude-code", "--quiet"], { env });
  const state = join(home, ".local/state/jpg");
  const script = join(state, "hooks/keep.sh");
  // What is imported behind the agent's back is not waited for, and would be in the way of the next run.
  writeFileSync(script, readFileSync(script, "utf8").replace(/^node='.*?' /m, "node=/bin/true "));
  const settings = JSON.parse(readFileSync(join(home, ".claude/settings.json"), "utf8"));
  const line = settings.hooks.PreCompact[0].hooks[0].command;
  return megabytes.map((size) => {
    const session = sandbox.newPath("session.jsonl");
    writeFileSync(session, Buffer.alloc(size * 1_000_000, "x"));
    const input = JSON.stringify({ session_id: "s", transcript_path: session, cwd: home });
    const times = Array.from({ length: runs }, () => timeHook(line, { input, env, spool: join(state, "spool") }));
    return createRow(`hook-${size}mb`, `an agent waits for the hook, session of ${size} MB`, {
      value: Math.min(...times),
      unit: "ms",
      limit: { atMost: LIMIT_MS },
      detail: `best of ${runs}; median ${ms(median(times))}`,
    });
  });
}

function timeHook(line, { input, env, spool }) {
  const began = performance.now();
  const { status } = spawnSync("/bin/sh", ["-c", line], { input, env });
  const lasted = performance.now() - began;
  if (status !== 0) throw new Error(`the hook ended with ${status}`);
  // The copy that is made behind the agent's back is let end, and goes.
  const [name] = readdirSync(spool);
  while (!existsSync(join(spool, name, "ready"))) spawnSync("sleep", ["0.01"]);
  rmSync(join(spool, name), { recursive: true });
  return lasted;
}
