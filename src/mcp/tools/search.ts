import * as z from "zod";
import { loadCallerConversation } from "../../app/import/caller-session.ts";
import { searchConversations } from "../../app/inspect/search.ts";
import { SEARCH_SCOPES } from "../../app/inspect/search-texts.ts";
import { imported } from "./schemas.ts";
import { defineTool, type McpTool } from "./tool.ts";

const hit = z.object({
  conversation: z.string(),
  branch: z.string(),
  turn: z.number(),
  event: z.string().describe("Id, for `show`."),
  type: z.string(),
  state: z.enum(["shown", "changed", "hidden"]),
  line: z.string().describe("The line that holds the match, far ends cut."),
  alike: z.number().optional().describe("Events that are not listed: their matching lines stand in this one."),
});

export const searchTool: McpTool = defineTool({
  name: "search",
  title: "Search conversations",
  description:
    "Finds requests, answers, tool calls and results by words that they hold, the best first, also and above all those that compactions hide, in this project's conversations. Use it when you miss something that was said or seen earlier; `show` gives the whole of a hit.",
  input: z.object({
    pattern: z
      .string()
      .min(1)
      .max(1000)
      .describe(
        "Words that stand near what you miss, such as names and paths; a text as it stands if `ranked` is false.",
      ),
    ranked: z
      .boolean()
      .default(true)
      .describe("False: only events that hold the whole pattern, in the order of the conversation."),
    in: z.array(z.enum(SEARCH_SCOPES)).min(1).optional().describe("Only what these said; default all."),
    conversation: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe("Look only there (`@` = the active one); default all."),
    ignore_case: z.boolean().default(true).describe("Ranking always ignores it."),
    limit: z.int().min(1).max(200).default(20).describe("Most hits."),
  }),
  output: z.object({ hits: z.array(hit), more: z.boolean().describe("There are more than `limit`."), imported }),
  readOnly: true,
  run: async (
    { workspace },
    { pattern, ranked: rank, in: scopes, conversation: id, ignore_case: ignoreCase, limit },
  ) => {
    const caller = await loadCallerConversation(workspace, id, "read");
    const where = id === undefined ? {} : { id: caller.tree.revision ?? caller.tree.branch };
    const { hits, cut } = await searchConversations(workspace, {
      pattern,
      rank,
      ignoreCase,
      limit,
      ...where,
      ...(scopes === undefined ? {} : { scopes }),
    });
    const rows = hits.map(({ conversation, branch, turn, event, type, state, line, alike }) => {
      const place = { conversation, branch, turn, event, type, state, line };
      return alike === undefined ? place : { ...place, alike };
    });
    return { value: { hits: rows, more: cut, imported: caller.imported } };
  },
});
