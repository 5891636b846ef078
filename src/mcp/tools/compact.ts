import * as z from "zod";
import { agentCompact } from "../../app/compact/agent-compact.ts";
import { COMPACT_ADVICE, FOCUS_ADVICE, LONGEST_FOCUS } from "../../app/compact/compact-tool.ts";
import { loadCallerConversation } from "../../app/import/import.ts";
import { resumeCommand } from "../../app/import/resume.ts";
import { conversation, defineTool, imported, type McpTool, tokenChange } from "./tool.ts";

/** What a model must know that calls this from an agent of its own. */
const LIMIT =
  "Your own context stays as it is: no tool can shrink it. This prepares a smaller continuation of the session; `resume` is the command with which the user continues there. Tell the user.";

const output = z.object({
  conversation: z.string(),
  branch: z.string(),
  outcome: z.enum(["compacted", "nothing", "not_needed"]),
  message: z.string().describe("What happened, with the summary that now replaces earlier turns."),
  commit: z.string().nullable(),
  compactions: z.array(z.string()).describe("Ids, for `show` and for `jpg revert`."),
  tokens: tokenChange.describe("Of the view, estimated."),
  imported,
  resume: z
    .string()
    .describe("The command line that continues in a session of that size; to be typed after this session."),
  note: z.string(),
});

export const compactTool: McpTool = defineTool({
  name: "compact",
  title: "Prepare a smaller continuation",
  description: `${COMPACT_ADVICE} ${LIMIT} Refused below 10k tokens, and not done when the session is small enough.`,
  input: z.object({ conversation, focus: z.string().max(LONGEST_FOCUS).optional().describe(FOCUS_ADVICE) }),
  output,
  readOnly: false,
  run: async ({ workspace, signal }, { conversation: id, focus }) => {
    const caller = await loadCallerConversation(workspace, id, "write");
    const report = await agentCompact(workspace, caller.tree.branch, {
      signal,
      ...(focus === undefined || focus.trim() === "" ? {} : { focus }),
    });
    const { outcome, text, summary: _, ...facts } = report;
    if (outcome === "too_small") return { refusal: text };
    const resume = resumeCommand(workspace, caller.tree, { isGrowing: caller.isKept });
    const value = {
      ...facts,
      outcome,
      message: text,
      compactions: [...facts.compactions],
      imported: caller.imported,
      resume,
      note: LIMIT,
    };
    return { value };
  },
});
