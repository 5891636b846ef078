import * as z from "zod";
import { loadCallerConversation } from "../../app/import/import.ts";
import { readCompactionLog } from "../../app/look/log.ts";
import { conversation, defineTool, imported, type McpTool, tokenChange } from "./tool.ts";

const row = z.object({
  kind: z.enum(["compaction", "revert", "reapply"]),
  compaction: z.string(),
  commit: z.string(),
  subject: z.string().describe("What the commit did: its subject line."),
  from_turn: z.number().nullable(),
  to_turn: z.number().nullable(),
  live: z.boolean().describe("Whether it is in force."),
  source: z.string().nullable().describe("Who made it: manual, auto, agent, import."),
  tokens: tokenChange.nullable(),
  timestamp: z.string(),
});

export const logTool: McpTool = defineTool({
  name: "log",
  title: "Compaction history",
  description:
    "Lists the compactions and reverts of a conversation, newest first. Use it to see what your context no longer holds; `show` with a compaction's id returns what it hid.",
  input: z.object({
    conversation,
    limit: z.int().min(1).max(200).default(20).describe("Maximum number of rows."),
  }),
  output: z.object({ branch: z.string(), rows: z.array(row), more: z.boolean(), imported }),
  readOnly: true,
  run: async ({ workspace }, { conversation: id, limit }) => {
    const { tree, imported: sentence } = await loadCallerConversation(workspace, id, "read");
    const all = await readCompactionLog(workspace, tree);
    const rows = all.slice(0, limit).map((entry) => {
      const { kind, compaction, commit, subject, from_turn, to_turn, live, source, tokens, timestamp } = entry;
      return { kind, compaction, commit, subject, from_turn, to_turn, live, source, tokens, timestamp };
    });
    return { value: { branch: tree.branch, rows, more: all.length > rows.length, imported: sentence } };
  },
});
