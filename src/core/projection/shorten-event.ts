// Applies what a mechanical policy decided about one event. An event that stays as it is keeps its identity.
import type { CallPolicy } from "../compaction/compaction.ts";
import { stubAttachments } from "../event/attachment-stub.ts";
import type { Event, ToolCallRequest, ToolCallResponse } from "../event/event.ts";
import { dropLongTexts, type StubOptions, stripCall, stripResult, truncateCall, truncateResult } from "./tool-stub.ts";
import type { Disposition } from "./winner.ts";

/** What shortening needs to know beside the event. */
export interface ShorteningContext extends StubOptions {
  /** Name of the tool whose result the event is; undefined when its call is not known. */
  readonly tool?: string | undefined;
}

/** Applies a disposition to its event; null when nothing of the event is shown. */
export function shortenEvent(
  event: Event,
  { action, compaction, headOf }: Pick<Disposition, "action" | "compaction" | "headOf">,
  context: ShorteningContext,
): Event | null {
  if (action === "keep") return event;
  if (action === "hide" || action === "omit") return null;
  switch (event.type) {
    case "chat_response":
      return null;
    case "chat_request":
      return stubAttachments(event);
    case "tool_call_request":
      return shortenCall(event, action);
    case "tool_call_response":
      return shortenResult(event, action, { ...context, ...stubStyle(compaction, context), headOf });
    default:
      return event;
  }
}

/** The style of the compaction that wins, beside what the caller asks of every stub. */
function stubStyle({ stubs }: Disposition["compaction"], options: StubOptions): StubOptions {
  return {
    pointers: options.pointers === true || stubs?.pointers === true,
    firstLine: options.firstLine === true || stubs?.first_line === true,
  };
}

function shortenCall(event: ToolCallRequest, action: Exclude<CallPolicy, "keep" | "omit">): Event {
  if (action === "strip") return stripCall(event);
  return "drop" in action ? dropLongTexts(event, action.drop.max_chars) : truncateCall(event, action.truncate);
}

function shortenResult(
  event: ToolCallResponse,
  action: Exclude<CallPolicy, "keep" | "omit">,
  context: ShorteningContext,
): Event {
  if (action === "strip") return stripResult(event, context.tool, context);
  if ("drop" in action) return event;
  return truncateResult(event, action.truncate, context.tool, context);
}
