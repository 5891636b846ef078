// Checks a conversation's view, or a file with a session or request, against the rules of providers.
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { type Event, fieldsOf, type MediaPart, mediaOf, type View } from "../../core/conversation/event.ts";
import { projectTurns } from "../../core/conversation/projection.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { isTooDeep, MAX_FOREIGN_DEPTH } from "../../core/json.ts";
import { type AnthropicMessage, checkAnthropic } from "../../core/model/anthropic-rules.ts";
import { checkGoogle, type GoogleContent } from "../../core/model/google-rules.ts";
import { toNaiveList } from "../../core/model/naive-messages.ts";
import { checkOpenAiChat } from "../../core/model/openai-chat-rules.ts";
import { checkOpenAiResponses } from "../../core/model/openai-responses-rules.ts";
import {
  isProviderName,
  PROVIDER_NAMES,
  type ProviderName,
  providerOf,
  type RequestShape,
  recognizeRequest,
  type Violation,
} from "../../core/model/provider-rules.ts";
import type { AgentFormat } from "../../formats/agent-format.ts";
import { exportAnthropic } from "../../formats/anthropic/write.ts";
import { exportGoogle } from "../../formats/google/write.ts";
import { compactionsInForce, type ImportedSession } from "../../formats/imported-session.ts";
import { exportOpenAiChat } from "../../formats/openai-chat/write.ts";
import { exportOpenAiResponses } from "../../formats/openai-responses/write.ts";
import type { Runtime } from "../conversation/runtime.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { inlineView } from "../conversation/turns.ts";
import { loadView } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { readSessionFile } from "../sessions/session-files.ts";
import { detectFormat, formatNames } from "../sessions/session-registry.ts";
import { type BufferSource, createBufferSource } from "../sessions/sources.ts";

/**
 * Checks the view of a branch as jpg would send it. An error found is a bug of jpg, except for images: these are sent unchanged,
 * and violations name their events.
 */
export async function checkConversation(
  workspace: Workspace,
  tree: BranchTree,
  request: CheckRequest,
): Promise<CheckReport> {
  const { view } = await loadView(workspace.store, tree);
  const whole = await inlineView(workspace.store, tree.commit, view);
  return createCheckReport("view", tree.branch, checkEach(whole, request, checkView));
}

/** Checks what a session would send if its agent sent it unrepaired. Violations name their events. */
function checkSession(session: ImportedSession, source: string, request: CheckRequest): CheckReport {
  const turns = Array.from({ length: session.turnCount }, (_, index) => ({ index, events: session.readTurn(index) }));
  const view = projectTurns(turns, compactionsInForce(session));
  return createCheckReport("session", source, checkEach(view, request, checkNaively));
}

type ViewCheck = (view: View, provider: ProviderName, model: string | undefined) => ListCheck;

/** Uses the view's own model only for its own provider, and a model that the user names for all. */
function checkEach(view: View, { provider, model }: CheckRequest, check: ViewCheck): readonly ListCheck[] {
  const own = ownModel(view);
  const providers = provider === "all" ? PROVIDER_NAMES : [provider ?? own.provider];
  return providers.map((name) => check(view, name, model ?? (name === own.provider ? own.model : undefined)));
}

function checkView(view: View, provider: ProviderName, model: string | undefined): ListCheck {
  const options = model === undefined ? {} : { model };
  const list = PROVIDER_CHECKS[provider].render(view, options);
  // An empty view is valid: the first request will be added to it.
  const violations = list.length === 0 ? [] : PROVIDER_CHECKS[provider].check(list, { ...options, complete: false });
  const eventOf = violations.length === 0 ? () => undefined : mediaEvents(view, list);
  const named = violations.map((violation): CheckViolation => ({ ...violation, event: eventOf(violation) }));
  return { checked: describeList(provider, model, list), violations: named };
}

