// What is to be done next, as the events show it: nothing where the work is done and no task is open. Otherwise the last request, what
// was said and done last, and why that is not the end.
import type { Reply } from "./decisions.ts";
import type { Unfinished } from "./ending.ts";
import type { Gathered } from "./gather.ts";
import type { Said } from "./passages.ts";
import { repliesTo } from "./replies.ts";
import { cleanBlock, cutBlock, cutBlockEnd, indented } from "./text-block.ts";

/** Longest request and longest last words that are shown, characters, and the share of the budget that both may take. */
const REQUEST_CHARS = 1200;
const WORDS_CHARS = 700;
const SHARE = 0.25;
const LEAST_CHARS = 160;

/** Why the work is not done, where these turns end. */
const STATES: Readonly<Record<Unfinished, string>> = {
  unanswered: "These turns end with a request that has no answer yet.",
  interrupted: "These turns end where the user interrupted the work.",
  working: "These turns end in the middle of the work, behind a call.",
  announced: "These turns end with an announcement, before what it announces.",
  asked: "These turns end with a question to the user.",
  failed: "These turns end with a call that failed.",
};

/** Writes the steps as lines; `chars` = the budget of the whole extract. */
export function nextSteps(found: Gathered, chars: number): readonly string[] {
  const tasks = found.openTasks.map((task) => `- Open: ${task}`);
  const { unfinished, question, actions } = found.ending;
  if (unfinished === null) return tasks;
  const room = (most: number): number => Math.max(LEAST_CHARS, Math.min(most, chars * SHARE));
  const last = found.requests.at(-1);
  const asked = found.requests.filter(({ turn }, at, all) => turn === last?.turn && all[at - 1]?.turn !== turn);
  const words = found.messages.findLast(({ turn }) => turn >= (last?.turn ?? 0));
  return [
    `- ${STATES[unfinished]}`,
    ...[...new Set([...asked, last])].flatMap((request) => (request === undefined ? [] : [tellRequest(request)])),
    ...(question === undefined ? tellWords(words) : [`- Asked last: ${question}`]),
    ...(actions.length === 0 ? [] : ["- Done last:", ...actions.map((action) => `  - ${action}`)]),
    ...tasks,
  ];

  function tellRequest({ turn, text, after }: Reply): string {
    const question = repliesTo(text, after);
    const to = question === null ? "" : ` (to: ${question})`;
    return `- Request [t${turn}]: ${indented(cutBlockEnd(cleanBlock(text), room(REQUEST_CHARS)))}${to}`;
  }
  function tellWords(said: Said | undefined): readonly string[] {
    if (said === undefined || unfinished === "unanswered") return [];
    return [`- Said last: ${indented(cutBlock(cleanBlock(said.text), room(WORDS_CHARS)))}`];
  }
}
