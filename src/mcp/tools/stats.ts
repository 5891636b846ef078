import * as z from "zod";
import { loadCallerConversation } from "../../app/import/import.ts";
import { readStats } from "../../app/look/stats.ts";
import { conversation, defineTool, imported, type McpTool } from "./tool.ts";

const counts = z.object({ raw: z.number(), view: z.number() });

export const statsTool: McpTool = defineTool({
  name: "stats",
  title: "Size of a conversation",
  description:
    "Counts turns, messages and tokens of a conversation, raw and in its view, by kind (requests, answers, reasoning, tool calls, tool results). Use it to judge whether `compact` is worth it.",
  input: z.object({ conversation }),
  output: z.object({
    branch: z.string(),
    turns: z.number(),
    messages: z.number(),
    events: z.number(),
    compactions: z.number(),
    tokens: counts,
    tokens_source: z.enum(["recorded", "estimate"]),
    by_kind: z.record(z.string(), counts),
    imported,
  }),
  readOnly: true,
  run: async ({ workspace }, { conversation: id }) => {
    const { tree, imported: sentence } = await loadCallerConversation(workspace, id, "read");
    const {
      turns,
      events,
      messages = 0,
      compactions = 0,
      tokens,
      tokens_source: source,
    } = await readStats(workspace, tree);
    const { raw, view, by_kind } = tokens;
    return {
      value: {
        branch: tree.branch,
        turns,
        messages,
        events,
        compactions,
        tokens: { raw, view },
        tokens_source: source ?? "estimate",
        by_kind: { ...by_kind },
        imported: sentence,
      },
    };
  },
});
