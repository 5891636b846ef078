// Any of the real agents, where this machine has them (JPG_AGENTS_DIR, and the runner in ../shared or JPG_CORPUS): lets it resume
// a session, offline, and says what it sent to its model.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { sharedFolder } from "./corpus.ts";
import type { SentMessage } from "./normalizer.ts";
import { agentsFolder } from "./real-agent.ts";
import { resumeCopilot } from "./real-copilot.ts";

const run = promisify(execFile);
const runner = join(sharedFolder, "agents", "resume.mjs");

/** Why tests with these real agents cannot run; null when they can. */
export function missingAgents(names: readonly string[]): string | null {
  const absent = names.filter((name) => agentsFolder === undefined || !existsSync(join(agentsFolder, folderOf(name))));
  if (absent.length === 0 && existsSync(runner)) return null;
  return `set JPG_AGENTS_DIR to a folder with ${names.join(", ")}, and JPG_CORPUS for their runner`;
}

function folderOf(name: string): string {
  return name === "copilot-cli" ? "copilot" : name;
}

/** Lets an agent take a prompt in a copy of a session, and gives what it sent, prompt and injected words among it. */
export async function resumeIn(
  agent: string,
  path: string,
  { prompt, model }: { readonly prompt: string; readonly model: string },
): Promise<readonly SentMessage[]> {
  if (agent === "copilot-cli") return (await resumeCopilot(await readFile(path, "utf8"), { prompt })).withPrompt;
  const folder = await mkdtemp(join(tmpdir(), "jpg-resume-"));
  try {
    const out = join(folder, "sent.json");
    const options = ["--agents", agentsFolder ?? "", "--prompt", prompt, "--model", model, "--json", "--out", out];
    await run(process.execPath, [runner, agent, path, ...options], { maxBuffer: 1 << 28 });
    return (JSON.parse(await readFile(out, "utf8")) as { messages: readonly SentMessage[] }).messages;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
