// What an exported line takes from the event behind it: the model's name, a prompt typed while the agent worked, and the
// agent's own attachment when the event came from one.

import type { Event } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import type { ThreadBlock } from "../../core/model/thread.ts";
import { isRecord } from "../json-line.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The agent's name for assistant lines that no model of its own made. */
const NO_MODEL = "<synthetic>";

/** Whether another provider's model made an event. */
export function isForeign(event: Event | undefined): boolean {
  const provider = event?.metadata?.provider;
  return provider !== undefined && provider !== "anthropic";
}

/** Gives the model to name in an assistant line. */
export function exportedModelOf(event: Event | undefined): string {
  const model = event?.metadata?.model;
  return model === undefined || isForeign(event) ? NO_MODEL : model;
}

/** What a user line's message holds: one text block as a plain string, as the agent writes what was typed. */
export function contentOf(blocks: readonly ThreadBlock["block"][]): unknown {
  const [only] = blocks;
  return blocks.length === 1 && only?.["type"] === "text" ? only["text"] : blocks;
}

/** Gives the attachment fields of a prompt typed while the agent worked; null for every other event. */
export function queuedAttachment(event: Event | undefined, blocks: readonly ThreadBlock["block"][]): Fields | null {
  if (event?.metadata?.origin !== "queued") return null;
  return { attachment: { type: "queued_command", prompt: contentOf(blocks), commandMode: "prompt" } };
}

/** Gives the fields of the agent's own attachment line when the event's metadata carries them; else null. */
export function originalAttachment(event: Event | undefined): Fields | null {
  if (event?.metadata?.origin !== "harness") return null;
  const { attachment, rendered, renderedRole } = event.metadata;
  if (!isRecord(attachment)) return null;
  return {
    attachment,
    ...defined({ rendered, renderedRole }),
  };
}

/** Gives the marks of a line in which the agent itself speaks in the user's place; null for every other event. */
export function noticeMarks(event: Event | undefined): Fields | null {
  const origin = event?.metadata?.["line_origin"];
  return isRecord(origin) ? { origin } : null;
}
