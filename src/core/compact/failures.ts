// Finds the calls that failed, and what fixed them. A failure counts if a later reader needs to know of it: not a read of something that
// does not exist, nor a change that succeeded on the next try. Text that looks like an error in the output of a successful command does
// not count.
import { type ToolCallResponse, textOfContent } from "../conversation/event.ts";
import { appendAll } from "../lists.ts";
import { scanLines } from "./facts.ts";
import { stringsIn, textsOf } from "./hidden-content.ts";
import { cutEnd, oneLine } from "./passages.ts";
import { definedNames } from "./summary-answer.ts";
import { callFacts, isWriting, type ToolCall } from "./tool-call.ts";

/** A failure, and what fixed it. */
export interface FailedCall {
  /** Turn of the failure, 0-based. */
  readonly turn: number;
  /** The command, or the tool and its file. */
  readonly what: string;
  /** Why it failed, in the words of its result; may be empty. */
  readonly lines: readonly string[];
  /** Where the same thing worked later, and the files changed until then; null = nowhere. */
  readonly fixed: { readonly turn: number; readonly changed: readonly string[] } | null;
}

const WHAT_CHARS = 120;
/** Most files named as the fix of a failure. */
const MOST_CHANGED = 4;
/** Results by which a person, not a tool, ended a call; what was said then is guidance. */
const REFUSED =
  /^(?:The user doesn't want to (?:proceed with|take) this|\[Request interrupted|(?:exec )?(?:command )?rejected by user|User rejected|Interrupted by user|aborted by user)|^<tool_use_error>Sibling tool call errored/i;

export function isRefused(response: ToolCallResponse): boolean {
  return response.is_error && REFUSED.test(textOfContent(response.content).trimStart().slice(0, 200));
}

/** Whether a call failed, by its result or by the output of its command. */
export function hasFailed(call: ToolCall): boolean {
  const { request, response } = call;
  if (response === null || isRefused(response)) return false;
  if (response.is_error) return true;
  return callFacts(request).kind === "shell" && lastAction(commandOf(call)) !== null && saysFailed(response);
}

/** Lists the failures of calls, in the order of the calls; of a repeated failure only the last. */
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
    // If other calls changed the same file, the change was made in another way.
    if (!changedFiles(failure.call).some((file) => everChanged.has(file))) log.found.push(describe(failure, null));
  }
  return log.found.sort((a, b) => a.at - b.at).map(({ at: _, ...failure }) => failure);
}

interface FailureLog {
  /** By the key of the call that would fix them (`keyOf`). */
  readonly open: Map<string, OpenFailure>;
  readonly found: (FailedCall & { readonly at: number })[];
  /** Files that calls changed so far, in order. */
  readonly changed: string[];
}

/** Closes the failures that a call fixes. Drops those fixed in the same turn without a change to a file: nobody needs to know. */
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

/** Returns the key that a later call must have to fix a failure; null for failures that nobody needs to know of. */
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

/** The first line of a command, shortened but still distinguishable. */
function commandName(command: string): string {
  const [line = "", ...more] = plainCommand(command).split("\n");
  const name = cutEnd(oneLine(line), WHAT_CHARS);
  return more.length === 0 || name.endsWith("…") ? name : `${name} …`;
}

/** The command line of a shell call; "" for others. */
function commandOf({ request }: ToolCall): string {
  const { command, cmd, script } = (request.arguments ?? {}) as Readonly<Record<string, unknown>>;
  const line = command ?? cmd ?? script ?? "";
  if (!Array.isArray(line)) return typeof line === "string" ? line : "";
  const words = line.filter((word) => typeof word === "string");
  return words.length === 3 && /^-l?c$/.test(words[1] ?? "") ? (words[2] ?? "") : words.join(" ");
}

/** Programs that only show something, as agents use them. */
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
/** Separators in quotes separate no commands. */
const QUOTED = /'[^']*'|"(?:[^"\\]|\\.)*"/g;
/** Characters of a command that are parsed; ledgers keep fewer. */
const SEEN_CHARS = 400;
/** What precedes a program: assignments to variables, and keywords of the shell. */
const BEFORE_PROGRAM = /^(?:(?:[A-Za-z_]\w*=\S*|time|sudo|nohup|command|exec|then|do|else|!)\s+)+/;
/** Programs whose next word says what they do. */
const WITH_VERB =
  /^(?:git|go|cargo|npm|pnpm|yarn|bun|deno|npx|uv|poetry|pip3?|python3?|node|docker|kubectl|mise|make|just|task|gradle|\.\/gradlew|mvn|dotnet|mix|rake|bundle|swift|terraform|gh|glab)$/;
/** A pipe at the end of a line that only shortens the output. */
const SHORTENED = /(?:\s*2>&1)?(?:\s*\|\s*(?:head|tail)(?:\s+-\w*\s*\d+|\s+-n\s*\d+)?)?\s*$/;
const MOVED = /^cd\s+(?:"[^"]*"|'[^']*'|\S+)\s*(?:&&|;|\n)\s*/;
/** A script in the command line itself: each is a command of its own. */
const INLINE = /^(?:python3?|node|ruby|perl|bash|sh|zsh|deno|bun)\s+(?:-\w*[ce]\b|--eval\b|eval\b|-(?=\s|$)|<<)/;
const VALUE = /^[A-Za-z_]\w*=\$\(\s*/;

/** Whether all parts of a command line are read-only. */
export function isReadOnly(command: string): boolean {
  return partsOf(command).every(isReadOnlyPart);
}

/** The command without its leading folder and without what shortens its output. */
export function plainCommand(command: string): string {
  return command.trim().replace(MOVED, "").replace(SHORTENED, "").trim();
}

/** What the last part with an effect runs: `go test`, `npm run lint`; null when all parts are read-only. */
export function lastAction(command: string): string | null {
  return actionsOf(command).at(-1) ?? null;
}

/** What the parts with an effect run, in order. */
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
  // Only an assignment to a variable.
  if (/^[A-Za-z_]\w*=/.test(program)) return true;
  return (
    READ_ONLY_PROGRAMS.has(program) || GIT_READ_ONLY.test(bare) || SED_READ_ONLY.test(bare) || GO_READ_ONLY.test(bare)
  );
}

