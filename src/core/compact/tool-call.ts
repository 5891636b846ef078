// Tool calls as strategies see them: a request with its result, and the positions of both in the conversation.
import { isFields, type ToolCallRequest, type ToolCallResponse, type Turn } from "../conversation/event.ts";
import { type CallPairs, pairCalls } from "../conversation/tool-pairing.ts";
import {
  type CallKind,
  findKnownTool,
  type KnownTool,
  type LineRange,
  linesAsked,
  type PatchFiles,
  patchFiles,
  readShellCommand,
} from "./shell-read.ts";

export interface ToolCall {
  readonly request: ToolCallRequest;
  /** Null for a call that was never answered. */
  readonly response: ToolCallResponse | null;
  /** Turn of the request, 0-based. */
  readonly turn: number;
  /** Position of the request in the turn's events, 0-based. */
  readonly index: number;
  /** Position of the result in the events of its turn, 0-based; null without a result. */
  readonly responseIndex: number | null;
  /** Turn of the result, 0-based, if it came in a later turn; absent = `turn`. */
  readonly responseTurn?: number;
}

/** Lists the calls of turns in the order of their requests. */
export function listToolCalls(turns: Iterable<Turn>): readonly ToolCall[] {
  const all = [...turns];
  return listPairedCalls(
    all,
    pairCalls(all, () => false),
  );
}

/** Like listToolCalls, for calls that are already paired. */
export function listPairedCalls(turns: readonly Turn[], pairs: CallPairs): readonly ToolCall[] {
  const answers = findAnswers(turns, pairs);
  const calls: ToolCall[] = [];
  for (const { index: turn, events } of turns) {
    let index = -1;
    for (const event of events) {
      index += 1;
      if (event.type === "tool_call_request") calls.push(createCall(event, turn, index, answers.get(event)));
    }
  }
  return calls;
}

function findAnswers(turns: readonly Turn[], pairs: CallPairs): ReadonlyMap<ToolCallRequest, Answer> {
  const answers = new Map<ToolCallRequest, Answer>();
  for (const { index: turn, events } of turns) {
    let index = -1;
    for (const event of events) {
      index += 1;
      if (event.type !== "tool_call_response") continue;
      const request = pairs.get(event);
      if (request !== undefined) answers.set(request, { response: event, turn, index });
    }
  }
  return answers;
}

interface Answer {
  readonly response: ToolCallResponse;
  readonly turn: number;
  readonly index: number;
}

function createCall(request: ToolCallRequest, turn: number, index: number, answer: Answer | undefined): ToolCall {
  if (answer === undefined) return { request, response: null, turn, index, responseIndex: null };
  const { response, turn: responseTurn, index: responseIndex } = answer;
  const call = { request, response, turn, index, responseIndex };
  return responseTurn === turn ? call : { ...call, responseTurn };
}

// What a call is about, read from its name and arguments: its kind, its file and its lines. Never a guess: an unknown tool, or arguments of
// another form, give the kind `other` or no file.

export interface CallFacts {
  readonly kind: CallKind;
  /** The one file or folder that it concerns, as written; absent when it names none or several. */
  readonly path?: string;
  /** The files, as written, when it names several. */
  readonly paths?: readonly string[];
  /** Base of a relative path in a shell command, as written. */
  readonly folder?: string;
  /** Lines that a read asks for; absent when it selects in another way, e.g. by pages. */
  readonly lines?: LineRange;
  /**
   * Whether it reads without a range, or writes the whole file. A reader may still stop at its own limit (`lines.last`): `shownLines` says
   * what was shown.
   */
  readonly isWhole: boolean;
}

/** Whether calls of a kind change files. */
export function isWriting(kind: CallKind): boolean {
  return kind === "write" || kind === "edit";
}

type Arguments = Readonly<Record<string, unknown>>;
type Call = Pick<ToolCallRequest, "name" | "arguments">;

/** Longest command that is parsed as a read, characters: commands that only show a file are short. */
const COMMAND_CHARS = 1000;
/** Programs that take a shell command as one argument. */
const SHELLS = /^(?:.*\/)?(?:ba|z|da)?sh$/;

/** By the call itself: events never change, and several strategies ask about each. */
const known = new WeakMap<Call, CallFacts>();

export function callFacts(call: Call): CallFacts {
  const facts = known.get(call) ?? readFactsOf(call);
  known.set(call, facts);
  return facts;
}

function readFactsOf({ name, arguments: args }: Call): CallFacts {
  const tool = findKnownTool(name);
  if (tool.kind === "shell") return shellFacts(toTable(args));
  if (tool.kind === "edit" && tool.path === undefined) return patchFacts(patchText(args));
  const table = toTable(args);
  const path = tool.path?.map((key) => table[key]).find(isName);
  if (path === undefined) return { kind: tool.kind, isWhole: false };
  if (tool.kind === "read") return readFacts(tool, table, path);
  return { kind: tool.kind, path, isWhole: tool.kind === "write" };
}

/** Returns a text that is equal for equal files, for comparison only; undefined when the call concerns no single file. */
export function fileKey({ path, folder }: Pick<CallFacts, "path" | "folder">): string | undefined {
  if (path === undefined) return undefined;
  const isRelative = !/^(?:[/\\~]|[A-Za-z]:)/.test(path);
  const full = isRelative && folder !== undefined ? `${folder}/${path}` : path;
  return full.replace(/\/(?:\.?\/)+/g, "/").replace(/^\.\/(?=.)/, "");
}

function readFacts(tool: KnownTool, args: Arguments, path: string): CallFacts {
  const asked = linesAsked(tool, args);
  return asked === null ? { kind: "read", path, isWhole: false } : { kind: "read", path, ...asked };
}

function shellFacts(args: Arguments): CallFacts {
  const command = args["command"] ?? args["cmd"];
  const words = Array.isArray(command) ? command.filter((word) => typeof word === "string") : [];
  const [program, patch, ...more] = words;
  if (program === "apply_patch" && patch !== undefined && more.length === 0) return patchFacts(patch);
  const line = typeof command === "string" ? command : lineOf(words);
  const read = line.length > COMMAND_CHARS ? null : readShellCommand(line.trim());
  if (read === null) return { kind: "shell", isWhole: false };
  const folder = [args["workdir"], args["dir_path"], args["cwd"]].find(isName);
  const isWhole = read.lines.first === 1 && read.lines.last === Number.POSITIVE_INFINITY;
  return { kind: "read", ...read, folder, isWhole };
}

/** The command line in `bash -lc …`, else "". */
function lineOf([program = "", option = "", line = "", ...more]: readonly string[]): string {
  return SHELLS.test(program) && /^-l?c$/.test(option) && more.length === 0 ? line : "";
}

function patchFacts(patch: string): CallFacts {
  const { paths, isNew }: PatchFiles = patchFiles(patch);
  const [path] = paths;
  if (path === undefined) return { kind: "edit", isWhole: false };
  if (paths.length > 1) return { kind: "edit", paths, isWhole: false };
  return isNew ? { kind: "write", path, isWhole: true } : { kind: "edit", path, isWhole: false };
}

/** The arguments of a patch are the patch itself, or a table that holds it. */
function patchText(args: unknown): string {
  if (typeof args === "string") return args;
  const { input, patch, patchText: text } = toTable(args);
  return [input, patch, text].find(isName) ?? "";
}

function toTable(args: unknown): Arguments {
  return isFields(args) ? args : {};
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
