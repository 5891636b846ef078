// The real Copilot CLI, where this machine has it (JPG_AGENTS_DIR, and the mock server in ../shared or JPG_CORPUS): lets it go on in a
// session, offline, and says what it sent to its model.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { SentBlock, SentMessage } from "./normalizer.ts";
import { hasAgent, runAgent, startModel } from "./run-agent.ts";

/** Why tests with the real Copilot CLI cannot run; null when they can. */
export const copilotMissing: string | null = hasAgent("copilot-cli")
  ? null
  : "set JPG_AGENTS_DIR to a folder with copilot, and JPG_CORPUS for the mock server";

interface Resumed {
  /** What the agent sent, without the prompt. */
  readonly sent: readonly SentMessage[];
  /** The same with the prompt. */
  readonly withPrompt: readonly SentMessage[];
  /** The session's file afterwards. */
  readonly file: string;
}

/** Lets Copilot CLI take a prompt in a copy of a session. */
export async function resumeCopilot(text: string, { prompt }: { readonly prompt: string }): Promise<Resumed> {
  const root = mkdtempSync(join(tmpdir(), "jpg-copilot-"));
  const mock = await startModel();
  try {
    const place = { home: join(root, "home"), project: join(root, "project"), env: { HOME: join(root, "home") } };
    const id = /"sessionId":"([^"]+)"/.exec(text)?.[1] ?? "";
    const path = join(place.home, ".copilot", "session-state", id, "events.jsonl");
    mkdirSync(dirname(path), { recursive: true });
    mkdirSync(place.project, { recursive: true });
    writeFileSync(path, text);
    await runAgent("copilot-cli", place, mock, [`--resume=${id}`, "-p", prompt, "--allow-all-tools", "--no-color"]);
    const withPrompt = sentMessages(mock.records.map(({ body }) => body).find(isRequest));
    return { sent: withoutPrompt(withPrompt, prompt), withPrompt, file: readFileSync(path, "utf8") };
  } finally {
    await mock.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Lets it take a prompt, and puts the session that it left in the file's place. */
export async function letCopilotGoOn(path: string, options: { readonly prompt: string }): Promise<Resumed> {
  const resumed = await resumeCopilot(readFileSync(path, "utf8"), options);
  writeFileSync(path, resumed.file);
  return resumed;
}

interface RequestBody {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

function isRequest(body: unknown): body is RequestBody {
  return typeof body === "object" && body !== null && "messages" in body;
}

/** Messages of the Anthropic API in the shape that tests compare: no blank texts, neighbours of one role joined, results as texts. */
export function sentMessages(body: { readonly messages: readonly unknown[] } | undefined): readonly SentMessage[] {
  const messages: { readonly role: string; readonly blocks: SentBlock[] }[] = [];
  for (const { role, content } of (body?.messages ?? []) as RequestBody["messages"]) {
    const blocks = (typeof content === "string" ? [{ type: "text", text: content }] : (content as SentBlock[]))
      .map(asCompared)
      .filter(({ type, text }) => type !== "text" || text !== "");
    const last = messages.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else if (blocks.length > 0) messages.push({ role, blocks });
  }
  return messages;
}

function asCompared({ cache_control: _, is_error: __, ...block }: SentBlock): SentBlock {
  if (block.type === "text") return { type: "text", text: (block.text ?? "").trim() };
  if (block.type !== "tool_result") return block;
  const content = block.content as unknown;
  const texts = typeof content === "string" ? [content] : ((content ?? []) as SentBlock[]).map(({ text = "" }) => text);
  return { type: "tool_result", tool_use_id: block["tool_use_id"], text: texts.join("").trim() };
}

/** The prompt follows a date that Copilot CLI adds. */
function withoutPrompt(messages: readonly SentMessage[], prompt: string): readonly SentMessage[] {
  const last = messages.at(-1);
  const isPrompt = last?.blocks.at(-1)?.text?.endsWith(`</current_datetime>\n\n${prompt}`) === true;
  if (last === undefined || !isPrompt) return messages;
  const blocks = last.blocks.slice(0, -1);
  return [...messages.slice(0, -1), ...(blocks.length === 0 ? [] : [{ ...last, blocks }])];
}
