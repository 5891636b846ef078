// The real Gemini CLI, where this machine has it (JPG_AGENTS_DIR, and the runner in ../shared or JPG_CORPUS): lets it go on in a
// session, offline, and says what it sent to its model.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { sharedFolder } from "./corpus.ts";
import { type SentBlock, type SentMessage, sentHistory } from "./normalizer.ts";
import { agentsFolder } from "./real-agent.ts";

const run = promisify(execFile);
const runner = join(sharedFolder, "agents", "resume.mjs");
const program = join(agentsFolder ?? "", "gemini-cli", "node_modules", ".bin", "gemini");

/** Why tests with the real Gemini CLI cannot run; null when they can. */
export const geminiMissing: string | null =
  agentsFolder !== undefined && existsSync(program) && existsSync(runner)
    ? null
    : "set JPG_AGENTS_DIR to a folder with the real agents, Gemini CLI among them, and JPG_CORPUS for their runner";

interface Resumed {
  /** What the agent sent, with the prompt. */
  readonly withPrompt: readonly SentMessage[];
  /** The same without the prompt. */
  readonly sent: readonly SentMessage[];
  /** The session as it left it: lines, whatever it was. */
  readonly after: string;
  /** What it wrote beside it for the time that it was open. */
  readonly beside: readonly string[];
}

/** Lets Gemini CLI take a prompt in a copy of a session; the file itself stays as it is. */
export async function resumeInGemini(
  path: string,
  { prompt = "continue" }: { readonly prompt?: string } = {},
): Promise<Resumed> {
  const folder = await mkdtemp(join(tmpdir(), "jpg-gemini-"));
  const out = join(folder, "sent.json");
  const options = ["--agents", agentsFolder ?? "", "--prompt", prompt, "--json", "--out", out, "--keep"];
  const { stderr } = await run(process.execPath, [runner, "gemini-cli", path, ...options], { maxBuffer: 1 << 28 });
  const kept = /^kept: (.*)$/m.exec(stderr)?.[1] ?? "";
  const chats = join(kept, "home/.gemini/tmp/project/chats");
  // The runner gives the session a name of that minute.
  const names = (await readdir(chats)).filter((name) => name.endsWith(".jsonl"));
  const [own = "", ...others] = [...names].sort((a, b) => Number(isOwn(b)) - Number(isOwn(a)));
  const texts = await Promise.all([own, ...others].map((name) => readFile(join(chats, name), "utf8")));
  const { messages } = JSON.parse(await readFile(out, "utf8")) as { messages: readonly SentMessage[] };
  await Promise.all([folder, kept].map((at) => rm(at, { recursive: true, force: true, maxRetries: 5 })));
  const unmarked = messages.map((message) => ({
    ...message,
    blocks: message.blocks.map(({ prompt: _, ...block }) => block as SentBlock),
  }));
  const [after = "", ...beside] = texts;
  return {
    sent: plain(await sentHistory(messages, { isShaped: true, agent: "gemini-cli" })),
    withPrompt: plain(await sentHistory(unmarked, { isShaped: true, agent: "gemini-cli" })),
    after,
    beside,
  };
}

/** Lets it take a prompt in a session, and puts what it left in the file's place. */
export async function continueInGemini(path: string, options: { readonly prompt: string }): Promise<Resumed> {
  const resumed = await resumeInGemini(path, options);
  await writeFile(path, resumed.after);
  return resumed;
}

function isOwn(name: string): boolean {
  return name.startsWith("session-2026-01-02T03-04-");
}

/**
 * What is said, without what the agent adds when it resumes a session: its stand-in for signatures, the mark of what is no
 * thought, and results once more, which it has kept twice. Ids, by which calls and results belong together, are checked.
 */
export function plain(messages: readonly SentMessage[]): readonly SentMessage[] {
  return messages.map(({ role, blocks }) => {
    const seen = new Set<unknown>();
    const once = blocks.filter(({ type, id }) => {
      if (type !== "tool_result" || id === null || id === undefined) return true;
      return !seen.has(id) && seen.add(id) !== undefined;
    });
    return { role, blocks: once.map(({ id: _, signature: __, ...block }) => block as SentBlock) };
  });
}
