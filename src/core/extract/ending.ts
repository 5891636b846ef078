// How a stretch of a conversation ends: with the work done, or in the middle of it. In the middle is what ends in a request, a call,
// an announcement, a question to the user or an answer that was broken off. Then the last request and the last actions are what
// whoever goes on must know.
import { defined } from "../defined.ts";
import { textOfContent } from "../event/content.ts";
import { type Event, isUserRequest, traitsOf } from "../event/event.ts";
import { scanSentences } from "../loss/line-facts.ts";
import type { PlacedEvent } from "../summary/placed-event.ts";
import type { ToolCall } from "../tools/tool-call.ts";
import { isAnnouncement, isWaiting } from "./cues.ts";
import { failureLines } from "./failure-lines.ts";
import { hasFailed, nameCall } from "./failures.ts";
import { questionOf } from "./replies.ts";
import { cutEnd, oneLine } from "./short-text.ts";
import { typedText } from "./typed-text.ts";

/** Why a stretch is not finished. */
export type Unfinished = "unanswered" | "interrupted" | "working" | "announced" | "asked" | "failed";

export interface Ending {
  /** Null where the last answer ends the work. */
  readonly unfinished: Unfinished | null;
  /** The question that the user was asked last; only with `asked`. */
  readonly question?: string;
  /** What was done last, in order, a line each; empty where the work is finished. */
  readonly actions: readonly string[];
}

const LAST_ACTIONS = 5;
const INTERRUPTED = /^\s*\[Request interrupted\b|^<turn_aborted>/;
/** An offer that ends an answer out of politeness. */
const POLITE =
  /^(?:let me know|feel free|happy to|just ask|tell me|is there anything else|anything else|do you (?:need|have) any(?:thing)?)\b.{0,20}\b(?:if|else|need|want|question|help|to help)\b/i;
const USERS_TURN = /\b(?:let me know|tell me|say the word|say so|ping me)\b/i;
/** Sentences at the end of an answer that say what is next. */
const LAST_SENTENCES = 2;

/** Tells how events end; `calls` are theirs. */
export function endingOf(events: readonly PlacedEvent[], calls: readonly ToolCall[]): Ending {
  const { unfinished, question } = whyUnfinished(events, calls);
  if (unfinished === null) return { unfinished, actions: [] };
  const turn = events.findLast(({ event }) => traitsOf(event).providerVisible)?.turn;
  const actions = calls
    .filter((call) => call.turn === turn)
    .slice(-LAST_ACTIONS)
    .map(tellAction);
  return { unfinished, ...defined({ question }), actions };
}

interface Why {
  readonly unfinished: Unfinished | null;
  readonly question?: string;
}

function whyUnfinished(events: readonly PlacedEvent[], calls: readonly ToolCall[]): Why {
  const visible = events.map(({ event }) => event).filter(isTelling);
  const last = visible.at(-1);
  if (last === undefined) return { unfinished: null };
  if (isInterruption(last)) return { unfinished: "interrupted" };
  if (isUserRequest(last)) return { unfinished: "unanswered" };
  if (last.type !== "chat_response" || last.message === undefined) return { unfinished: "working" };
  const said = textOfContent(last.message);
  const question = questionOf(said);
  if (question !== null && !POLITE.test(question)) return { unfinished: "asked", question };
  if (isToBeContinued(said)) return { unfinished: "announced" };
  const call = calls.at(-1);
  const isLastAct = call !== undefined && visible.at(-2) === call.response;
  return { unfinished: isLastAct && hasFailed(call) ? "failed" : null };
}

/** What tells how a stretch ends: all that a model is sent but for reasoning, what a harness adds and requests that nobody typed. */
function isTelling(event: Event): boolean {
  if (!traitsOf(event).providerVisible) return false;
  if (event.type === "chat_response") return event.message === undefined ? false : textOfContent(event.message) !== "";
  if (event.type !== "chat_request") return true;
  return isInterruption(event) || (isUserRequest(event) && !isEmptyRequest(event));
}

function isEmptyRequest(event: Extract<Event, { type: "chat_request" }>): boolean {
  const text = textOfContent(event.content);
  return text.trim() !== "" && typedText(text).trim() === "";
}

function isInterruption(event: Event): boolean {
  return event.type === "chat_request" && INTERRUPTED.test(textOfContent(event.content));
}

function isToBeContinued(said: string): boolean {
  const text = said.trim();
  if (/[:：]$/.test(text)) return true;
  const sentences: string[] = [];
  const end = text.slice(-1500);
  scanSentences(end, (start, stop) => sentences.push(end.slice(start, stop)));
  return sentences
    .slice(-LAST_SENTENCES)
    .map((sentence) => sentence.replace(/^[\s*_>#-]+/, ""))
    .some((sentence) => {
      if (POLITE.test(sentence)) return false;
      return isAnnouncement(sentence) || isWaiting(sentence) || USERS_TURN.test(sentence);
    });
}

function tellAction(call: ToolCall): string {
  const name = nameCall(call);
  if (call.response === null) return `${name} (no result yet)`;
  if (!hasFailed(call)) return call.response.is_error ? `${name} (refused by the user)` : name;
  const [line = ""] = failureLines(call.response, true);
  return cutEnd(oneLine(`${name} (failed: ${line})`), 300);
}
