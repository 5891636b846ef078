// Decisions, quoted word for word: answers that the user gave to questions, plans that were approved, what the user settled, and what the
// assistant says that it decided. A proposal is no decision, nor is anything that the next request rejects.
import { fieldsOf, textOfContent } from "../conversation/event.ts";
import { scanSentences } from "./facts.ts";
import { isRefused, nameCall } from "./failures.ts";
import {
  cutEnd,
  isDecided,
  isGuidance,
  isRejecting,
  isSettling,
  isYesOrNo,
  oneLine,
  type Utterance,
} from "./passages.ts";
import type { ToolCall } from "./tool-call.ts";

/** A request with the answer before it. */
export interface Reply extends Utterance {
  readonly answerBefore?: string;
}

const LINE_CHARS = 400;
/** Tools of agents that ask the user, and tools that present a plan to the user. */
const ASKING = /^(?:AskUserQuestion|request_user_input|ask_followup_question|ask_user|question|askQuestions)$/;
const PLANNING = /^(?:ExitPlanMode|exit_plan_mode|plan_mode_respond)$/;
const HEADING =
  /^(?:\s*[-*>]*\s*(?:#{1,6}\s*|\*\*))?(?:(?:key|main|design|architectural) )*decisions?(?: made)?:?(?:\*\*)?:?\s*$/i;
const ITEM = /^\s*(?:[-*•+]|\d{1,2}[.)])\s+(\S.*)$/;

/** Lists decisions, in the order of their turns. `answers` = the last message of each turn. */
export function listDecisions(
  calls: readonly ToolCall[],
  { requests, answers }: { readonly requests: readonly Reply[]; readonly answers: readonly Utterance[] },
): readonly Utterance[] {
  const found = [
    ...calls.flatMap(decisionsInCall),
    ...requests.flatMap(choiceInReply),
    ...listSettled(requests),
    ...answers.filter((answer) => !isTurnedDown(answer, requests)).flatMap(decisionsInAnswer),
  ];
  const lines = found
    .map(({ turn, text }) => ({ turn, text: cutEnd(oneLine(text).replaceAll("**", ""), LINE_CHARS) }))
    .sort((a, b) => a.turn - b.turn);
  return lines.filter(
    ({ text }, at) => !lines.some((other, by) => by !== at && isContainedIn(other.text, text, by < at)),
  );
}

function decisionsInCall({ request, response, turn, responseTurn = turn }: ToolCall): readonly Utterance[] {
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

function choiceInReply({ turn, text, answerBefore }: Reply): readonly Utterance[] {
  const question = isChoice(text, answerBefore) ? findQuestion(text, answerBefore) : null;
  return question === null ? [] : [{ turn, text: `${cutEnd(oneLine(text), LINE_CHARS / 2)} (to: ${question})` }];
}

function isTurnedDown({ turn }: Utterance, requests: readonly Utterance[]): boolean {
  const next = requests.find((request) => request.turn > turn);
  return next !== undefined && isRejecting(next.text);
}

/** Whether another text begins with this one and says more, or is the same and comes first. */
function isContainedIn(other: string, text: string, isBefore: boolean): boolean {
  return other.startsWith(text) && (other.length > text.length || isBefore);
}

/** Decisions that an answer reports: in sentences, and as items below a heading that says so. */
function decisionsInAnswer({ turn, text }: Utterance): readonly Utterance[] {
  const found: Utterance[] = [];
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

// What the user wants observed, in the user's words: sentences of requests that state a rule, a ban or a correction, and what was said when
// a call was refused. Pasted logs, code and quotations are not the user's words.

/** Longest sentence taken, and characters read at the start and at the end of a long request. */
const SENTENCE_CHARS = 500;
const READ_CHARS = 6000;
const PASTED = /```[\s\S]*?(?:```|(?![\s\S]))|"""[\s\S]*?(?:"""|(?![\s\S]))|^\s*>.*$/gm;
/** Quoted text of at least 200 characters is somebody else's; shorter, it may be a name or a rule. */
const QUOTED = /(?<![^\s(])"(?=\S)[^"]{200,}(?<=\S)"(?![\p{L}\p{N}])|“[^”]{200,}”|„[^“]{200,}“|«[^»]{200,}»/gu;
/** A line that says whose words follow, unless they are the user's own. */
const OF_OTHERS =
  /^(?!.*\b(?:I|my|our|we)\b).*(?:\breview(?:er)?s?\b|\bfeedback\b|\bcomments?\b|\b(?:said|says|wrote|writes|replied|reports?|reported)\b).*:[ \t]*$/im;
/** What review tools print above a finding. */
const FINDING = /^[^\w\n]*(?:(?:critical|high|medium|low|major|minor) severity|severity[^\w\n]+\w+)[^\w\n]*$/im;
const LIST_MARK = /^(?:[-*•+]|\d{1,2}[.)])\s+/;
/** Lines that a program printed: logs, traces, tables, code. */
const PRINTED =
  /^(?:\[|[{}|$#<]|---|===|\d{4}-\d\d-\d\d|\d\d:\d\d|(?:error|warning|info|debug|fatal)\b[ :[]|at |\S+\.\w{1,5}:\d+)|[{};]$|\S+\(\S*\)$/i;
const SAID_THEN = /\bthe user said:\s*([\s\S]+)$/i;

/** Lists the sentences of requests that say what to observe, in order. */
export function listGuidance(requests: readonly Utterance[]): readonly Utterance[] {
  return sentencesOf(requests).filter(({ text }) => isGuidance(text));
}

/** Lists the sentences of requests that settle something, in order. */
function listSettled(requests: readonly Utterance[]): readonly Utterance[] {
  return sentencesOf(requests).filter(({ text }) => isSettling(text));
}

/** Lists what was said when calls were refused, with the call; skips refusals without words. */
export function listRefusals(calls: readonly ToolCall[]): readonly Utterance[] {
  return calls.flatMap((call) => {
    if (call.response === null || !isRefused(call.response)) return [];
    const words = SAID_THEN.exec(textOfContent(call.response.content))?.[1];
    if (words === undefined) return [];
    const text = `${cutEnd(oneLine(words), SENTENCE_CHARS)} (refusing ${nameCall(call)})`;
    return [{ turn: call.responseTurn ?? call.turn, text }];
  });
}

function sentencesOf(requests: readonly Utterance[]): readonly Utterance[] {
  return requests.flatMap(({ turn, text }) => {
    const typed = typedByUser(startAndEnd(text));
    const found: Utterance[] = [];
    scanSentences(typed, (start, end) => {
      const sentence = oneLine(typed.slice(start, end)).replace(LIST_MARK, "");
      if (sentence.length <= SENTENCE_CHARS && !PRINTED.test(sentence)) found.push({ turn, text: sentence });
    });
    return found;
  });
}

/** Removes what is pasted or quoted, and everything after a line which says that somebody else's words follow. */
function typedByUser(text: string): string {
  const typed = text.replace(PASTED, "").replace(QUOTED, "\n");
  if (FINDING.test(typed)) return "";
  const from = OF_OTHERS.exec(typed)?.index;
  return from === undefined ? typed : typed.slice(0, from);
}

function startAndEnd(text: string): string {
  return text.length > 2 * READ_CHARS ? `${text.slice(0, READ_CHARS)}\n${text.slice(-READ_CHARS)}` : text;
}

// Short replies with what they answer: "yes" and "2" say nothing without the question. A question is recognised by its mark, an option by
// its number, in any language.

/** Longest reply whose question is looked for, and the longest that always carries it; characters. */
const REPLY_CHARS = 60;
const BARE_CHARS = 12;
/** Characters of an answer's end that are searched for its question, and the longest question shown. */
const SEARCHED_CHARS = 1500;
const QUESTION_CHARS = 300;
/** A shorter last sentence ("Done.") says nothing. */
const LEAST_SENTENCE_CHARS = 15;
/** A shorter question ("OK?") asks about the sentence before it. */
const SHORT_QUESTION = 40;
/** A reply that names an option by number or letter, with few words around. */
const CHOICE = /^\D{0,40}?(?<![\w.])(\d{1,2}|[A-Ha-h])(?![\w.]*\w)\D{0,60}$/;

/** Finds what a reply answers; null if the reply is not short, or nothing came before it. */
export function findQuestion(reply: string, answer: string | undefined): string | null {
  const text = reply.trim();
  if (answer === undefined || !(isShort(text) || isYesOrNo(text))) return null;
  const question = questionOf(answer);
  const parts = [question, optionOf(text, answer)].filter((part) => part !== null);
  if (parts.length > 0) return parts.map((part) => cutEnd(part, QUESTION_CHARS)).join(" / ");
  return text.length <= BARE_CHARS ? lastSentence(answer) : null;
}

/** Whether a reply begins with yes or no to a question, or chooses one of an answer's options: a person's decision. */
export function isChoice(reply: string, answer: string | undefined): boolean {
  const text = reply.trim();
  if (answer === undefined) return false;
  if (questionOf(answer) !== null && isYesOrNo(text)) return true;
  return isShort(text) && optionOf(text, answer) !== null;
}

/** Short, on one line, no question and no command for the agent's own program or its shell. */
function isShort(text: string): boolean {
  return text !== "" && text.length <= REPLY_CHARS && !/\n|[?？؟]$|^[/!]/.test(text);
}

/** The last question that an answer ends with: in its last paragraph, or in its last line that is no item; null = none. */
export function questionOf(answer: string): string | null {
  const end = answer.slice(-SEARCHED_CHARS).replace(/```[\s\S]*?(?:```|$)/g, "");
  const sentences: string[] = [];
  const last =
    end
      .trim()
      .split(/\n\s*\n/)
      .at(-1) ?? "";
  scanSentences(last, (start, stop) => sentences.push(last.slice(start, stop)));
  const at = sentences.findLastIndex((sentence) => /[?？؟][*_)"'”»]*$/.test(sentence));
  if (at < 0) return null;
  const isShort = (sentences[at] ?? "").length < SHORT_QUESTION;
  return oneLine(sentences.slice(isShort ? Math.max(0, at - 1) : at).join(" "));
}

/** The option of an answer that a reply names; null when it names none, or the answer has no such option. */
function optionOf(reply: string, answer: string): string | null {
  const label = CHOICE.exec(reply)?.[1];
  if (label === undefined) return null;
  const item = new RegExp(
    `^[ \\t>#*_|-]*(?:\\w{1,12} )?${label}[.):](?:\\*\\*)?[ \\t]+(\\S.*)$|^\\|[ \\t*]*${label}[ \\t*]*\\|(.+)\\|[ \\t]*$`,
    "gim",
  );
  const found = [...answer.matchAll(item)].at(-1);
  const text = found?.[1] ?? found?.[2];
  return text === undefined ? null : oneLine(`${label}: ${text}`.replaceAll("**", ""));
}

function lastSentence(answer: string): string | null {
  let last = "";
  const end = answer.slice(-SEARCHED_CHARS);
  scanSentences(end, (start, stop) => {
    if (!end.startsWith("```", start)) last = end.slice(start, stop);
  });
  return last.length < LEAST_SENTENCE_CHARS ? null : cutEnd(oneLine(last), QUESTION_CHARS);
}
