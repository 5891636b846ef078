// What the result of a call says of a failure: whether a command failed although its exit code was lost in a pipe, and the few
// lines that tell why. Frames of stack traces, progress and tags are left out.
import type { ToolCallResponse } from "../event/event.ts";
import { textsOf } from "../loss/event-texts.ts";
import { scanLines } from "../loss/line-facts.ts";
import { cutEnd, oneLine } from "./short-text.ts";

const LINE_CHARS = 200;
/** Lines that tell why a call failed; more of them say the same. */
const MOST_LINES = 3;
/** Lines longer than this are data. */
const READ_CHARS = 600;

/** What only a run that failed prints at the start of a line: test runners, compilers, package managers, make. */
const VERDICT =
  /^(?:--- FAIL: |FAIL(?:ED)?(?:\s|:|$)|not ok \d|# fail [1-9]|test result: FAILED|make(?:\[\d+\])?: \*\*\* |npm (?:ERR!|error) |error: could not compile|error\[E\d+\]|ERROR task failed|Process exited with code [1-9]|exit status [1-9]|Exit code:? [1-9]|BUILD FAILED|FAILURE: Build failed|error TS\d+|fatal: )|^\S+(?:\(\d+,\d+\)|:\d+:\d+)(?: -)?:? (?:fatal )?error\b|^test .{1,200} \.\.\. FAILED$|^[^\w\n]{0,4}(?:Tests?|Test Files|Test Suites):?\s+(?:\d+ \w+, ?)*[1-9]\d* failed|^[=\s]*[1-9]\d* (?:failed|failing|errors?)\b/;
/** A line that says what is wrong, in the output of what is known to have failed. */
const CAUSE =
  /^(?:\w[\w .-]{0,60}: )?(?:fatal |panic: |uncaught )?(?:[\w.$]{0,80}(?:Error|Exception)\b|error\b|fatal\b|panic\b|failed\b|failure\b|cannot\b|can't\b|could not\b|unable to\b|no such\b|not found\b|undefined\b|permission denied)|: (?:command not found|no such file or directory|permission denied|error\b|undefined:|cannot )|^\S+\.\w{1,5}:\d+(?::\d+)?:? |^[✗✘×●] |^(?:E|AssertionError)\s+\S|\b(?:expected|assert(?:ion)?)\b.*\b(?:got|received|actual|failed|but)\b/i;
/** Frames of stack traces, and their first lines that say no more than that one follows. */
const FRAME =
  /^(?:at (?:async )?\S.*[(:]\S*\d|File ".*", line \d+|goroutine \d+ \[|created by |\S+\.go:\d+ \+0x|\S+\(\{?0x[\da-f, x.{}?]*\)$|\d+: +(?:0x[\da-f]+|\S+::)|#\d+ +0x|from .+:\d+:in |Traceback \(|stack backtrace:|note: run with .RUST_BACKTRACE|\.\.\. \d+ more$)/i;
/** What says only that something went wrong. */
const EMPTY_WORDS =
  /^(?:FAIL(?:ED)?|exit code:? \d+|exit status \d+|error:?|<\/?\w{1,30}>|command failed.{0,40}|[-=_*#~\s]+)$/i;
const TAGS = /^<\w{1,30}>|<\/\w{1,30}>$/g;

/** Whether the output of a command says by itself that what it ran failed. */
export function saysFailed(response: ToolCallResponse): boolean {
  let failed = false;
  eachLine(response, (line) => {
    failed ||= VERDICT.test(line);
  });
  return failed;
}

/** The lines that tell why a call failed, first what names a cause; at most three. */
export function failureLines(response: ToolCallResponse, isShell: boolean): readonly string[] {
  const lines: string[] = [];
  eachLine(response, (line) => {
    if (!FRAME.test(line) && !EMPTY_WORDS.test(line)) lines.push(line);
  });
  const telling = lines.filter((line) => VERDICT.test(line) || CAUSE.test(line));
  // A tool says why at once; a command prints what it likes, and says why at its end.
  const other = isShell ? lines.slice(-1) : lines.slice(0, 1);
  return (telling.length > 0 ? [...new Set(telling)] : other).slice(0, MOST_LINES);
}

function eachLine(response: ToolCallResponse, visit: (line: string) => void): void {
  for (const text of textsOf(response)) {
    scanLines(text, (start, end) => {
      if (end - start > READ_CHARS) return;
      const line = oneLine(text.slice(start, end)).replace(TAGS, "");
      if (line !== "") visit(cutEnd(line, LINE_CHARS));
    });
  }
}
