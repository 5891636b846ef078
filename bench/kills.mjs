// Kills queries at random moments, from the start of the process to the end of its commit, and looks for what their readers
// had been shown: all of it must be in the conversation, once, after the next command.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startModelServer } from "./model-server.mjs";
import { createRow } from "./row.mjs";

const PIECES = 120;

/** Measures nothing: counts what was lost of what was shown, which must be nothing. */
export async function benchKills(sandbox, { runs }) {
  const server = await startModelServer(answer);
  const folder = sandbox.newPath("kills");
  mkdirSync(join(folder, "jpg"), { recursive: true });
  const config = `[conversation]\nmodel = "bench/model-1"\n[providers.bench]\nbase_url = "${server.url}/v1"\napi_key = "bench"\n`;
  writeFileSync(join(folder, "jpg/config.toml"), config);
  const env = { ...sandbox.env, XDG_CONFIG_HOME: folder };
  const store = sandbox.newPath("store");
  const jpg = (args) => sandbox.jpg([...args, "--store", store], { env });
  const git = async (args) => (await sandbox.run("git", ["-C", store, ...args], { env })).output;
  const shown = new Map();
  const counts = { finished: 0, silent: 0, bytes: 0 };
  const lost = [];
  const twice = [];
  try {
    await jpg(["init", store]);
    const usual = await time(() => jpg(["query", "how long does it take?"]));
    for (let run = 0; run < runs; run++) {
      const killAfterMs = usual * (0.3 + 0.8 * Math.random());
      const result = await start(sandbox, ["query", "--store", store, `run ${run}`], { env, killAfterMs });
      shown.set(run, result.shown.trimEnd());
      counts.bytes += result.shown.length;
      if (result.code === 0) counts.finished++;
      if (result.shown === "") counts.silent++;
      // Whoever comes next commits it; two at a time must not commit it twice.
      await Promise.all(["ls", "path"].map((command) => start(sandbox, [command, "--store", store], { env })));
    }
    const turns = await textsByRun(git);
    for (const [run, text] of shown) {
      const kept = turns.get(run) ?? [];
      if (kept.length > 1) twice.push(run);
      if (text !== "" && !(kept[0] ?? "").startsWith(text)) lost.push(run);
    }
    await git(["fsck", "--no-progress"]);
    await jpg(["check"]);
  } finally {
    server.close();
  }
  const detail = `${counts.finished} had ended, ${counts.silent} had shown nothing; ${counts.bytes} bytes shown`;
  return [
    createRow("kills-lost", `answers shown and lost, of ${runs} random kills`, {
      value: lost.length,
      unit: "",
      limit: { atMost: 0 },
      detail: lost.length === 0 ? detail : `${detail}; lost: runs ${lost.join(", ")}`,
    }),
    createRow("kills-twice", "turns committed twice", { value: twice.length, unit: "", limit: { atMost: 0 } }),
  ];
}

/** An answer in pieces that tell where they stand, at uneven intervals. */
async function* answer() {
  for (let piece = 0; piece < PIECES; piece++) {
    yield `piece ${piece} ${"~".repeat(Math.floor(Math.random() * 40))}\n`;
    if (Math.random() < 0.5) await new Promise((resolve) => setTimeout(resolve, Math.random() * 8));
  }
}

/** Runs jpg to its end, or kills it; gives what it had printed by then. */
function start(sandbox, args, { env, killAfterMs = Number.POSITIVE_INFINITY }) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [sandbox.bin, ...args], { env, stdio: ["ignore", "pipe", "ignore"] });
    let shown = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      shown += text;
    });
    const timer =
      killAfterMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfterMs);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ shown, code });
    });
  });
}

/** The messages of each turn on any branch, by the number of the run in its request. */
async function textsByRun(git) {
  const texts = new Map();
  const log = await git(["log", "--all", "--format=%H %s"]);
  for (const [, commit, run] of log.matchAll(/^(\S+) turn \d+: run (\d+)$/gm)) {
    const path = (await git(["show", "--format=", "--name-only", commit, "--", "turns"])).trim();
    const lines = (await git(["show", `${commit}:${path}`])).split("\n").filter((line) => line !== "");
    const messages = lines.map((line) => JSON.parse(line).message ?? "").filter((text) => text !== "");
    texts.set(Number(run), [...(texts.get(Number(run)) ?? []), messages.join("\n\n")]);
  }
  return texts;
}

async function time(run) {
  const start = performance.now();
  await run();
  return performance.now() - start;
}