// What a result says about a failure: whether a command failed although its exit code was lost in a pipe, and the few lines that say why.
// Frames of stack traces, progress and tags are left out.

const LINE_CHARS = 200;
/** Most lines that say why a call failed; more of them repeat it. */
const MOST_LINES = 3;
/** Lines longer than this are data. */
const READ_CHARS = 600;

/** What only a failed run prints at the start of a line: test runners, compilers, package managers, make. */
const VERDICT =
  /^(?:--- FAIL: |FAIL(?:ED)?(?:\s|:|$)|not ok \d|# fail [1-9]|test result: FAILED|make(?:\[\d+\])?: \*\*\* |npm (?:ERR!|error) |error: could not compile|error\[E\d+\]|ERROR task failed|Process exited with code [1-9]|exit status [1-9]|Exit code:? [1-9]|BUILD FAILED|FAILURE: Build failed|error TS\d+|fatal: )|^\S+(?:\(\d+,\d+\)|:\d+:\d+)(?: -)?:? (?:fatal )?error\b|^test .{1,200} \.\.\. FAILED$|^[^\w\n]{0,4}(?:Tests?|Test Files|Test Suites):?\s+(?:\d+ \w+, ?)*[1-9]\d* failed|^[=\s]*[1-9]\d* (?:failed|failing|errors?)\b/;
/** A line that names the cause, in the output of a known failure. */
const CAUSE =
  /^(?:\w[\w .-]{0,60}: )?(?:fatal |panic: |uncaught )?(?:[\w.$]{0,80}(?:Error|Exception)\b|error\b|fatal\b|panic\b|failed\b|failure\b|cannot\b|can't\b|could not\b|unable to\b|no such\b|not found\b|undefined\b|permission denied)|: (?:command not found|no such file or directory|permission denied|error\b|undefined:|cannot )|^\S+\.\w{1,5}:\d+(?::\d+)?:? |^[✗✘×●] |^(?:E|AssertionError)\s+\S|\b(?:expected|assert(?:ion)?)\b.*\b(?:got|received|actual|failed|but)\b/i;
/** Frames of stack traces, and headings that only announce them. */
const FRAME =
  /^(?:at (?:async )?\S.*[(:]\S*\d|File ".*", line \d+|goroutine \d+ \[|created by |\S+\.go:\d+ \+0x|\S+\(\{?0x[\da-f, x.{}?]*\)$|\d+: +(?:0x[\da-f]+|\S+::)|#\d+ +0x|from .+:\d+:in |Traceback \(|stack backtrace:|note: run with .RUST_BACKTRACE|\.\.\. \d+ more$)/i;
/** Phrases that say only that something went wrong. */
const EMPTY_WORDS =
  /^(?:FAIL(?:ED)?|exit code:? \d+|exit status \d+|error:?|<\/?\w{1,30}>|command failed.{0,40}|[-=_*#~\s]+)$/i;
const TAGS = /^<\w{1,30}>|<\/\w{1,30}>$/g;

/** Whether a command's output shows that it failed. */
function saysFailed(response: ToolCallResponse): boolean {
  let failed = false;
  eachLine(response, (line) => {
    failed ||= VERDICT.test(line);
  });
  return failed;
}

/** Returns at most three lines that say why a call failed: those that name a cause, else the last of a command or the first of a tool. */
export function failureLines(response: ToolCallResponse, isShell: boolean): readonly string[] {
  const lines: string[] = [];
  eachLine(response, (line) => {
    if (!FRAME.test(line) && !EMPTY_WORDS.test(line)) lines.push(line);
  });
  const telling = lines.filter((line) => VERDICT.test(line) || CAUSE.test(line));
  // A tool says why at once; a command prints other output first.
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
  /** Whether that deleted the file. */
  readonly isDeleted: boolean;
  /** What the changes of the file define, each once, the newest first; none from calls that change several files. */
  readonly names: readonly string[];
}

/** Returns the last change of each file by its path as written, the latest last. Failed changes do not count. */
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

/** Most names listed for a file. */
const MOST_NAMES = 6;

/**
 * Returns a note on the last change of each file, in the files' order: ` (t12: parse, render)`. Together at most `chars` characters; if
 * not all fit, the files changed last have a note, and the others "".
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

/** A command line, shortened but still distinguishable. */
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

/** Commits are listed separately. */
function onlyCommits(command: string): boolean {
  return actionsOf(command).every((action) => action === "git add" || action === "git commit");
}

// Finds the commits that commands made, in git's own output; if git was silenced, by the subject that it was given. They show a later
// model which work is finished.

/** A commit or a pull request, with the turn (0-based) that made it. */
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

/** Lists the commits that calls made and the pull requests that they opened, in order. */
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
