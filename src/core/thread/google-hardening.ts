// Hardening of a Google list that looks at whole contents: signatures of calls, and the two ends of the list.
import { defined } from "../defined.ts";
import type { Event } from "../event/event.ts";
import { isSameModelFamily } from "../model/model-family.ts";
import { DUMMY_SIGNATURE, isSignature } from "../provider-rules/google-signature.ts";
import type { HardeningStep, ThreadBlock, ThreadMessage } from "./thread.ts";

/** Stands before a content of the model that would be the first (G1). */
const OPENING: ThreadBlock = { block: { text: "[Earlier messages are not shown.]" } };
/** Stands after a content of the model that would be the last of a request (G2). */
const CLOSING: ThreadBlock = { block: { text: "[No new message.]" } };

/** The signature an event is sent with: only one that the same model made (G9). Absent when there is none. */
export function signatureOf(event: Event, model: string | undefined): string | undefined {
  const { provider, model: maker, signature } = event.metadata ?? {};
  const isOwn = model === undefined || (maker !== undefined && isSameModelFamily(model, maker));
  return provider === "google" && isOwn && isSignature(signature) ? signature : undefined;
}

/**
 * Gives the first call of each step a dummy where it has no signature (G8, G10). Older turns, where the API does not ask,
 * get it too: what was sent once stays as it is.
 */
export function signSteps(messages: readonly ThreadMessage[], hardening: HardeningStep[]): readonly ThreadMessage[] {
  return messages.map((message) => {
    const first = message.blocks.findIndex(({ block }) => block["functionCall"] !== undefined);
    const call = message.blocks[first];
    if (call === undefined || call.block["thoughtSignature"] !== undefined) return message;
    hardening.push({ rule: "G10", action: "changed", ...defined({ event: call.event }) });
    const signed = { ...call, block: { ...call.block, thoughtSignature: DUMMY_SIGNATURE } };
    return { ...message, blocks: message.blocks.with(first, signed) };
  });
}

/** Makes the list start with the user (G1) and, when `complete`, end with the user (G2). */
export function limitRoles(
  messages: readonly ThreadMessage[],
  complete: boolean,
  hardening: HardeningStep[],
): readonly ThreadMessage[] {
  const limited = [...messages];
  if (limited[0]?.role === "assistant") {
    hardening.push({ rule: "G1", action: "added" });
    limited.unshift({ role: "user", blocks: [OPENING] });
  }
  if (complete && limited.at(-1)?.role === "assistant") {
    hardening.push({ rule: "G2", action: "added" });
    limited.push({ role: "user", blocks: [CLOSING] });
  }
  return limited;
}
