// The real Codex, where this machine has it (JPG_AGENTS_DIR, and the runner in ../shared or JPG_CORPUS): lets it go on in a
// session, offline, and says what it sent to its model.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { sharedFolder } from "./corpus.ts";
import { type SentMessage, sentHistory } from "./normalizer.ts";
import { agentsFolder } from "./real-agent.ts";

const run = promisify(execFile);
const runner = join(sharedFolder, "agents", "resume.mjs");
const program = join(agentsFolder ?? "", "codex", "node_modules", ".bin", "codex");

/** Why tests with the real Codex cannot run; null when they can. */
export const codexMissing: string | null =
  agentsFolder !== undefined && existsSync(program) && existsSync(runner)
    ? null
    : "set JPG_AGENTS_DIR to a folder with the real agents, Codex among them, and JPG_CORPUS for their runner";

interface Resumed {
  /** What it sent, without the prompt and its own words. */
  readonly sent: readonly SentMessage[];
  /** The session as it left it. */
  readonly after: string;
}

/** Lets Codex take a prompt in a copy of a session; the file itself stays as it is. */
export async function resumeInCodex(
  path: string,
  { prompt = "continue", model }: { readonly prompt?: string; readonly model: string },
): Promise<Resumed> {
  const folder = await mkdtemp(join(tmpdir(), "jpg-codex-"));
  const out = join(folder, "sent.json");
  const options = [
    "--agents",
    agentsFolder ?? "",
    "--prompt",
    prompt,
    "--model",
    model,
    "--raw",
    "--out",
    out,
    "--keep",
  ];
  const { stderr } = await run(process.execPath, [runner, "codex", path, ...options], { maxBuffer: 1 << 28 });
  const kept = /^kept: (.*)$/m.exec(stderr)?.[1] ?? "";
  const sessions = join(kept, "home", ".codex", "sessions");
  const [left] = (await readdir(sessions, { recursive: true })).filter((name) => name.endsWith(".jsonl"));
  const after = await readFile(join(sessions, left ?? ""), "utf8");
  const sent = await sentHistory(JSON.parse(await readFile(out, "utf8")), { agent: "codex", prompt });
  await Promise.all([folder, kept].map((at) => rm(at, { recursive: true, force: true, maxRetries: 5 })));
  return { sent, after };
}

/** Lets Codex take a prompt in a session, and puts what it left in the file's place. */
export async function continueInCodex(
  path: string,
  options: { readonly prompt: string; readonly model: string },
): Promise<readonly SentMessage[]> {
  const { sent, after } = await resumeInCodex(path, options);
  await writeFile(path, after);
  return sent;
}
