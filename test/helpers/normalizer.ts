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

/**
 * The conversation in messages of Anthropic's API, as an agent sends them; `prompt` = one that the recording added, left out.
 * `isShaped` = the messages are in the runner's shape already.
 */
export async function sentHistory(
  messages: unknown,
  {
    prompt,
    isShaped = false,
    agent = "claude-code",
  }: { readonly prompt?: string; readonly isShaped?: boolean; readonly agent?: "claude-code" | "pi" } = {},
): Promise<readonly SentMessage[]> {
  const tool = (await import(pathToFileURL(join(sharedFolder, "agents", "normalize.mjs")).href)) as Normalizer;
  const options = { agent, api: "anthropic-messages", ...(prompt === undefined ? {} : { prompt }) };
  return tool.history(isShaped ? (messages as readonly SentMessage[]) : tool.normalize(messages, options));
}
