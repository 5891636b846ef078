// Blocks of the Anthropic Messages API that belong to calls which the provider runs itself.
import type { AnthropicBlock } from "./anthropic-messages.ts";

const CALL = /^(?:server|mcp)_tool_use$/;
const RESULT = /^\w+_tool_result$/;

/** Whether a block is a call that the provider runs itself. */
export function isServerCall({ type }: AnthropicBlock): boolean {
  return CALL.test(String(type));
}

/** Whether a block is the result of such a call. */
export function isServerResult({ type }: AnthropicBlock): boolean {
  return RESULT.test(String(type));
}
