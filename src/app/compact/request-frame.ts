// What all requests of a conversation have beside its view. A request that is to find what the provider keeps of the others has
// just the same.
import type { ToolDefinition } from "../../core/conversation/defined-tools.ts";
import type { LlmRequest } from "../../llm/client.ts";

export type RequestFrame = Pick<LlmRequest, "system" | "tools" | "cache">;

/** Frames the requests of a conversation; `system`: "" = none. */
export function requestFrame(system: string, tools: readonly ToolDefinition[]): RequestFrame {
  return { cache: true, ...(system === "" ? {} : { system }), ...(tools.length === 0 ? {} : { tools }) };
}
