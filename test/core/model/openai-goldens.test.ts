// What OpenCode and Codex sent, read into events one by one and rendered again, must be what they sent.

import { describe, expect, it } from "vitest";
import type { Event, View } from "../../../src/core/conversation/event.ts";
import { toOpenAiChatThread } from "../../../src/core/model/openai-chat-thread.ts";
import { toOpenAiResponsesThread } from "../../../src/core/model/openai-responses-thread.ts";
import { corpusMissing, listGoldens, readGolden } from "../../helpers/corpus.ts";

type Item = Readonly<Record<string, unknown>>;

/** Events without id and time, each in the turn that its request opens. */
function viewOf(bare: readonly object[]): View {
  const events = bare.map((event, at) => ({ id: `e${at}`, timestamp: "2026-03-01T09:00:00Z", ...event }) as Event);
  const turns: Event[][] = [];
  for (const event of events) {
    if (event.type === "chat_request" || turns.length === 0) turns.push([]);
    turns.at(-1)!.push(event);
  }
  return { turns: turns.map((list, turn) => ({ origin: { kind: "kept", turn }, events: list })) };
}

function fromChat({ role, content, tool_calls = [], tool_call_id }: Item, message_id: string): readonly object[] {
  const metadata = { message_id };
  if (role === "tool") return [{ type: "tool_call_response", call_id: tool_call_id, content, is_error: false }];
  if (role !== "assistant") return [{ type: "chat_request", role, content }];
  const calls = (tool_calls as { id: string; function: { name: string; arguments: string } }[]).map((call) => ({
    type: "tool_call_request",
    call_id: call.id,
    name: call.function.name,
    arguments: call.function.arguments,
    metadata,
  }));
  return [...(content === "" ? [] : [{ type: "chat_response", message: content, metadata }]), ...calls];
}

function fromResponses(item: Item): readonly object[] {
  const { type, role, content, call_id, name, output } = item;
  switch (type) {
    case "message": {
      const parts = (content as Item[]).map(({ text }) => ({ type: "text", text }));
      const metadata = { provider: "openai", phase: item["phase"] };
      if (role === "assistant") return [{ type: "chat_response", message: parts, metadata }];
      return [{ type: "chat_request", role, content: parts }];
    }
    case "reasoning":
      return [
        {
          type: "chat_response",
          reasoning: "",
          metadata: { provider: "openai", encrypted: item["encrypted_content"] },
        },
      ];
    case "function_call":
      return [{ type: "tool_call_request", call_id, name, arguments: item["arguments"] }];
    case "custom_tool_call":
      return [
        { type: "tool_call_request", call_id, name, arguments: item["input"], metadata: { call_type: "custom" } },
      ];
    case "function_call_output":
    case "custom_tool_call_output":
      return [{ type: "tool_call_response", call_id, content: textOf(output), is_error: false }];
    default: {
      const part = [{ type: "opaque", provider: "openai", value: item }];
      return [
        type === "compaction" ? { type: "chat_request", content: part } : { type: "chat_response", message: part },
      ];
    }
  }
}

function textOf(output: unknown): unknown {
  return Array.isArray(output) ? output.map(({ text }) => text).join("\n") : output;
}

/** What counts of an item: not its ids, nor what the agent adds for its own use. */
function bare({ id: _, internal_chat_message_metadata_passthrough: __, ...item }: Item): Item {
  const { type, status, content, output, ...rest } = item;
  return {
    type,
    ...rest,
    ...(type !== "reasoning" && { content }),
    ...(type !== "custom_tool_call" && { status }),
    output: textOf(output),
  };
}

describe.skipIf(corpusMissing !== null)("goldens of OpenAI's APIs (need ../shared/goldens or JPG_CORPUS)", () => {
  it.each(listGoldens("opencode"))("are rendered as OpenCode sent them: $golden", ({ golden }) => {
    const messages = readGolden(golden) as Item[];
    const view = viewOf(messages.flatMap((message, at) => fromChat(message, `m${at}`)));
    const { items, hardening } = toOpenAiChatThread(view);
    expect(hardening).toEqual([]);
    expect(items.map(({ item }) => item)).toEqual(messages);
  });

  it.each(listGoldens("codex"))("are rendered as Codex sent them: $golden", ({ golden, model }) => {
    const sent = readGolden(golden) as Item[];
    const { items, hardening } = toOpenAiResponsesThread(viewOf(sent.flatMap(fromResponses)), { model });
    expect(hardening).toEqual([]);
    expect(items.map(({ item }) => bare(item))).toEqual(sent.map(bare));
  });
});
