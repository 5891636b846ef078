// What a session tells of the context window of a model: how its name or its headers asked for a larger one, and the largest
// request that was answered. A window is never smaller than that.
import type { Event } from "../event/event.ts";
import { modelFamily } from "../model/model-family.ts";
import type { RequestSize } from "./calibration.ts";

/** What is recorded of a model's window. Tokens. */
export interface RecordedWindow {
  /** What was asked for; null = nothing is recorded. */
  readonly asked: number | null;
  /** The largest request that it answered; 0 = none is recorded. */
  readonly largest: number;
}

/** What of a session is looked at. */
export interface SessionWords {
  /** Models that answered, as the agent wrote them, oldest first. */
  readonly answered: readonly string[];
  /** Events at hand, oldest first: headers are looked for in the newest answer among them. */
  readonly events: readonly Event[];
  readonly requests: readonly Pick<RequestSize, "model" | "size">[];
}

/** Claude with its larger window: a mark in the name, as Claude Code writes it, and a header of requests. */
const MILLION = 1_000_000;
const MILLION_NAME = /\[1m\]$/i;
const MILLION_BETA = /^context-1m-/;

/** Reads what a session tells of a model, whatever route or date stands in its name. */
export function recordedWindow(model: string, { answered, events, requests }: SessionWords): RecordedWindow {
  const family = modelFamily(model);
  let largest = 0;
  for (const request of requests) if (request.model === family && request.size > largest) largest = request.size;
  return { asked: MILLION_NAME.test(model) ? MILLION : askedIn({ answered, events }, family), largest };
}

/** The newest answer of the model tells: a session may go back to the usual window. */
function askedIn({ answered, events }: Pick<SessionWords, "answered" | "events">, family: string): number | null {
  const named = answered.findLast((name) => isOf(name, family));
  if (named !== undefined && MILLION_NAME.test(named)) return MILLION;
  const newest = events.findLast(({ type, metadata }) => type === "chat_response" && isOf(metadata?.model, family));
  const betas = newest?.metadata?.["betas"];
  const isAsked = (beta: unknown): boolean => typeof beta === "string" && MILLION_BETA.test(beta);
  return Array.isArray(betas) && betas.some(isAsked) ? MILLION : null;
}

function isOf(model: unknown, family: string): boolean {
  return typeof model === "string" && modelFamily(model) === family;
}

/** What is known of a model's window beside the session. */
export interface KnownWindow {
  /** What the user set; absent = nothing. */
  readonly set?: number;
  /** What its provider publishes; null = unknown. */
  readonly published: number | null;
}

/** Decides the window: the user's setting, then what the session asked for, then what is published; never below the largest request. Null = unknown. */
export function decideWindow({ set, published }: KnownWindow, { asked, largest }: RecordedWindow): number | null {
  const known = set ?? asked ?? published;
  return known === null ? null : Math.max(known, largest);
}
