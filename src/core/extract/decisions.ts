// Decisions that somebody made, in the words in which they were made: answers that the user gave to questions, plans that were
// approved, what the user settled, and what the assistant says that it decided. A proposal is no decision, and what the next
// request turns down is none either.
import { textOfContent } from "../event/content.ts";
import { fieldsOf } from "../event/fields.ts";
import { scanSentences } from "../loss/line-facts.ts";
import type { ToolCall } from "../tools/tool-call.ts";
import { isDecided, isRejecting } from "./cues.ts";
import { isRefused } from "./failures.ts";
import { settledIn } from "./guidance.ts";
import type { Said } from "./passages.ts";
import { isChoice, repliesTo } from "./replies.ts";
import { cutEnd, oneLine } from "./short-text.ts";

/** A request with the answer that stood before it. */
export interface Reply extends Said {
  readonly after?: string;
}

const LINE_CHARS = 400;
/** Tools that ask the user, and those that put a plan to the user, of the agents that have one. */
const ASKING = /^(?:AskUserQuestion|request_user_input|ask_followup_question|ask_user|question|askQuestions)$/;
const PLANNING = /^(?:ExitPlanMode|exit_plan_mode|plan_mode_respond)$/;
const HEADING =
  /^(?:\s*[-*>]*\s*(?:#{1,6}\s*|\*\*))?(?:(?:key|main|design|architectural) )*decisions?(?: made)?:?(?:\*\*)?:?\s*$/i;
const ITEM = /^\s*(?:[-*•+]|\d{1,2}[.)])\s+(\S.*)$/;

/** Lists decisions, in the order of their turns. `answers` = the last message of each turn. */
export function decisionsIn(
  calls: readonly ToolCall[],
  { requests, answers }: { readonly requests: readonly Reply[]; readonly answers: readonly Said[] },
): readonly Said[] {
  const found = [
    ...calls.flatMap(decidedByCall),
    ...requests.flatMap(choiceIn),
    ...settledIn(requests),
    ...answers.filter((answer) => !isTurnedDown(answer, requests)).flatMap(toldIn),
  ];
  const lines = found
    .map(({ turn, text }) => ({ turn, text: cutEnd(oneLine(text).replaceAll("**", ""), LINE_CHARS) }))
    .sort((a, b) => a.turn - b.turn);
  return lines.filter(({ text }, at) => !lines.some((other, by) => by !== at && isSaidBy(other.text, text, by < at)));
}

function decidedByCall({ request, response, turn, responseTurn = turn }: ToolCall): readonly Said[] {
  if (response === null || response.is_error || isRefused(response)) return [];
  if (PLANNING.test(request.name)) {
    const { plan } = fieldsOf(request.arguments);
    if (typeof plan !== "string" || plan.trim() === "") return [];
    return [{ turn: responseTurn, text: `the user approved the plan: ${cutEnd(oneLine(plan), LINE_CHARS / 2)}` }];
  }
  if (!ASKING.test(request.name)) return [];
  const given = oneLine(textOfContent(response.content));
  const asked = questionsIn(request.arguments).map((question) => cutEnd(oneLine(question), LINE_CHARS / 2));
  return asked.length === 0 || given === "" ? [] : [{ turn: responseTurn, text: `${asked.join(" / ")} → ${given}` }];
}

function questionsIn(args: unknown): readonly string[] {
  const { question, questions } = fieldsOf(args);
  const all = Array.isArray(questions) ? questions.map((entry) => fieldsOf(entry)["question"]) : [question];
  return all.filter((text) => typeof text === "string");
}

function choiceIn({ turn, text, after }: Reply): readonly Said[] {
  const question = isChoice(text, after) ? repliesTo(text, after) : null;
  return question === null ? [] : [{ turn, text: `${cutEnd(oneLine(text), LINE_CHARS / 2)} (to: ${question})` }];
}

function isTurnedDown({ turn }: Said, requests: readonly Said[]): boolean {
  const next = requests.find((request) => request.turn > turn);
  return next !== undefined && isRejecting(next.text);
}

/** Whether a text says what another does, and more, or the same before it. */
function isSaidBy(other: string, text: string, isBefore: boolean): boolean {
  return other.startsWith(text) && (other.length > text.length || isBefore);
}

/** What an answer says that was decided: in sentences, and in the items below a heading that says so. */
function toldIn({ turn, text }: Said): readonly Said[] {
  const found: Said[] = [];
  const prose = text.replace(/```[\s\S]*?(?:```|$)/g, "");
  let isListed = false;
  for (const line of prose.split("\n")) {
    const item = ITEM.exec(line)?.[1];
    if (isListed && item !== undefined) found.push({ turn, text: item });
    else if (line.trim() !== "") isListed = HEADING.test(line);
  }
  scanSentences(prose, (start, end) => {
    const sentence = prose.slice(start, end).replace(/^(?:[-*•+]|\d{1,2}[.)])\s+/, "");
    if (isDecided(sentence)) found.push({ turn, text: sentence });
  });
  return found;
}
