// jpg's own tool `compact`, offered to every model that answers in a conversation.
import { COMPACT_TOOL, type ToolDefinition } from "../../core/conversation/defined-tools.ts";
import { JpgError } from "../../core/errors.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { asAnswering, type OpenedModel } from "../models/models.ts";
import type { Tool } from "../models/tool-box.ts";
import { agentCompact } from "./agent-compact.ts";

/** Tells the model when to use the tool. */
export const COMPACT_ADVICE: string = [
  "Frees context: old tool outputs are shortened, and where that is not enough earlier turns are replaced by a summary.",
  "Use it (1) before you turn to a new area of work, (2) after you have finished a major piece, or (3) when you notice that you repeat questions or forget what was done.",
  "What is removed stays stored and can be brought back. Returns the summary of what was preserved.",
].join(" ");

export const FOCUS_ADVICE = "What the summary should focus on, in a few words; optional.";

/** Longest focus, characters. */
export const LONGEST_FOCUS = 2000;

export const COMPACT_DEFINITION: ToolDefinition = {
  name: COMPACT_TOOL,
  description: COMPACT_ADVICE,
  parameters: {
    type: "object",
    properties: { focus: { type: "string", description: FOCUS_ADVICE } },
    additionalProperties: false,
  },
};

/** Creates the tool for a branch and a model; `others` = further tools offered to it. */
export function createCompactTool(
  workspace: Workspace,
  branch: string,
  { others, ...model }: Pick<OpenedModel, "name" | "facts" | "isAssumed"> & { readonly others: readonly Tool[] },
): Tool {
  const tools = [COMPACT_DEFINITION, ...others.map(({ definition }) => definition)];
  const asking = { window: model.facts.contextWindow, ...asAnswering(model), tools };
  return {
    definition: COMPACT_DEFINITION,
    origin: "jpg",
    confirm: false,
    async call({ focus, ...others }, { signal }) {
      signal.throwIfAborted();
      const [other] = Object.keys(others);
      if (other !== undefined)
        return {
          content: `${JSON.stringify(other)} is not an argument of this tool, which takes only focus.`,
          isError: true,
        };
      if (focus !== undefined && (typeof focus !== "string" || focus.length > LONGEST_FOCUS))
        return { content: `focus: expected a text of at most ${LONGEST_FOCUS} characters.`, isError: true };
      try {
        const wanted = focus === undefined || focus.trim() === "" ? {} : { focus };
        const { text, outcome } = await agentCompact(workspace, branch, { ...wanted, signal, ...asking });
        return { content: text, isError: outcome === "too_small" };
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof JpgError)) throw error;
        return { content: [`Not compacted: ${error.message}`, ...error.hints].join("\n"), isError: true };
      }
    },
  };
}
