// The runner's way to compare what two sides send: messages of an API in one shape, without what is not the conversation's.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { sharedFolder } from "./corpus.ts";

/** One block of a message in the shape of the runner, as far as tests look into it. */
export interface SentBlock {
  readonly type: string;
  readonly text?: string;
  readonly name?: string;
  readonly kind?: string;
  readonly content?: readonly SentBlock[];
  readonly [more: string]: unknown;
}

export interface SentMessage {
  readonly role: string;
  readonly blocks: readonly SentBlock[];
}

interface Normalizer {
  normalize(messages: unknown, options: { agent: string; prompt?: string; api: string }): readonly SentMessage[];
  history(messages: readonly SentMessage[]): readonly SentMessage[];
}

/** The API that an agent sends its messages to. */
const APIS = {
  "claude-code": "anthropic-messages",
  codex: "openai-responses",
  opencode: "openai-chat",
  pi: "anthropic-messages",
  "gemini-cli": "gemini",
} as const;

/**
 * The conversation in messages of an API, as an agent sends them, Claude Code where none is named; `prompt` = one that the
 * recording added, left out. `isShaped` = the messages are in the runner's shape already.
 */
export async function sentHistory(
  messages: unknown,
  {
    agent = "claude-code",
    prompt,
    isShaped = false,
  }: { readonly agent?: keyof typeof APIS; readonly prompt?: string; readonly isShaped?: boolean } = {},
): Promise<readonly SentMessage[]> {
  const tool = (await import(pathToFileURL(join(sharedFolder, "agents", "normalize.mjs")).href)) as Normalizer;
  const options = { agent, api: APIS[agent], ...(prompt === undefined ? {} : { prompt }) };
  return tool.history(isShaped ? (messages as readonly SentMessage[]) : tool.normalize(messages, options));
}
