// The tools that jpg itself offers a model that answers in a conversation, whoever asks it there.
import type { ToolDefinition } from "../../core/conversation/defined-tools.ts";
import { COMPACT_DEFINITION, createCompactTool } from "../auto/compact-tool.ts";
import type { OpenedModel } from "../models/models.ts";
import type { Tool } from "../programs/tool-box.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { createLookBackTools, LOOK_BACK_DEFINITIONS } from "./look-back-tools.ts";

/** What a model is told of them, in the order in which they are offered. */
export const OWN_DEFINITIONS: readonly ToolDefinition[] = [COMPACT_DEFINITION, ...LOOK_BACK_DEFINITIONS];

/** Gives all tools that a branch's model is offered: jpg's own, then `others`, those of servers. */
export function withOwnTools(
  workspace: Workspace,
  branch: string,
  { others, ...model }: Pick<OpenedModel, "name" | "facts" | "isAssumed"> & { readonly others: readonly Tool[] },
): readonly Tool[] {
  const beside = [...createLookBackTools(workspace, branch), ...others];
  return [createCompactTool(workspace, branch, { ...model, others: beside }), ...beside];
}
