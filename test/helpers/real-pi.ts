// The real pi, where this machine has it (JPG_AGENTS_DIR, and the runner in ../shared or JPG_CORPUS): lets it go on in a session,
// offline, and says what it sent to its model.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { sharedFolder } from "./corpus.ts";
import { type SentBlock, type SentMessage, sentHistory } from "./normalizer.ts";
import { agentsFolder } from "./real-agent.ts";

const run = promisify(execFile);

interface Resumed {
  /** What the agent sent, with the prompt. */
  readonly withPrompt: readonly SentMessage[];
  /** The same without the prompt. */
  readonly sent: readonly SentMessage[];
}

/** Lets pi take a prompt in a copy of a session, and puts the session that it left in the file's place. */
export async function letPiGoOn(path: string, { prompt }: { readonly prompt: string }): Promise<Resumed> {
  const folder = await mkdtemp(join(tmpdir(), "jpg-e2e-"));
  const out = join(folder, "sent.json");
  const options = ["--agents", agentsFolder ?? "", "--prompt", prompt, "--json", "--out", out, "--keep"];
  const { stderr } = await run(process.execPath, [join(sharedFolder, "agents/resume.mjs"), "pi", path, ...options]);
  const kept = /^kept: (.*)$/m.exec(stderr)?.[1] ?? "";
  const before = await readFile(path, "utf8");
  const after = await readFile(join(kept, "work/session.jsonl"), "utf8");
  // The runner names another directory in the copy's header: pi wants one that is there.
  const header = { ...headerOf(after), cwd: headerOf(before)["cwd"] };
  await writeFile(path, `${JSON.stringify(header)}${after.slice(after.indexOf("\n"))}`);
  const { messages } = JSON.parse(await readFile(out, "utf8")) as { messages: readonly SentMessage[] };
  await Promise.all([folder, kept].map((at) => rm(at, { recursive: true, force: true, maxRetries: 5 })));
  const unmarked = messages.map((message) => ({
    ...message,
    blocks: message.blocks.map(({ prompt: _, ...block }) => block as SentBlock),
  }));
  return {
    sent: await sentHistory(messages, { isShaped: true, agent: "pi" }),
    withPrompt: await sentHistory(unmarked, { isShaped: true, agent: "pi" }),
  };
}

function headerOf(text: string): Record<string, unknown> {
  return JSON.parse(text.slice(0, text.indexOf("\n"))) as Record<string, unknown>;
}
