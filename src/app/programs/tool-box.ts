// Tools that a model may call while it answers: jpg's own and those of MCP servers, behind one shape.

import type { ToolDefinition } from "../../core/conversation/defined-tools.ts";
import type { Content } from "../../core/conversation/event.ts";

/** What a tool gave back; stored as the result of the call. */
export interface ToolResult {
  readonly content: Content;
  readonly isError: boolean;
}

export interface Tool {
  readonly definition: ToolDefinition;
  /** `jpg` for its own, else the name of the MCP server. */
  readonly origin: string;
  /** The user is asked before each call. */
  readonly confirm: boolean;
  /** Calls it. What goes wrong inside the tool is a result with `isError`; nothing is thrown but an abort. */
  call(args: Readonly<Record<string, unknown>>, options: ToolCallOptions): Promise<ToolResult>;
}

export interface ToolCallOptions {
  readonly signal: AbortSignal;
  /** Told what the user should know meanwhile, one line; not safe for a terminal yet. */
  readonly notice?: (text: string) => void;
}

/** Tools that are ready; must be closed. */
export interface ToolBox {
  readonly tools: readonly Tool[];
  /** What could not be had, as sentences. */
  readonly problems: readonly string[];
  close(): Promise<void>;
}

export const NO_TOOLS: ToolBox = { tools: [], problems: [], close: () => Promise.resolve() };