/** Returns a function from a violation to the event whose image is at that place; equal images are returned in order, each once. */
function mediaEvents(view: View, list: readonly unknown[]): (violation: CheckViolation) => string | undefined {
  const media = view.turns
    .flatMap(({ events }) => events)
    .flatMap((event) =>
      mediaIn(event).flatMap(({ data }) => (typeof data === "string" ? [{ data, id: event.id }] : [])),
    )
    .filter(({ data }) => data !== "");
  return ({ position: { message, block } }) => {
    const { content, parts, output } = fieldsOf(list[message]);
    const blocks = [content, parts, output].find((value): value is unknown[] => Array.isArray(value)) ?? [];
    const text = JSON.stringify(blocks[block ?? -1] ?? "");
    const at = media.findIndex(({ data }) => text.includes(data));
    const found = media[at]?.id;
    if (at >= 0 && media.some(({ data }, other) => other > at && data === media[at]?.data)) media.splice(at, 1);
    return found;
  };
}

function mediaIn(event: Event): readonly MediaPart[] {
  if (event.type === "chat_request" || event.type === "tool_call_response") return mediaOf(event.content);
  return event.type === "chat_response" && event.message !== undefined ? mediaOf(event.message) : [];
}

function checkNaively(view: View, provider: ProviderName, model: string | undefined): ListCheck {
  const entries = toNaiveList(view, provider);
  const list = entries.map(({ value }) => value);
  const options = { complete: false, model };
  const violations = list.length === 0 ? [] : PROVIDER_CHECKS[provider].check(list, options);
  const named = violations.map((violation): CheckViolation => {
    const events = entries[violation.position.message]?.events ?? [];
    const event = events[violation.position.block ?? 0] ?? events[0];
    return event === undefined ? violation : { ...violation, event };
  });
  return { checked: describeList(provider, model, list), violations: named };
}

/** A violation; `event` is set if the list was made from events. */
export interface CheckViolation extends Violation {
  /** Id of the event at that place. */
  readonly event?: string;
}

export interface CheckedList {
  readonly provider: ProviderName;
  /** Model whose rules applied; absent = the rules common to all models of the provider. */
  readonly model?: string;
  /** Entries of the list: messages, input items or contents. */
  readonly messages: number;
}

/** The JSON document of `jpg check --json`. */
export interface CheckReport {
  /** Whether no provider would refuse it, i.e. no violation has severity `error`. */
  readonly ok: boolean;
  readonly violations: readonly CheckViolation[];
  /** A conversation's view as jpg sends it, a session file as it is, or a request. */
  readonly kind: "view" | "session" | "request";
  readonly source: string;
  readonly checked: readonly CheckedList[];
}

export interface CheckRequest {
  /** `all`, or one provider; absent = that of the conversation's or request's own model. */
  readonly provider?: ProviderName | "all";
  readonly model?: string;
  /** Whether a list in a file is history to which a request will be added; then its end is not checked. */
  readonly history?: boolean;
}

interface ListCheck {
  readonly checked: CheckedList;
  readonly violations: readonly CheckViolation[];
}

function createCheckReport(kind: CheckReport["kind"], source: string, lists: readonly ListCheck[]): CheckReport {
  const violations = lists.flatMap((list) => list.violations);
  return {
    ok: violations.every(({ severity }) => severity !== "error"),
    violations,
    kind,
    source,
    checked: lists.map(({ checked }) => checked),
  };
}

function describeList(provider: ProviderName, model: string | undefined, list: ProviderList): CheckedList {
  return { provider, model, messages: list.length };
}

/** Returns the provider and model of the newest event that names a model jpg knows; Anthropic if none does. */
function ownModel(view: View): { readonly provider: ProviderName; readonly model?: string } {
  for (const { events } of view.turns.toReversed()) {
    for (const { metadata } of events.toReversed()) {
      const provider = providerOf(metadata?.model, metadata?.provider);
      if (provider !== undefined) return { provider, model: metadata?.model };
    }
  }
  return { provider: "anthropic" };
}

/** A list as its provider reads it: messages, input items or contents. */
type ProviderList = readonly unknown[];

export interface ProviderCheckOptions {
  readonly model?: string;
  /** Whether the list is sent as it is; false = a request will be added. */
  readonly complete: boolean;
  readonly thinking?: boolean;
  readonly previousResponse?: string;
}

interface ProviderChecks {
  /** Renders a view as the list that jpg sends. */
  readonly render: (view: View, options: { readonly model?: string }) => ProviderList;
  readonly check: (list: ProviderList, options: ProviderCheckOptions) => readonly Violation[];
}

