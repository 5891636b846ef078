// jpg's own tools `search` and `show`: with them a model finds in its conversation what compactions hide. They search only that
// conversation, because others must not be sent to a provider unasked.
import type { Config } from "../../config/config.ts";
import { OWN_TOOLS, SEARCH_TOOL, SHOW_TOOL, type ToolDefinition } from "../../core/conversation/defined-tools.ts";
import { JpgError } from "../../core/errors.ts";
import { COMPACT_DEFINITION, createCompactTool } from "../compact/compact-tool.ts";
import type { Workspace } from "../conversation/workspace.ts";
import type { OpenedModel } from "../models/models.ts";
import { NO_TOOLS, type Tool, type ToolBox, type ToolResult } from "../models/tool-box.ts";
import { searchBack, showBack } from "./look-back.ts";
import type { ToolOpening } from "./query.ts";

/** Characters of the longest pattern and id. */
const LONGEST_WORDS = 1000;

const SEARCH_DEFINITION: ToolDefinition = {
  name: SEARCH_TOOL,
  description:
    "Finds earlier requests, answers, tool calls and results of this conversation by words near what you miss, the best match first, also those that you are no longer shown. `show` returns a hit in full.",
  parameters: {
    type: "object",
    properties: { pattern: { type: "string", description: "Words, such as names, paths, numbers." } },
    required: ["pattern"],
    additionalProperties: false,
  },
};

const SHOW_DEFINITION: ToolDefinition = {
  name: SHOW_TOOL,
  description:
    "Returns the original of an earlier event of this conversation by the id that `search` gave. Use it instead of running a tool again.",
  parameters: {
    type: "object",
    properties: {
      id: { type: "string" },
      offset: { type: "integer", minimum: 0, description: "Character to begin at, where the text is long." },
    },
    required: ["id"],
    additionalProperties: false,
  },
};

const LOOK_BACK_DEFINITIONS: readonly ToolDefinition[] = [SEARCH_DEFINITION, SHOW_DEFINITION];

/** Creates the tools for a branch. */
export function createLookBackTools(workspace: Workspace, branch: string): readonly Tool[] {
  return [
    toolOf(SEARCH_DEFINITION, async (args) => {
      const { pattern } = args;
      if (!isText(pattern)) return refuse(`pattern: expected a text of 1 to ${LONGEST_WORDS} characters.`);
      return { content: await searchBack(workspace, branch, pattern), isError: false };
    }),
    toolOf(SHOW_DEFINITION, async (args) => {
      const { id, offset = 0 } = args;
      if (!isText(id)) return refuse("id: expected the id of an event, as `search` gives it.");
      if (typeof offset !== "number" || !Number.isSafeInteger(offset) || offset < 0)
        return refuse("offset: expected a whole number, 0 or more.");
      return { content: await showBack(workspace, branch, { id, offset }), isError: false };
    }),
  ];
}

function toolOf(
  definition: ToolDefinition,
  run: (args: Readonly<Record<string, unknown>>) => Promise<ToolResult>,
): Tool {
  const known = Object.keys(definition.parameters["properties"] as object);
  return {
    definition,
    origin: "jpg",
    confirm: false,
    async call(args, { signal }) {
      signal.throwIfAborted();
      const other = Object.keys(args).find((name) => !known.includes(name));
      if (other !== undefined)
        return refuse(`${JSON.stringify(other)} is not an argument of this tool, which takes ${known.join(" and ")}.`);
      try {
        return await run(args);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof JpgError)) throw error;
        return refuse([error.message, ...error.hints].join("\n"));
      }
    },
  };
}

function refuse(content: string): ToolResult {
  return { content, isError: true };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "" && value.length <= LONGEST_WORDS;
}

/** The definitions of jpg's own tools, in the order in which they are offered. */
export const OWN_DEFINITIONS: readonly ToolDefinition[] = [COMPACT_DEFINITION, ...LOOK_BACK_DEFINITIONS];

/** Returns all tools for a branch's model: jpg's own, then `others`, those of servers. */
export function withOwnTools(
  workspace: Workspace,
  branch: string,
  { others, ...model }: Pick<OpenedModel, "name" | "facts" | "isAssumed"> & { readonly others: readonly Tool[] },
): readonly Tool[] {
  const tools = [...createLookBackTools(workspace, branch), ...others];
  return [createCompactTool(workspace, branch, { ...model, others: tools }), ...tools];
}

interface ToolPlace extends ToolOpening {
  readonly branch: string;
  readonly signal: AbortSignal;
}

/** Opens the tools; they must be closed. Throws as opening the model does, and then does not wait for servers. */
export async function openQueryTools(workspace: Workspace, place: ToolPlace): Promise<ToolBox> {
  const { branch, config, model, signal } = place;
  const stopped = new AbortController();
  model.catch(() => stopped.abort());
  const box = await openServers(workspace, config, AbortSignal.any([signal, stopped.signal]));
  try {
    const opened = await model;
    return { ...box, tools: withOwnTools(workspace, branch, { ...opened, others: box.tools }) };
  } catch (error) {
    await box.close();
    throw error;
  }
}

/** Opens the MCP servers of the settings; they must be closed. `signal` stops waiting for them. */
export async function openServers(workspace: Workspace, config: Config, signal?: AbortSignal): Promise<ToolBox> {
  if (Object.keys(config.mcp.servers).length === 0) return NO_TOOLS;
  const { openMcpTools } = await import("../models/mcp-server.ts");
  return openMcpTools(workspace, config, { taken: OWN_TOOLS, signal });
}
