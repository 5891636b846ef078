import * as z from "zod";
import { loadCallerConversation } from "../../app/import/import.ts";
import { resumeCommand } from "../../app/import/resume.ts";
import { forkConversation } from "../../app/manage/fork.ts";
import { resolveBranch } from "../../app/names/resolve-id.ts";
import { conversation, defineTool, imported, type McpTool } from "./tool.ts";

export const forkTool: McpTool = defineTool({
  name: "fork",
  title: "Fork a conversation",
  description:
    "Makes a new branch that shares history, so that another way can be tried from here or from an earlier turn. You stay where you are, and so does the user; `resume` is the command that continues on the fork.",
  input: z.object({
    conversation,
    name: z.string().min(1).max(100).optional().describe("Name of the fork; default: chosen by jpg."),
    first: z.int().min(1).optional().describe("Only the first N turns; default all."),
  }),
  output: z.object({
    conversation: z.string(),
    branch: z.string(),
    turns: z.number(),
    from: z.string(),
    left_out: z
      .array(z.string())
      .readonly()
      .describe("Ids of summaries that are not on the fork, because they cover later turns."),
    imported,
    resume: z.string(),
  }),
  readOnly: false,
  run: async ({ workspace }, { conversation: id, name, first }) => {
    const { tree, imported: sentence } = await loadCallerConversation(workspace, id, "fork");
    const report = await forkConversation(workspace, tree, {
      activate: false,
      name,
      first,
    });
    const { conversation: of, branch, turns, left_out = [] } = report;
    const resume = resumeCommand(workspace, await resolveBranch(workspace, branch));
    return { value: { conversation: of, branch, turns, from: tree.branch, left_out, imported: sentence, resume } };
  },
});
