// What people read for the kinds that tokens are counted by: the same words on every page and in every report.

const PART_NAMES: Readonly<Record<string, string>> = {
  overhead: "system prompt and tools",
  system: "system prompt",
  tools: "tool definitions",
  requests: "your requests",
  user: "your requests",
  messages: "answers",
  assistant: "answers",
  calls: "tool calls",
  tool_calls: "tool calls",
  results: "tool results",
  tool_results: "tool results",
  harness: "added by the agent",
  index: "index of what is hidden",
};

/** Names a kind of content for people; JSON documents keep the kind itself. */
export function partName(kind: string): string {
  return PART_NAMES[kind] ?? kind;
}