export const PROVIDER_CHECKS: Readonly<Record<ProviderName, ProviderChecks>> = {
  anthropic: {
    render: (view, options) => exportAnthropic(view, options).messages,
    check: (list, options) => checkAnthropic(list as readonly AnthropicMessage[], options),
  },
  "openai-chat": {
    render: (view, options) => exportOpenAiChat(view, options).messages,
    check: checkOpenAiChat,
  },
  "openai-responses": {
    render: (view, options) => exportOpenAiResponses(view, options).input,
    check: (list, { previousResponse }) =>
      checkOpenAiResponses(list, previousResponse === undefined ? {} : { previous_response_id: previousResponse }),
  },
  google: {
    render: (view, options) => exportGoogle(view, options).contents,
    check: (list, options) => checkGoogle(list as readonly GoogleContent[], options),
  },
};

/** Resolves a word to a file's absolute path; null when it means a conversation. Throws `no_such_file`. */
export async function findCheckedFile(runtime: Runtime, word: string | undefined): Promise<string | null> {
  if (word === undefined || word === "" || word === "@" || word === "-") return null;
  const path = resolve(runtime.cwd, word);
  const found = await stat(path).catch(() => null); // missing or inaccessible
  if (found !== null && !found.isDirectory()) return path;
  if (found === null && !/\.jsonl?$/.test(word)) return null;
  if (found !== null && !word.includes(".") && !word.startsWith("/")) return null;
  throw userError("no_such_file", `${word} ${found === null ? "does not exist" : "is a folder"}: expected a file.`, {
    hints: ["`jpg check` without a name checks the active conversation; `jpg ls` lists all."],
  });
}

/** Checks a session or request in a file. Throws `unreadable_file`, `empty_file`, `not_checkable`, `wrong_provider`. */
export async function checkFile(runtime: Runtime, path: string, request: CheckRequest): Promise<CheckReport> {
  const source = createBufferSource(await readSessionFile(runtime, { path, named: true }));
  if (source.byteLength === 0) {
    throw userError("empty_file", `${path} is empty: nothing to check.`, {
      hints: ["Name the file of a session, or of a request to a provider."],
    });
  }
  const format = formatOf(source, path);
  if (format !== null) return checkSession(format.read(source), path, request);
  const shape = recognizeRequest(parseJson(source.bytes.toString("utf8")));
  if (shape === null) throw notCheckable(path);
  return checkRequest(shape, path, request);
}

/** Detects the agent's format of a file; null when it is a request to a provider, not an agent's session. */
function formatOf(source: BufferSource, path: string): AgentFormat | null {
  try {
    const format = detectFormat(source, path);
    return isProviderName(format.name) ? null : format;
  } catch (error) {
    if (error instanceof JpgError && error.code === "not_a_session") return null;
    throw error;
  }
}

function checkRequest(shape: RequestShape, path: string, request: CheckRequest): CheckReport {
  const provider = providerFor(shape, path, request.provider);
  const { list, thinking, previousResponse } = shape;
  const model = request.model ?? shape.model;
  const violations = PROVIDER_CHECKS[provider].check(list, {
    complete: request.history !== true,
    model,
    thinking,
    previousResponse,
  });
  return createCheckReport("request", path, [{ checked: describeList(provider, model, list), violations }]);
}

/** Chooses the provider of a request; `all` means the one that it is for. Throws `wrong_provider`. */
function providerFor(shape: RequestShape, path: string, wanted: CheckRequest["provider"]): ProviderName {
  if (wanted === undefined || wanted === "all") return shape.provider;
  if (shape.possible.includes(wanted)) return wanted;
  throw userError("wrong_provider", `${path} is a request to ${shape.provider}, not to ${wanted}.`, {
    hints: [`Leave --provider out, or use \`--provider ${shape.provider}\`.`],
    data: { provider: shape.provider },
  });
}

/** Parses JSON; undefined when it is invalid or too deep. */
function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    return isTooDeep(text, value, MAX_FOREIGN_DEPTH) ? undefined : value;
  } catch {
    return undefined; // the caller says what was expected
  }
}

function notCheckable(path: string): JpgError {
  return userError(
    "not_checkable",
    `${path} is neither a session that jpg reads (${formatNames().join(", ")}) nor a request: expected JSON with messages, input or contents, or a list of messages.`,
    { hints: ["A request is one JSON document: the body as it was sent, or the list inside it."] },
  );
}
