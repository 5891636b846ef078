// The calls that failed, and what became of them. A failure counts where somebody would have to know of it: a command, a change or
// another tool that failed, not a look at what is not there, and not a change that was made with the next try. What looks like an
// error in the output of a command that succeeded is none.
import { type ToolCallResponse, textOfContent } from "../conversation/event.ts";
import { appendAll } from "../lists.ts";
import { scanLines } from "./facts.ts";
import { stringsIn, textsOf } from "./hidden-content.ts";
import { cutEnd, oneLine } from "./passages.ts";
import { definedNames } from "./summary-answer.ts";
import { callFacts, isWriting, type ToolCall } from "./tool-call.ts";

/** A failure, and what mended it. */
export interface FailedCall {
  /** Turn of the failure, 0-based. */
  readonly turn: number;
  /** What failed: the command, or the tool and its file. */
  readonly what: string;
  /** Why, in the words of its result; may be empty. */
  readonly lines: readonly string[];
  /** Where the same thing worked later, and the files that were changed until then; null = nowhere. */
  readonly fixed: { readonly turn: number; readonly changed: readonly string[] } | null;
}

const WHAT_CHARS = 120;
/** Files named as what mended a failure. */
const MOST_CHANGED = 4;
/** Results by which a person, not a tool, ended a call; what was said then is guidance. */
const REFUSED =
  /^(?:The user doesn't want to (?:proceed with|take) this|\[Request interrupted|(?:exec )?(?:command )?rejected by user|User rejected|Interrupted by user|aborted by user)|^<tool_use_error>Sibling tool call errored/i;

/** Whether a person refused the call. */
export function isRefused(response: ToolCallResponse): boolean {
  return response.is_error && REFUSED.test(textOfContent(response.content).trimStart().slice(0, 200));
}

/** Whether a call failed: as its result says, or as the output of its command does. */
export function hasFailed(call: ToolCall): boolean {
  const { request, response } = call;
  if (response === null || isRefused(response)) return false;
  if (response.is_error) return true;
  return callFacts(request).kind === "shell" && lastAction(commandOf(call)) !== null && saysFailed(response);
}

/** Lists the failures of calls, in the order of the calls; the same failure again and again comes once, as it was last. */
export function listFailures(calls: readonly ToolCall[]): readonly FailedCall[] {
  const log: FailureLog = { open: new Map(), found: [], changed: [] };
  for (const [at, call] of calls.entries()) {
    if (call.response === null || isRefused(call.response)) continue;
    if (hasFailed(call)) {
      const key = keyOf(call);
      if (key !== null) log.open.set(key, { at, call, changedBefore: log.changed.length });
    } else {
      closeFixed(log, call);
      appendAll(log.changed, changedFiles(call));
    }
  }
  const everChanged = new Set(log.changed);
  for (const failure of log.open.values()) {
    // A change that failed where others were made was made in another way.
    if (!changedFiles(failure.call).some((file) => everChanged.has(file))) log.found.push(describe(failure, null));
  }
  return log.found.sort((a, b) => a.at - b.at).map(({ at: _, ...failure }) => failure);
}

interface FailureLog {
  /** By what would make them good. */
  readonly open: Map<string, OpenFailure>;
  readonly found: (FailedCall & { readonly at: number })[];
  /** Files that calls changed so far, in order. */
  readonly changed: string[];
}

/** Closes the failures that a call makes good. Those of a moment ago that needed no change tell nothing. */
function closeFixed({ open, found, changed }: FailureLog, call: ToolCall): void {
  for (const key of fixKeys(call)) {
    const failure = open.get(key);
    open.delete(key);
    if (failure === undefined || isWriting(callFacts(call.request).kind)) continue;
    const files = [...new Set(changed.slice(failure.changedBefore))].slice(-MOST_CHANGED);
    const turn = call.responseTurn ?? call.turn;
    if (files.length > 0 || turn !== failure.call.turn) found.push(describe(failure, { turn, changed: files }));
  }
}

interface OpenFailure {
  readonly at: number;
  readonly call: ToolCall;
  readonly changedBefore: number;
}

function describe({ at, call }: OpenFailure, fixed: FailedCall["fixed"]): FailedCall & { readonly at: number } {
  const isShell = callFacts(call.request).kind === "shell";
  const lines = call.response === null ? [] : failureLines(call.response, isShell);
  return { at, turn: call.responseTurn ?? call.turn, what: nameCall(call), lines, fixed };
}

/** What a call would have to do to make a failure good; null for one that nobody need know of. */
function keyOf(call: ToolCall): string | null {
  const { kind, path } = callFacts(call.request);
  if (kind === "read" || kind === "search" || kind === "list") return null;
  if (isWriting(kind)) return `file ${path ?? ""}`;
  if (kind !== "shell") return `tool ${call.request.name}`;
  const action = lastAction(commandOf(call));
  return action === null ? null : `run ${action}`;
}

function fixKeys(call: ToolCall): readonly string[] {
  const { kind, path, paths } = callFacts(call.request);
  if (isWriting(kind)) return (paths ?? [path ?? ""]).map((file) => `file ${file}`);
  if (kind === "shell") return [...new Set(actionsOf(commandOf(call)).map((action) => `run ${action}`))];
  return kind === "other" ? [`tool ${call.request.name}`] : [];
}

function changedFiles(call: ToolCall): readonly string[] {
  const { kind, path, paths } = callFacts(call.request);
  if (!isWriting(kind)) return [];
  return paths ?? (path === undefined ? [] : [path]);
}

/** Names a call in a line: its command, or its tool with its file. */
export function nameCall(call: ToolCall): string {
  const { kind, path, paths } = callFacts(call.request);
  if (kind === "shell") return `\`${commandName(commandOf(call))}\``;
  const file = path ?? paths?.join(", ");
  return file === undefined ? call.request.name : cutEnd(oneLine(`${call.request.name} ${file}`), WHAT_CHARS + 40);
}

/** The first line of a command, as short as it still tells itself from others. */
function commandName(command: string): string {
  const [line = "", ...more] = plainCommand(command).split("\n");
  const name = cutEnd(oneLine(line), WHAT_CHARS);
  return more.length === 0 || name.endsWith("…") ? name : `${name} …`;
}

/** The command line of a call of a shell; "" for others. */
function commandOf({ request }: ToolCall): string {
  const { command, cmd, script } = (request.arguments ?? {}) as Readonly<Record<string, unknown>>;
  const line = command ?? cmd ?? script ?? "";
  if (!Array.isArray(line)) return typeof line === "string" ? line : "";
  const words = line.filter((word) => typeof word === "string");
  return words.length === 3 && /^-l?c$/.test(words[1] ?? "") ? (words[2] ?? "") : words.join(" ");
}

/** Programs that show something and change nothing, as they are used by agents. */
const READ_ONLY_PROGRAMS: ReadonlySet<string> = new Set(
  (
    "awk basename cat cd command cut date df diff dirname du echo env export fd file find grep head jq less ls nl printf ps " +
    "pwd readlink realpath rg sleep sort stat tail test tr tree true type uniq wc which"
  ).split(" "),
);
const GIT_READ_ONLY =
  /^git (?:-C \S+ |--no-pager )*(?:blame|branch --show-current|branch -[avlr]+|cat-file|config --get\S*|diff|log|ls-files|ls-tree|remote -v|rev-parse|shortlog|show|status)\b/;
const SED_READ_ONLY = /^sed (?:-n|-E -n|-ne)\b/;
const GO_READ_ONLY = /^go (?:doc|env|list|version)\b/;
/** What stands in quotes separates no commands. */
const QUOTED = /'[^']*'|"(?:[^"\\]|\\.)*"/g;
/** Most characters looked at; ledgers keep less. */
const SEEN_CHARS = 400;
/** What stands before a program: values of variables, and words of the shell. */
const BEFORE_PROGRAM = /^(?:(?:[A-Za-z_]\w*=\S*|time|sudo|nohup|command|exec|then|do|else|!)\s+)+/;
/** Programs whose next word says what they do. */
const WITH_VERB =
  /^(?:git|go|cargo|npm|pnpm|yarn|bun|deno|npx|uv|poetry|pip3?|python3?|node|docker|kubectl|mise|make|just|task|gradle|\.\/gradlew|mvn|dotnet|mix|rake|bundle|swift|terraform|gh|glab)$/;
