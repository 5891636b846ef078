// Hardening that looks at whole messages: reasoning that lost what it led to, and the two ends of the list.
import { defined } from "../defined.ts";
import type { Event } from "../event/event.ts";
import type { View } from "../projection/view.ts";
import { toBlocks } from "./anthropic-blocks.ts";
import type { CallPlan } from "./anthropic-calls.ts";
import { isWholeServerCall, type ServerCalls } from "./anthropic-server-calls.ts";
import type { HardeningStep, ThreadBlock, ThreadMessage } from "./thread.ts";

/** Stands before an assistant message that would be the first (A12). */
const OPENING: ThreadBlock = { block: { type: "text", text: "[Earlier messages are not shown.]" } };

/** Stands after an assistant message that would be the last of a request (A14). */
const CLOSING: ThreadBlock = { block: { type: "text", text: "[No new message.]" } };

/** Ids of the assistant messages that are sent something other than reasoning. */
export function findSpokenMessages(view: View, plan: CallPlan, serverCalls: ServerCalls): ReadonlySet<string> {
  const spoken = new Set<string>();
  for (const turn of view.turns) {
    for (const event of turn.events) {
      const id = event.metadata?.message_id;
      if (id !== undefined && isSpoken(event, plan, serverCalls)) spoken.add(id);
    }
  }
  return spoken;
}

function isSpoken(event: Event, plan: CallPlan, serverCalls: ServerCalls): boolean {
  if (event.type === "tool_call_request") return plan.results.has(event);
  if (event.type !== "chat_response" || event.reasoning !== undefined) return false;
  if (event.message === undefined) return true;
  const { blocks } = toBlocks(event.message); // blank texts are none
  return blocks.some((block) => isWholeServerCall(block, event.metadata?.message_id, serverCalls));
}

/** Makes the list start with the user (A12), and not end in reasoning (A16) or in white space after the assistant (A15). */
export function hardenEnds(messages: readonly ThreadMessage[], hardening: HardeningStep[]): readonly ThreadMessage[] {
  const ended = hardenEnd(messages, hardening);
  if (ended[0] === undefined || ended[0].role === "user") return ended;
  hardening.push({ rule: "A12", action: "added" });
  return [{ role: "user", blocks: [OPENING] }, ...ended];
}

/** Makes a list that is sent as it stands end with the user: newer models take no beginning of an answer (A14). */
export function endWithUser(messages: readonly ThreadMessage[], hardening: HardeningStep[]): readonly ThreadMessage[] {
  if (messages.findLast(({ role }) => role !== "system")?.role !== "assistant") return messages;
  hardening.push({ rule: "A14", action: "added" });
  return [...messages, { role: "user", blocks: [CLOSING] }];
}

function hardenEnd(messages: readonly ThreadMessage[], hardening: HardeningStep[]): readonly ThreadMessage[] {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return messages;
  const spoken = last.blocks.findLastIndex(({ block }) => !isThinking(block["type"])) + 1;
  for (const { event } of last.blocks.slice(spoken)) {
    hardening.push({ rule: "A16", action: "dropped", ...defined({ event }) });
  }
  if (spoken === 0) return messages.slice(0, -1);
  const blocks = [
    ...last.blocks.slice(0, spoken - 1),
    ...last.blocks.slice(spoken - 1, spoken).map((block) => trimEnd(block, hardening)),
  ];
  return [...messages.slice(0, -1), { role: "assistant", blocks }];
}

function isThinking(type: unknown): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

function trimEnd(block: ThreadBlock, hardening: HardeningStep[]): ThreadBlock {
  const text = block.block["text"];
  if (block.block["type"] !== "text" || typeof text !== "string" || text.trimEnd() === text) return block;
  hardening.push({ rule: "A15", action: "changed", ...defined({ event: block.event }) });
  return { ...block, block: { ...block.block, text: text.trimEnd() } };
}
