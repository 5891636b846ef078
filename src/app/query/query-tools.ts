// The tools that a model is offered in a query: jpg's own, and those of the MCP servers that the settings name.
import type { Config } from "../../config/config.ts";
import { OWN_TOOLS } from "../../core/conversation/defined-tools.ts";
import { defined } from "../../core/json.ts";
import { NO_TOOLS, type ToolBox } from "../programs/tool-box.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { withOwnTools } from "./own-tools.ts";
import type { ToolOpening } from "./query-request.ts";

/** What tools are opened for. */
export interface ToolPlace extends ToolOpening {
  readonly branch: string;
  readonly signal: AbortSignal;
}

/** Opens them; must be closed. Throws what opening the model throws, without waiting for servers then. */
export async function openQueryTools(workspace: Workspace, place: ToolPlace): Promise<ToolBox> {
  const { branch, config, model, signal } = place;
  const inVain = new AbortController();
  model.catch(() => inVain.abort());
  const box = await openServers(workspace, config, AbortSignal.any([signal, inVain.signal]));
  try {
    const opened = await model;
    return { ...box, tools: withOwnTools(workspace, branch, { ...opened, others: box.tools }) };
  } catch (error) {
    await box.close();
    throw error;
  }
}

/** Opens the MCP servers that the settings name; must be closed. `signal` gives up waiting for them. */
export async function openServers(workspace: Workspace, config: Config, signal?: AbortSignal): Promise<ToolBox> {
  if (Object.keys(config.mcp.servers).length === 0) return NO_TOOLS;
  const { openMcpTools } = await import("../programs/mcp-tools.ts");
  return openMcpTools(workspace, config, { taken: OWN_TOOLS, ...defined({ signal }) });
}
