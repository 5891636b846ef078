// Rule A9 of the Anthropic Messages API: a call that the provider runs itself (web search, MCP servers of the API) and its
// result stand in one message of the assistant, the call first.
import { appendAll } from "../append-all.ts";
import type { AnthropicChecked, PlacedBlock, PlacedMessage } from "./anthropic-messages.ts";
import type { Breach, Rule } from "./rule.ts";
import { isServerCall, isServerResult } from "./server-blocks.ts";

function* halves({ dialogue, all }: AnthropicChecked): Generator<Breach> {
  for (const blocks of assistantRuns(dialogue)) {
    const open = new Map<unknown, PlacedBlock>();
    for (const placed of blocks) {
      const { value, position } = placed;
      if (isServerCall(value)) open.set(value["id"], placed);
      else if (isServerResult(value) && !open.delete(value["tool_use_id"])) {
        const message = `${String(value["type"])} ${idText(value["tool_use_id"])} answers no call of its message before it.`;
        yield { position, message };
      }
    }
    // A turn that was paused goes on where it stopped.
    if (blocks.at(-1)?.position.message === all.length - 1) continue;
    for (const { value, position } of open.values())
      yield { position, message: `${String(value["type"])} ${idText(value["id"])} has no result in its message.` };
  }
}

/** The blocks of the assistant's messages; those in a row are one, as the API joins them. */
function assistantRuns(dialogue: readonly PlacedMessage[]): readonly (readonly PlacedBlock[])[] {
  const runs: PlacedBlock[][] = [];
  for (const [at, { role, index, blocks }] of dialogue.entries()) {
    if (role !== "assistant") continue;
    const placed = blocks.map((value, block) => ({ value, position: { message: index, block } }));
    const open = dialogue[at - 1]?.role === "assistant" ? runs.at(-1) : undefined;
    if (open === undefined) runs.push(placed);
    else appendAll(open, placed);
  }
  return runs;
}

function idText(id: unknown): string {
  return JSON.stringify(id ?? null);
}

/** Rule A9. */
export const ANTHROPIC_SERVER_TOOL_RULE: Rule<AnthropicChecked> = { id: "A9", severity: "error", find: halves };
