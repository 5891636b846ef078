import * as z from "zod";
import { loadCallerConversation } from "../../app/import/import.ts";
import { SEARCH_SCOPES, searchConversations } from "../../app/look/search.ts";
import { userError } from "../../core/errors.ts";
import { defineTool, imported, type McpTool } from "./tool.ts";

const hit = z.object({
  conversation: z.string(),
  branch: z.string(),
  turn: z.number(),
  event: z.string().describe("The id, for `show`."),
  type: z.string(),
  state: z.enum(["shown", "changed", "hidden"]),
  line: z.string().describe("The line that holds the match, shortened around it."),
  alike: z.number().optional().describe("How many other events have the same matching lines and are not listed."),
});

/** Models say `query` as often as `pattern`. Throws `usage` where none is given, or two that differ. */
function soughtText(pattern: string | undefined, query: string | undefined): string {
  const text = pattern ?? query;
  if (text === undefined)
    throw userError("usage", "`pattern` is missing: expected the words to look for.", {
      hints: ['For example: {"pattern": "tide table"}'],
    });
  if (query !== undefined && query !== text)
    throw userError(
      "usage",
      `\`pattern\` (${JSON.stringify(text)}) and \`query\` (${JSON.stringify(query)}) differ, but they mean the same.`,
      { hints: ["Give only one of them."] },
    );
  return text;
}

export const searchTool: McpTool = defineTool({
  name: "search",
  title: "Search conversations",
  description:
    "Finds requests, answers, tool calls and results in this project's conversations by the words in them, the best match first, and including what compactions hide. Use it when you miss something that was said or seen earlier; `show` returns a hit in full.",
  input: z.object({
    pattern: z
      .string()
      .min(1)
      .max(1000)
      .optional()
      .describe("Words near what you miss, such as names and paths; if `ranked` is false, the exact text."),
    query: z.string().min(1).max(1000).optional().describe("The same as `pattern`; give one of them."),
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
    ignore_case: z.boolean().default(true).describe("Ignore case; ranking always does."),
    limit: z.int().min(1).max(200).default(20).describe("Maximum number of hits."),
  }),
  output: z.object({
    hits: z.array(hit),
    more: z.boolean().describe("Whether there are more than `limit`."),
    imported,
  }),
  readOnly: true,
  run: async (
    { workspace },
    { pattern, query, ranked: rank, in: scopes, conversation: id, ignore_case: ignoreCase, limit },
  ) => {
    const sought = soughtText(pattern, query);
    const caller = await loadCallerConversation(workspace, id, "read");
    const where = id === undefined ? {} : { id: caller.tree.revision ?? caller.tree.branch };
    const { hits, cut } = await searchConversations(workspace, {
      pattern: sought,
      rank,
      ignoreCase,
      limit,
      ...where,
      scopes,
    });
    const rows = hits.map(({ conversation, branch, turn, event, type, state, line, alike }) => {
      const place = { conversation, branch, turn, event, type, state, line };
      return alike === undefined ? place : { ...place, alike };
    });
    return { value: { hits: rows, more: cut, imported: caller.imported } };
  },
});
