// Short replies with what they reply to: "yes" and "2" say nothing without the question. A question is known by its mark, an option
// by its number, in whatever language they are.
import { scanSentences } from "../loss/line-facts.ts";
import { isYesOrNo } from "./cues.ts";
import { cutEnd, oneLine } from "./short-text.ts";

/** Longest reply that is looked at for what it replies to, and the longest that always carries it; characters. */
const REPLY_CHARS = 60;
const BARE_CHARS = 12;
/** Characters of an answer's end that are searched for its question, and the longest question shown. */
const SEARCHED_CHARS = 1500;
const QUESTION_CHARS = 300;
/** A shorter last sentence ("Done.") tells nothing. */
const TELLING_CHARS = 15;
/** A shorter question ("OK?") asks about the sentence before it. */
const SHORT_QUESTION = 40;
/** A reply that names an option by number or letter, with few words around. */
const CHOICE = /^\D{0,40}?(?<![\w.])(\d{1,2}|[A-Ha-h])(?![\w.]*\w)\D{0,60}$/;

/** What a reply replies to; null where it is not short, or nothing came before it. */
export function repliesTo(reply: string, answer: string | undefined): string | null {
  const text = reply.trim();
  if (answer === undefined || !(isShort(text) || isYesOrNo(text))) return null;
  const question = questionOf(answer);
  const parts = [question, optionOf(text, answer)].filter((part) => part !== null);
  if (parts.length > 0) return parts.map((part) => cutEnd(part, QUESTION_CHARS)).join(" / ");
  return text.length <= BARE_CHARS ? lastSentence(answer) : null;
}

/** Whether a text begins with yes or no to a question, or chooses one of the options of an answer: what a person decided. */
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

/** The last question that an answer ends with: in its last paragraph, or in the last line that is no item; null = none. */
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

/** The option of an answer that a reply names; null when it names none, or no such option stands there. */
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
  return last.length < TELLING_CHARS ? null : cutEnd(oneLine(last), QUESTION_CHARS);
}
