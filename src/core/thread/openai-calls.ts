// Tool calls as both OpenAI APIs take them: ids and names of their alphabet, arguments as a text of JSON. An id that must
// change is derived from the event's id, so that turns added later never change it.
import type { ToolCallRequest } from "../event/event.ts";
import { type AssignId, unusedId } from "./call-plan.ts";

const ALPHABET = /[^a-zA-Z0-9_-]/g;
/** Longest tool name, in characters ("does not match '^[a-zA-Z0-9_-]{1,64}$'"). */
const MAX_NAME = 64;
const PREFIX = "call_";

/** Rules that a change of an id is listed under. */
export interface IdRules {
  /** Longest id the API takes, in characters. */
  readonly max: number;
  /** The id is empty, too long or has other characters. */
  readonly invalid: string;
  /** An earlier call has the id. */
  readonly repeated: string;
}

/** Creates the assignment of ids: a valid, unused one stays, any other is made of the event's id. */
export function createIdAssignment({ max, invalid, repeated }: IdRules): AssignId {
  return (call, isUsed) => {
    const isValid = new RegExp(`^[a-zA-Z0-9_-]{1,${max}}$`).test(call.call_id);
    if (isValid && !isUsed(call.call_id)) return { id: call.call_id, rules: [] };
    // Ids of events of one source line differ at their end.
    const derived = PREFIX + call.id.replace(ALPHABET, "_").slice(PREFIX.length - max);
    return { id: unusedId(derived, max, isUsed), rules: [isValid ? repeated : invalid] };
  };
}

/** The tool's name in the alphabet of the API; the same name always becomes the same. */
export function toToolName(name: string): string {
  return name.replace(ALPHABET, "_").slice(0, MAX_NAME) || "tool";
}

/** Arguments as a text of a JSON value; `isChanged` when the call had no object, nor the text of one. */
export function toArgumentsText(call: ToolCallRequest): { readonly text: string; readonly isChanged: boolean } {
  const value = call.arguments;
  if (typeof value === "object" && value !== null) return { text: JSON.stringify(value), isChanged: false };
  if (typeof value !== "string") return { text: "{}", isChanged: true };
  return isJsonObject(value)
    ? { text: value, isChanged: false }
    : { text: JSON.stringify({ input: value }), isChanged: true };
}

/** Whether it is a call of a tool that takes a free text: the importer says so in `metadata.call_type`. */
export function isCustomCall(call: ToolCallRequest): boolean {
  return call.metadata?.["call_type"] === "custom";
}

/** The free text of a custom call; that of a stripped one is empty. */
export function toCustomInput({ arguments: value }: ToolCallRequest): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  const [only, ...others] = Object.entries(value);
  if (only === undefined) return "";
  return only[0] === "input" && others.length === 0 && typeof only[1] === "string" ? only[1] : JSON.stringify(value);
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}