/** A pipe that only shortens what is shown, at the end of a line. */
const SHORTENED = /(?:\s*2>&1)?(?:\s*\|\s*(?:head|tail)(?:\s+-\w*\s*\d+|\s+-n\s*\d+)?)?\s*$/;
const MOVED = /^cd\s+(?:"[^"]*"|'[^']*'|\S+)\s*(?:&&|;|\n)\s*/;
/** A script given in the command line itself: one has nothing to do with the next. */
const INLINE = /^(?:python3?|node|ruby|perl|bash|sh|zsh|deno|bun)\s+(?:-\w*[ce]\b|--eval\b|eval\b|-(?=\s|$)|<<)/;
const VALUE = /^[A-Za-z_]\w*=\$\(\s*/;

/** Whether a command line, all of its parts, only looks. */
export function isReadOnly(command: string): boolean {
  return partsOf(command).every(isReadOnlyPart);
}

/** The command without what shortens its output and the folder it begins with, as its reader tells it from others. */
export function plainCommand(command: string): string {
  return command.trim().replace(MOVED, "").replace(SHORTENED, "").trim();
}

/** What the last part that does something runs: `go test`, `npm run lint`; null when all only look. */
export function lastAction(command: string): string | null {
  return actionsOf(command).at(-1) ?? null;
}

/** What the parts run that do something, in order. */
export function actionsOf(command: string): readonly string[] {
  return partsOf(command)
    .filter((part) => !isReadOnlyPart(part))
    .map((part) => actionOf(part, command));
}

function actionOf(part: string, command: string): string {
  const bare = bareOf(part);
  if (INLINE.test(bare)) return command;
  const [program = "", verb = "", what = ""] = bare.split(/\s+/);
  if (!WITH_VERB.test(program)) return /^\w[\w:-]*$/.test(verb) ? `${program} ${verb}` : program;
  return verb === "run" || verb === "-m" || verb === "exec" ? `${program} ${verb} ${what}` : `${program} ${verb}`;
}

function bareOf(part: string): string {
  return part.replace(VALUE, "").replace(BEFORE_PROGRAM, "");
}

function partsOf(command: string): readonly string[] {
  return command
    .slice(0, SEEN_CHARS)
    .replace(QUOTED, "Q")
    .replace(/["'].*/s, "Q")
    .split(/&&|[;|\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== "" && !/^(?:for .*|done|fi|esac|\\)$/.test(part));
}

function isReadOnlyPart(part: string): boolean {
  if (/[^0-9&>]>{1,2}(?!>)\s*(?!\/dev\/null|&)\S/.test(part)) return false;
  const bare = bareOf(part);
  const [program = ""] = bare.split(/\s/, 1);
  // A value given to a variable, alone.
  if (/^[A-Za-z_]\w*=/.test(program)) return true;
  return (
    READ_ONLY_PROGRAMS.has(program) || GIT_READ_ONLY.test(bare) || SED_READ_ONLY.test(bare) || GO_READ_ONLY.test(bare)
  );
}

// What the result of a call says of a failure: whether a command failed although its exit code was lost in a pipe, and the few
// lines that tell why. Frames of stack traces, progress and tags are left out.

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
function saysFailed(response: ToolCallResponse): boolean {
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

/** The last change of a file. */
export interface LastChange {
  /** Turn position, 0-based. */
  readonly turn: number;
  /** Whether that took the file away. */
  readonly isDeleted: boolean;
  /** What the changes of the file define, each once, the newest first; of calls that change several files none. */
  readonly names: readonly string[];
}

/** Gives the changes of files by their paths as written, those that were changed last at the end. What failed is none. */
export function changesOf(calls: readonly ToolCall[]): ReadonlyMap<string, LastChange> {
  const changes = new Map<string, LastChange>();
  for (const { request, response, turn, responseTurn = turn } of calls) {
    const { kind, path, paths = path === undefined ? [] : [path] } = callFacts(request);
    if (!isWriting(kind) || response?.is_error === true) continue;
    const texts = stringsIn(request.arguments);
    const names = paths.length > 1 ? [] : texts.flatMap((text) => [...definedNames(text)]);
    for (const file of paths) {
      const isDeleted = texts.some((text) => text.includes(`*** Delete File: ${file}`));
      const before = changes.get(file)?.names ?? [];
      changes.delete(file);
      changes.set(file, { turn: responseTurn, isDeleted, names: [...new Set([...names, ...before])] });
    }
  }
  return changes;
}

/** Names told of the changes of a file. */
const MOST_NAMES = 6;

/**
 * Says of each of some files what became of it, in their order: ` (t12: parse, render)`. Together they take `chars` characters at most;
 * where there is no room for all, those that were changed last have it, and the others are "".
 */
export function changeNotes(
  files: readonly string[],
  changes: ReadonlyMap<string, LastChange>,
  chars: number,
): readonly string[] {
  const notes = new Map<string, string>();
  let left = chars;
  for (const [file, change] of [...changes].reverse()) {
    const note = noteOf(change);
    if (note.length > left) continue;
    left -= note.length;
    notes.set(file, note);
  }
  return files.map((file) => notes.get(file) ?? "");
}

function noteOf({ turn, isDeleted, names }: LastChange): string {
  const what = isDeleted ? "deleted" : names.slice(0, MOST_NAMES).join(", ");
  return ` (t${turn}${what === "" ? "" : `: ${what}`})`;
}

/** A command line, as short as it still tells itself from others. */
export interface CommandRun {
  readonly command: string;
  readonly failed: boolean;
}

/** Lists the commands of calls that did more than look, in the order of their last runs. */
export function commandsRunBy(calls: readonly ToolCall[]): readonly CommandRun[] {
  const runs = new Map<string, CommandRun>();
  for (const call of calls) {
    if (callFacts(call.request).kind !== "shell") continue;
    const line = commandOf(call);
    const failed = hasFailed(call);
    if (line.trim() === "" || isReadOnly(line) || (!failed && onlyCommits(line))) continue;
    const command = nameCall(call);
    runs.delete(command);
    runs.set(command, { command, failed });
  }
  return [...runs.values()];
}

/** Commits are listed by themselves. */
function onlyCommits(command: string): boolean {
  return actionsOf(command).every((action) => action === "git add" || action === "git commit");
}

// The commits that commands made, as git's own output names them; where git was told to say nothing, by the subject that it was
// given. A later model finds in them what is done for good.

/** A commit, or a request to take commits in, with the turn (0-based) that made it. */
export interface MadeCommit {
  readonly turn: number;
  readonly line: string;
}

const COMMIT_LINE_CHARS = 160;
/** `[main 039dfc5] subject`, `[main (root-commit) 039dfc5] subject`. */
const MADE = /^\[([^\]\n]{1,120}) ([0-9a-f]{7,40})\] (.+)$/gm;
const COMMITTING = /\bgit\b[^|;&\n]{0,80}\b(?:commit|merge|revert|cherry-pick|rebase|am)\b/;
const COMMIT = /\bgit\b[^|;&\n]{0,80}\bcommit\b/;
const SUBJECT = /\s-\w*m\s*(?:"\$\(cat <<-?\s*['"]?(\w+)['"]?\n([^\n]+)|"([^"\n]+)|'([^'\n]+))/;
const OPENING = /\b(?:gh pr|glab mr|hub pull-request)\b[^|;&\n]{0,40}\bcreate\b/;
const OPENED = /https?:\/\/\S+\/(?:pull|merge_requests)\/\d+/;

/** Lists the commits that calls made, and the requests to merge that they opened, in order. */
export function commitsMade(calls: readonly ToolCall[]): readonly MadeCommit[] {
  return calls.flatMap((call) => {
    if (call.response === null || callFacts(call.request).kind !== "shell") return [];
    const command = commandOf(call);
    if (!COMMITTING.test(command) && !OPENING.test(command)) return [];
    const output = textsOf(call.response).join("\n");
    const turn = call.responseTurn ?? call.turn;
    return linesOf(command, output, hasFailed(call)).map((line) => ({
      turn,
      line: cutEnd(oneLine(line), COMMIT_LINE_CHARS),
    }));
  });
}

function linesOf(command: string, output: string, failed: boolean): readonly string[] {
  const amends = /--amend\b/.test(command) ? " (amended the commit before)" : "";
  const made = [...output.matchAll(MADE)].map(([, , sha = "", subject = ""]) => `${sha} ${subject}${amends}`);
  if (made.length > 0 || failed) return made;
  const opened = OPENING.test(command) ? OPENED.exec(output)?.[0] : undefined;
  const given = COMMIT.test(command) ? SUBJECT.exec(command) : null;
  const subject = given?.[2] ?? given?.[3] ?? given?.[4];
  return [...(subject === undefined ? [] : [`${subject.trim()}${amends}`]), ...(opened === undefined ? [] : [opened])];
}
