// What an MCP tool of jpg is: its schemas, and a few lines onto app. Each call opens the store for itself and closes it;
// whatever fails is a result that says why, so that the server outlives every call.
import type { CallToolResult, McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Runtime } from "../../app/conversation/runtime.ts";
import { openWorkspace, type Workspace, type WorkspaceOptions } from "../../app/conversation/workspace.ts";
import { JpgError, messageOf } from "../../core/errors.ts";

/** Where the calls of a server look. */
export interface McpPlace {
  readonly runtime: Runtime;
  readonly options: WorkspaceOptions;
}

/** One call, while its store is open. */
interface McpCall {
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
}

/** What a tool gives back: `value` fits the output schema; a refusal is an error to the model, with that text. */
type McpOutcome<Value> = { readonly value: Value } | { readonly refusal: string };

interface McpToolSpec<Input extends z.ZodObject, Output extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  /** For the model that reads it: what it does and when to use it. */
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  /** Whether it changes no conversation. */
  readonly readOnly: boolean;
  run(call: McpCall, args: z.output<Input>): Promise<McpOutcome<z.input<Output>>>;
}

/** Puts a tool on a server. */
export type McpTool = (server: McpServer, place: McpPlace) => void;

/** Makes a tool of its description. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  spec: McpToolSpec<Input, Output>,
): McpTool {
  const { name, title, description, input, output, readOnly } = spec;
  return (server, place) => {
    const annotations = { readOnlyHint: readOnly, destructiveHint: false, openWorldHint: false };
    // An argument that no tool reads is a slip of the model that wrote it, and is said.
    const config = { title, description, inputSchema: input.strict(), outputSchema: output, annotations };
    const run = (args: z.output<Input>, signal: AbortSignal): Promise<CallToolResult> =>
      runCall(place, signal, (call) => spec.run(call, args));
    // The library's type of the callback does not see that an object schema is one.
    server.registerTool(name, config, ((args: z.output<Input>, context: { mcpReq: { signal: AbortSignal } }) =>
      run(args, context.mcpReq.signal)) as never);
  };
}

async function runCall(
  { runtime, options }: McpPlace,
  signal: AbortSignal,
  run: (call: McpCall) => Promise<McpOutcome<unknown>>,
): Promise<CallToolResult> {
  try {
    const workspace = await openWorkspace(runtime, { ...options, create: true });
    try {
      const outcome = await run({ workspace, signal });
      if ("refusal" in outcome) return failure(outcome.refusal);
      const value = outcome.value as Record<string, unknown>;
      // Some clients read the one, some the other.
      return { content: [{ type: "text", text: JSON.stringify(value, null, 1) }], structuredContent: value };
    } finally {
      await workspace.close();
    }
  } catch (error) {
    return failure(sayError(error));
  }
}

function failure(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

function sayError(error: unknown): string {
  if (error instanceof JpgError) return [error.message, ...error.hints.map((hint) => `hint: ${hint}`)].join("\n");
  return `jpg failed: ${messageOf(error)}`;
}

/** The conversation to look at. */
export const conversation: z.ZodOptional<z.ZodString> = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .describe("Conversation or branch, as other tools name it; leave out for the one of this session.");

/** What was imported before the answer. */
export const imported: z.ZodNullable<z.ZodString> = z
  .string()
  .nullable()
  .describe("What was imported first to bring the answer up to date; null if nothing was.");

export const tokenChange: z.ZodObject<{ before: z.ZodNumber; after: z.ZodNumber }> = z.object({
  before: z.number(),
  after: z.number(),
});
