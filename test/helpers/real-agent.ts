// The real Claude Code, where this machine has it (JPG_AGENTS_DIR, and the runner in ../shared or JPG_CORPUS): lets it go on in
// a session, offline, and says what it sent to its model.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { sharedFolder } from "./corpus.ts";
import { type SentBlock, type SentMessage, sentHistory } from "./normalizer.ts";

const run = promisify(execFile);
const tools = join(sharedFolder, "agents");
const agents = process.env["JPG_AGENTS_DIR"] ?? "";

/** The folder with the real agents; undefined when the variable is not set, or empty, which means the same. */
export const agentsFolder: string | undefined = agents === "" ? undefined : agents;

/** Why tests with the real agent cannot run; null when they can. */
export const agentMissing: string | null =
  agents !== "" && existsSync(join(tools, "resume.mjs"))
    ? null
    : "set JPG_AGENTS_DIR to a folder with the real agents, and JPG_CORPUS for their runner";

interface Resumed {
  /** What the agent sent, with the prompt. */
  readonly withPrompt: readonly SentMessage[];
  /** The same without the prompt. */
  readonly sent: readonly SentMessage[];
}

/** Lets the agent take a prompt in a copy of a session, and puts the session that it left in the file's place. */
export async function letAgentGoOn(
  path: string,
  { prompt, model }: { prompt: string; model: string },
): Promise<Resumed> {
  const folder = await mkdtemp(join(tmpdir(), "jpg-e2e-"));
  const out = join(folder, "sent.json");
  const options = ["--agents", agents, "--prompt", prompt, "--model", model, "--json", "--out", out, "--keep"];
  const { stderr } = await run(process.execPath, [join(tools, "resume.mjs"), "claude-code", path, ...options]);
  const kept = /^kept: (.*)$/m.exec(stderr)?.[1] ?? "";
  const session = join(kept, "work/session");
  const left = (await readdir(session)).filter((file) => file === basename(path));
  await writeFile(path, await readFile(join(session, left[0] ?? "")));
  const { messages } = JSON.parse(await readFile(out, "utf8")) as { messages: readonly SentMessage[] };
  await Promise.all([folder, kept].map((at) => rm(at, { recursive: true, force: true, maxRetries: 5 })));
  const unmarked = messages.map((message) => ({
    ...message,
    blocks: message.blocks.map(({ prompt: _, ...block }) => block as SentBlock),
  }));
  return {
    sent: await sentHistory(messages, { isShaped: true }),
    withPrompt: await sentHistory(unmarked, { isShaped: true }),
  };
}
