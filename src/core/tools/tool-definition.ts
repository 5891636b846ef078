// A tool as a model is told of it, and as a stranger's record may tell of it.
import { isFields } from "../event/fields.ts";

/** A tool that the model may call. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments: an object's. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The tool that jpg itself offers, so that a model can free context. */
export const COMPACT_TOOL = "compact";
/** Those by which it finds what compactions hide. `jpg mcp` gives agents tools of the same names. */
export const SEARCH_TOOL = "search";
export const SHOW_TOOL = "show";

/** The names of jpg's own tools: no tool of a server may take one, and they are never pruned. */
export const OWN_TOOLS: readonly string[] = [COMPACT_TOOL, SEARCH_TOOL, SHOW_TOOL];

/** What is known of a tool's arguments where nobody said. */
const ANY_ARGUMENTS = { type: "object" };

/** Reads a definition; a missing description is empty, missing parameters are any. Null where there is no name. */
export function readToolDefinition(value: unknown): ToolDefinition | null {
  if (!isFields(value)) return null;
  const { name, description, parameters } = value;
  if (typeof name !== "string" || name === "") return null;
  return {
    name,
    description: typeof description === "string" ? description : "",
    parameters: isFields(parameters) ? parameters : ANY_ARGUMENTS,
  };
}
