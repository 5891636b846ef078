// What a person asked, without what agents and shells put around it: a list of conversations is read by it. Many sessions begin with
// a command of the agent, with its output, or with a paste from a shell, and say what they are about only in a later request.
import { type Event, isUserRequest, type Turn, wordsOfContent } from "./event.ts";
import { shownTitle, titleOfRequest } from "./marks.ts";

/** What agents write around or before words, in elements whose names people do not use: `<system-reminder>`, `<bash-input>`. */
const ELEMENT = /<([a-z]+(?:[-_][a-z]+)+|INSTRUCTIONS)(?:\s[^<>]*)?>[\s\S]*?(?:<\/\1>|$)/g;
/** What stands for something that was pasted, or for a key that was pressed: `[Image #1]`, `[Request interrupted by user]`. */
const PLACEHOLDER = /\[(?:Image|Pasted text|Request interrupted|Truncated text|Attachment)\b[^\][]*\]/gi;
/** A command of the agent as some store it, and the words after it. */
const COMMAND_NAME = /<command-name>([^<]*)<\/command-name>/;
const COMMAND_WORDS = /<command-args>([\s\S]*?)<\/command-args>/;
/** `/mode`, `/workflows:review`; not a path, which has a further slash. */
const SLASH_COMMAND = /^\/[A-Za-z][\w:.-]*(?=\s|$)/;
/** The prompt of a shell before a command: `$ ls`, `~/app % ls`, `ann@host:~/app$ ls`, `➜ app git:(main) ✗ ls`, `PS C:\> dir`. */
const SHELL_PROMPT =
  /^(?:[$%❯➜>]\s+\S|PS [A-Za-z]:\\[^>\n]*>|[\w.-]+@[\w.-]+(?::|\s)\S*\s?[$#%]\s|(?:~|\/)[\w./~-]*\s?[$#%❯]\s|\([\w.-]+\)\s[\w.@:~/-]*\s?[$%]\s)/;
/** `! ls`: agents run it themselves. */
const OWN_SHELL = /^!\s*[a-z]/;
/** What an agent writes in the user's name. */
const HARNESS =
  /^(?:Caveat: The messages below were generated|This session is being continued from a previous|# AGENTS\.md instructions|Warmup$)/;
/** Words after a command of an agent from which on it is a request: `/model opus` is none, `/plan add a parser` is one. */
const LEAST_WORDS = 3;

/** Returns the words with which a person asks, in as many lines as they were written; "" for a text that asks nothing. */
export function askedWords(text: string): string {
  const command = COMMAND_NAME.exec(text)?.[1];
  const typed = command === undefined ? text : `${command} ${COMMAND_WORDS.exec(text)?.[1] ?? ""}`;
  const words = typed.replace(ELEMENT, " ").replace(PLACEHOLDER, " ").trim();
  const [named] = SLASH_COMMAND.exec(words) ?? [];
  if (named !== undefined) return countWords(words.slice(named.length)) < LEAST_WORDS ? "" : words;
  return [SHELL_PROMPT, OWN_SHELL, HARNESS].some((pattern) => pattern.test(words)) ? "" : words;
}

function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => word !== "").length;
}

/** The title that a conversation has by itself: its stored one, or if that asks nothing, the first request that does. */
export function titleByRequests(stored: string, turns: Iterable<Pick<Turn, "events">>): string {
  const own = shownTitle(stored);
  if (own !== "" && askedWords(own) === own) return own;
  for (const { events } of turns) {
    const title = titleOfEvents(events);
    if (title !== "") return title;
  }
  return own;
}

function titleOfEvents(events: readonly Event[]): string {
  for (const event of events) {
    const title = isUserRequest(event) ? titleOfRequest(askedWords(wordsOfContent(event.content))) : "";
    if (title !== "") return title;
  }
  return "";
}
