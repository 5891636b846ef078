// A message of Cline's as what it says: blocks of Anthropic's Messages API, files that the user added, and what Cline itself put
// in a message of the user.

import type { ContentPart, EventMetadata } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import { toContent } from "../anthropic/content-parts.ts";
import { readAnswerBlock, readResultBlock, secretsOfBlock } from "../anthropic/read-blocks.ts";
import { isRecord, type RawLine, recordOf, stringOf } from "../json-line.ts";
import type { SaidEvent, SaidMessage } from "../request-body/said.ts";

/** Reads a message; one that is neither the user's nor the assistant's says nothing. */
export function readClineMessage(message: RawLine, id: string): SaidMessage {
  switch (message["role"]) {
    case "assistant":
      return { said: answersOf(message, id), isUsers: false };
    case "user":
      return readUsers(blocksOf(message));
    default:
      return { said: [], isUsers: false };
  }
}

function blocksOf(message: RawLine): readonly RawLine[] {
  const { content } = message;
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isRecord) : [];
}

function answersOf(message: RawLine, id: string): readonly SaidEvent[] {
  const made = recordOf(message, "modelInfo") ?? {};
  const model = stringOf(made, "id");
  const metadata: EventMetadata = {
    provider: stringOf(made, "provider") ?? "cline",
    ...defined({ model }),
    message_id: id,
  };
  const usage = usageOf(recordOf(message, "metrics"));
  return blocksOf(message).map((block, at) =>
    readAnswerBlock(block, {
      ...metadata,
      ...secretsOfBlock(block),
      ...(at === 0 && usage !== undefined && { usage }),
    }),
  );
}

/** Cline counts what was read from and written to the cache as input, too. */
function usageOf(metrics: RawLine | undefined): RawLine | undefined {
  if (metrics === undefined) return undefined;
  const count = (key: string): number => (typeof metrics[key] === "number" ? Number(metrics[key]) : 0);
  const [sent, cacheRead, cacheWrite] = [count("inputTokens"), count("cacheReadTokens"), count("cacheWriteTokens")];
  const rest = sent - cacheRead - cacheWrite;
  const cost = metrics["cost"];
  return {
    input: rest < 0 ? sent : rest,
    cacheRead,
    cacheWrite,
    output: count("outputTokens"),
    ...(typeof cost === "number" && { cost }),
  };
}

/** Results stand first; then what the user said; then what Cline added to it. */
function readUsers(blocks: readonly RawLine[]): SaidMessage {
  const results = blocks.filter(isResult);
  const notices = blocks.filter(isNotice);
  const own = blocks.filter((block) => !isResult(block) && !isNotice(block));
  const said: readonly SaidEvent[] = [
    ...results.map(readResultBlock),
    ...(own.length === 0 ? [] : [{ type: "chat_request" as const, content: contentOf(own) }]),
    ...notices.map((block): SaidEvent => {
      return { type: "chat_request", content: stringOf(block, "text") ?? "", metadata: { origin: "harness" } };
    }),
  ];
  return { said, isUsers: own.length > 0 };
}

function isResult(block: RawLine): boolean {
  return block["type"] === "tool_result";
}

function isNotice(block: RawLine): boolean {
  return block["type"] === "text" && (stringOf(block, "text") ?? "").startsWith("<SYSTEM_NOTICE>");
}

function contentOf(blocks: readonly RawLine[]): ReturnType<typeof toContent> {
  if (!blocks.some(isFile)) return toContent(blocks);
  return blocks.flatMap((block): readonly ContentPart[] => {
    if (isFile(block))
      return [{ type: "attachment", name: stringOf(block, "path") ?? "file", text: stringOf(block, "content") ?? "" }];
    const content = toContent([block]);
    return Array.isArray(content) ? content : [{ type: "text", text: content as string }];
  });
}

/** A file that the user named, as it was then. */
function isFile(block: RawLine): boolean {
  return block["type"] === "file" && typeof block["content"] === "string";
}
