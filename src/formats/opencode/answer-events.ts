// An answer's parts as events: texts, reasoning, calls, and behind them the results of the calls. An answer of several steps is
// several messages to the model, each with the results of its own calls.

import type { EventMetadata } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import { appendAll } from "../../core/lists.ts";
import { isRecord, type RawLine, recordOf, stringOf } from "../json-line.ts";
import { outputContent } from "./content-parts.ts";
import { isNoted, noteOfPart, type UnplacedEvent } from "./notes.ts";
import { isUnanswered } from "./own-marks.ts";
import { usageOf } from "./usage.ts";

/** What the events of one step have in common. */
interface Step {
  readonly made: EventMetadata;
  readonly said: UnplacedEvent[];
  readonly results: UnplacedEvent[];
  readonly notes: UnplacedEvent[];
  usage: RawLine | undefined;
}

/** Gives the events of an answer. What was counted stands with the first event of its step. */
export function eventsOfAnswer(info: RawLine, parts: readonly RawLine[], messageId: string): readonly UnplacedEvent[] {
  const steps: Step[] = [];
  const beginStep = (): Step => {
    const step: Step = {
      made: makerOf(info, messageId, steps.length),
      said: [],
      results: [],
      notes: [],
      usage: undefined,
    };
    steps.push(step);
    return step;
  };
  for (const part of parts) {
    const open = steps.at(-1);
    const isBegun = open !== undefined && open.said.length > 0;
    const step = open === undefined || (part["type"] === "step-start" && isBegun) ? beginStep() : open;
    addPart(step, part);
  }
  const [first] = steps;
  if (first !== undefined && steps.every(({ usage }) => usage === undefined)) first.usage = usageOf(info);
  return steps.flatMap(eventsOfStep);
}

function makerOf(info: RawLine, messageId: string, step: number): EventMetadata {
  const provider = stringOf(info, "providerID");
  const model = stringOf(info, "modelID");
  return {
    ...defined({ provider, model }),
    message_id: step === 0 ? messageId : `${messageId}-${step}`,
  };
}

function eventsOfStep({ made, said, results, notes, usage }: Step): readonly UnplacedEvent[] {
  const events = [...said, ...results, ...notes];
  if (usage === undefined) return events;
  const [first, ...rest] = said;
  if (first === undefined) return [...events, { type: "note", kind: "usage", metadata: { ...made, usage } }];
  const counted = { ...first, metadata: { ...(first["metadata"] as EventMetadata), usage } };
  return [counted, ...rest, ...results, ...notes];
}

function addPart(step: Step, part: RawLine): void {
  const { made, said, results, notes } = step;
  switch (part["type"]) {
    case "text":
    case "reasoning": {
      const text = stringOf(part, "text") ?? "";
      const metadata = signed(made, part);
      if (text === "" && metadata.signature === undefined && metadata.encrypted === undefined) return;
      said.push({
        type: "chat_response",
        ...(part["type"] === "text" ? { message: text } : { reasoning: text }),
        metadata,
      });
      return;
    }
    case "tool":
      said.push(callBody(part, made));
      appendAll(results, resultBodies(part));
      return;
    case "step-finish":
      step.usage = usageOf(part);
      return;
    default:
      if (isNoted(part)) notes.push(noteOfPart(part));
  }
}

function callBody(part: RawLine, made: EventMetadata): UnplacedEvent {
  const state = recordOf(part, "state") ?? {};
  return {
    type: "tool_call_request",
    call_id: stringOf(part, "callID") ?? "",
    name: stringOf(part, "tool") ?? "",
    arguments: state["input"] ?? {},
    metadata: signed(made, part),
  };
}

/** The result of a call; none of one that was never answered. One that was stopped gave what it had printed so far. */
function resultBodies(part: RawLine): readonly UnplacedEvent[] {
  const state = recordOf(part, "state") ?? {};
  const metadata = recordOf(state, "metadata") ?? {};
  const call_id = stringOf(part, "callID") ?? "";
  const child = stringOf(metadata, "sessionId");
  const linked = child === undefined ? {} : { metadata: { session: child } };
  const type = "tool_call_response";
  if (state["status"] === "completed") {
    const content = outputContent(stringOf(state, "output") ?? "", state["attachments"]);
    return [{ type, call_id, content, is_error: false, ...linked }];
  }
  if (state["status"] !== "error" || isUnanswered(metadata)) return [];
  const printed = metadata["interrupted"] === true ? stringOf(metadata, "output") : undefined;
  const content = printed ?? stringOf(state, "error") ?? "";
  return [{ type, call_id, content, is_error: printed === undefined, ...linked }];
}

/** Who made a part, with what its provider wants back. */
function signed(made: EventMetadata, part: RawLine): EventMetadata {
  const given = recordOf(part, "metadata");
  if (given === undefined || Object.keys(given).length === 0) return made;
  const own = Object.values(given).filter(isRecord);
  const find = (...keys: readonly string[]): string | undefined =>
    own.flatMap((fields) => keys.flatMap((key) => stringOf(fields, key) ?? [])).find((text) => text !== "");
  const signature = find("signature", "thoughtSignature");
  const encrypted = find("redactedData", "reasoningEncryptedContent");
  return {
    ...made,
    ...defined({ signature, encrypted }),
    provider_metadata: given,
  };
}
