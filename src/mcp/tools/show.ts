import * as z from "zod";
import { withActiveBranch } from "../../app/conversation/checked-out.ts";
import { loadCallerConversation } from "../../app/import/import.ts";
import { readEventText, type ShowReport, show as showId } from "../../app/look/show.ts";
import { conversation, defineTool, type McpTool } from "./tool.ts";

const output = z.object({
  kind: z.enum(["conversation", "compaction", "event"]),
  branch: z.string(),
  text: z.string().describe("The original text of an event; facts about anything else as JSON."),
  offset: z.number().describe("Where `text` begins, characters, 0-based."),
  total_chars: z.number().describe("Length of the whole; ask again with a later offset for the rest."),
  turn: z.number().optional(),
  type: z.string().optional(),
  state: z.string().optional().describe("Whether the view shows the event, changed it or hides it."),
  compaction: z.string().optional().describe("The compaction that changes or hides it."),
});

export const showTool: McpTool = defineTool({
  name: "show",
  title: "Fetch an original",
  description:
    "Returns the original of what a compaction took out: an event by its id (stubs such as `[compacted] Read: success · ID` name it, `search` returns it), what a compaction hid, or what a conversation holds. Use it instead of running a tool again.",
  input: z.object({
    id: z
      .string()
      .min(1)
      .max(200)
      .describe("Event, compaction, commit of one, or conversation; a unique beginning is enough."),
    conversation,
    offset: z.int().min(0).default(0).describe("Character to begin at."),
    max_chars: z.int().min(1).max(200_000).default(40_000).describe("Maximum number of characters."),
  }),
  output,
  readOnly: true,
  run: async ({ workspace }, { id, conversation: where, offset, max_chars: most }) => {
    const { tree } = await loadCallerConversation(workspace, where, "read");
    // Conversations may share events: search the named one first. On a detached HEAD `@` stays its commit.
    const place = tree.revision === "@" ? workspace : withActiveBranch(workspace, tree.branch);
    const report = await showId(place, id);
    const whole = report.kind === "event" ? await readEventText(workspace, report) : JSON.stringify(report, null, 1);
    const text = whole.slice(offset, offset + most);
    return { value: { ...factsOf(report), text, offset, total_chars: whole.length } };
  },
});

function factsOf(report: ShowReport): Omit<z.input<typeof output>, "text" | "offset" | "total_chars"> {
  const { kind, branch } = report;
  if (report.kind !== "event") return { kind, branch };
  const { turn, event, state, compaction } = report;
  return { kind, branch, turn, type: event.type, state, compaction };
}
