// The errors that results showed, as lines: the first lines of errors, tests that failed, and what a failed call said. Equal
// ones, numbers aside, count once, where they were last seen. What files hold that were only read is no error.
import type { ToolCallRequest, ToolCallResponse } from "../event/event.ts";
import { textsOf } from "../loss/event-texts.ts";
import { errorLines, scanLines } from "../loss/line-facts.ts";
import { callFacts } from "../tools/call-facts.ts";
import type { ToolCall } from "../tools/tool-call.ts";
import { TROUBLE } from "./cues.ts";
import { cutEnd, oneLine } from "./short-text.ts";

/** An error with the turn (0-based) that last showed it. */
export interface SeenError {
  readonly turn: number;
  readonly line: string;
}

const LINE_CHARS = 200;
/** Lines of one result that are taken. */
const LINES_OF_RESULT = 12;
const FAILED_TEST = /^(?:--- FAIL: |FAIL(?:ED)?[: ]|not ok \d|[✗✘×] )|^test .{1,200} \.\.\. FAILED$/;
/** Tags that an agent puts around what a tool says of an error. */
const TAGS = /^<\w{1,30}>|<\/\w{1,30}>$/g;
/** What says only that something went wrong. */
const EMPTY_WORDS = /^(?:exit code \d+|error:?|<\/?\w{1,30}>|command failed.{0,40})$/i;

/** Lists the errors of calls, in the order in which they were last seen. */
export function errorsSeen(calls: readonly ToolCall[]): readonly SeenError[] {
  const errors = new Map<string, SeenError>();
  for (const { request, response, turn, responseTurn = turn } of calls) {
    if (response === null || !mayFail(request, response)) continue;
    for (const line of linesOf(response, callFacts(request).kind === "shell")) {
      const key = line.replace(/\d+/g, "0").slice(0, LINE_CHARS / 2);
      errors.delete(key);
      errors.set(key, { turn: responseTurn, line });
    }
  }
  return [...errors.values()];
}

function mayFail(request: ToolCallRequest, response: ToolCallResponse): boolean {
  if (response.is_error) return true;
  const { kind } = callFacts(request);
  return kind === "shell" || kind === "other";
}

function linesOf(response: ToolCallResponse, isShell: boolean): readonly string[] {
  const lines = [...errorLines(response).slice(0, LINES_OF_RESULT)];
  let said: string | null = null;
  for (const text of textsOf(response)) {
    scanLines(text, (start, end) => {
      if (end - start > 2 * LINE_CHARS) return;
      const line = text.slice(start, end);
      if (FAILED_TEST.test(line) && lines.length < LINES_OF_RESULT) lines.push(line);
      if (!EMPTY_WORDS.test(line)) said ??= line;
    });
  }
  // A failed command may print anything before it says why; what another tool says first is why.
  const isWhy = (line: string, at: number): boolean => at > 0 || !isShell || !response.is_error || TROUBLE.test(line);
  const told = lines.filter((line, at) => !EMPTY_WORDS.test(line) && isWhy(line, at));
  const all = told.length === 0 && response.is_error && !isShell && said !== null ? [said] : told;
  return [...new Set(all.map((line) => cutEnd(oneLine(line).replace(TAGS, ""), LINE_CHARS)))].filter(
    (line) => line !== "",
  );
}
