// Neighbours of one role become one message: many compatible servers want the roles to alternate (C7). A message of a tool
// stands for itself, so nothing is joined across one.
import { joinOrigins, type ProviderObject, type ThreadItem } from "./openai-thread.ts";

/** Joins messages of one role that stand in a row: texts with a blank line between, parts and calls one after the other. */
export function joinNeighbours(items: readonly ThreadItem[]): readonly ThreadItem[] {
  const runs: ThreadItem[][] = [];
  for (const item of items) {
    const run = runs.at(-1);
    if (run !== undefined && isJoined(run[0], item)) run.push(item);
    else runs.push([item]);
  }
  return runs.flatMap((run) => (run.length === 1 ? run : [joinRun(run)]));
}

function isJoined(before: ThreadItem | undefined, { item }: ThreadItem): boolean {
  return item["role"] !== "tool" && item["role"] === before?.item["role"];
}

function joinRun(run: readonly ThreadItem[]): ThreadItem {
  const calls = run.flatMap(({ item }) => (item["tool_calls"] as readonly ProviderObject[] | undefined) ?? []);
  const thoughts = run.flatMap(({ item }) => (item["reasoning_content"] as string | undefined) ?? []);
  const item = {
    ...run[0]?.item,
    content: joinContents(run.map(({ item: { content } }) => content as ChatContent)),
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join("\n") }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return { ...joinOrigins(run), item };
}

type ChatContent = string | readonly ProviderObject[];

/** A text as long as all are texts; the parts of a message without content are none. */
function joinContents(contents: readonly ChatContent[]): ChatContent {
  const texts = contents.filter((content) => typeof content === "string");
  if (texts.length === contents.length) return texts.filter((text) => text !== "").join("\n\n");
  return contents.flatMap((content) => (typeof content === "string" ? [{ type: "text", text: content }] : content));
}
