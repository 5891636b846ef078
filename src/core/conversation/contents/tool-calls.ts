// Calls of tools with their results: stripped, shortened or omitted, all alike or call by call. Hints, or the policy itself,
// name the calls that are kept or shortened.
import { JpgError, nearestName } from "../../errors.ts";
import type {
  CallPolicy,
  Compaction,
  FieldPolicy,
  SelectedCall,
  ToolCallPolicy,
  UniformToolCallPolicy,
} from "../compaction.ts";
import { type Content, isFields, type ToolCallRequest } from "../event.ts";
import { byPolicy, fieldsLike, is, listOf, mapOf, oneOfWords, type RecordRule } from "../record-rules.ts";
import { dropLongTexts, type StubOptions, stripCall, stripResult, truncateCall, truncateResult } from "../tool-stub.ts";
import type {
  CompactionWithCalls,
  ContentType,
  ContentWords,
  Covered,
  Disposition,
  Expectation,
  Projected,
} from "./content-type.ts";

// How projection applies the policy.

const projected: Projected = {
  contentOf: ({ type }) => {
    if (type === "tool_call_request") return "tool_request";
    return type === "tool_call_response" ? "tool_response" : null;
  },
  opinion: (voice, event, call) => {
    const half = event.type === "tool_call_request" ? "request" : "response";
    const action = resolveCallPolicy(voice, half, event.type === "tool_call_request" ? event : call);
    if (action === undefined) return undefined;
    const isHeaded =
      half === "response" &&
      action === "strip" &&
      call !== undefined &&
      voice.compaction.stubs?.heads === true &&
      resolveCallPolicy(voice, "request", call) === "strip";
    return isHeaded ? { action, headOf: call } : { action };
  },
  shorten: (event, action, { compaction, context }) => {
    if (event.type === "tool_call_request") {
      if (action === "strip") return stripCall(event);
      return "drop" in action ? dropLongTexts(event, action.drop.max_chars) : truncateCall(event, action.truncate);
    }
    if (event.type !== "tool_call_response") return event;
    const style = { ...context, ...stubStyle(compaction, context) };
    if (action === "strip") return stripResult(event, context.tool, style);
    return "drop" in action ? event : truncateResult(event, action.truncate, context.tool, style);
  },
};

/** The style of the winning compaction, in addition to what the caller asks of every stub. */
function stubStyle({ stubs }: Disposition["compaction"], options: StubOptions): StubOptions {
  return {
    pointers: options.pointers === true || stubs?.pointers === true,
    firstLine: options.firstLine === true || stubs?.first_line === true,
    text: stubs?.text,
  };
}

/** The two halves of a tool call. */
export type CallHalf = "request" | "response";

/**
 * Resolves what a compaction says about one half of a call, or undefined when it has no opinion. `request` is the call itself,
 * undefined when a result has none. Hints do not apply to a call named by a selective policy (they were known when it was
 * named); if one half is named `omit` both are omitted, because neither is valid alone.
 */
export function resolveCallPolicy(
  voice: CompactionWithCalls,
  half: CallHalf,
  request: ToolCallRequest | undefined,
): CallPolicy | undefined {
  const policy = voice.compaction.tool_calls;
  if (policy === undefined) return undefined;
  if (policy.policy !== "selective") return resolveUniform(policy, half, voice.compaction, request);
  const named = request === undefined ? undefined : voice.calls?.get(request.id);
  if (named !== undefined) return named.request === "omit" || named.response === "omit" ? "omit" : named[half];
  return policy.else === undefined ? undefined : resolveUniform(policy.else, half, voice.compaction, request);
}

function resolveUniform(
  policy: UniformToolCallPolicy,
  half: CallHalf,
  compaction: Compaction,
  request: ToolCallRequest | undefined,
): CallPolicy {
  if (policy.policy === "omit") return "omit";
  const hint = findHint(compaction, request?.name, half);
  if (hint !== undefined) return hint;
  if (policy.policy === "strip") return policy[half] ? "strip" : "keep";
  return half === "request" ? "keep" : { truncate: policy };
}

/** The hint of exactly that tool, else of `*`. */
function findHint(compaction: Compaction, tool: string | undefined, half: CallHalf): FieldPolicy | undefined {
  const hints = compaction.tool_overrides;
  if (hints === undefined) return undefined;
  const hint = tool !== undefined && Object.hasOwn(hints, tool) ? hints[tool] : hints["*"];
  return hint?.[half];
}

// The second statement, for the coverage invariant, from the record's fields alone.

const covered: Covered = {
  appliesTo: ({ type }) => type === "tool_call_request" || type === "tool_call_response",
  expects: (compaction, event, call) => {
    if (event.type === "tool_call_request") return toolOpinion(compaction, "request", event);
    const opinion = toolOpinion(compaction, "response", call);
    const text = compaction.stubs?.text;
    return opinion === "stripped" && text !== undefined ? { stub: text } : opinion;
  },
  isStripped: ({ copy }) => {
    if (copy.type === "tool_call_request") return JSON.stringify(copy.arguments) === "{}";
    return copy.type === "tool_call_response" && hasStatus(copy.content, copy.is_error);
  },
};

function hasStatus(content: Content, isError: boolean): boolean {
  const status = isError ? "error" : "success";
  return typeof content === "string" && new RegExp(`^\\[compacted\\] .*: ${status}( · |\\n|$)`, "s").test(content);
}

function toolOpinion(
  compaction: Compaction,
  half: "request" | "response",
  call: ToolCallRequest | undefined,
): Expectation | undefined {
  const policy = compaction.tool_calls;
  if (policy?.policy !== "selective") return policy && uniformOpinion(compaction, policy, half, call?.name);
  const named = policy.calls.find(({ event }) => event === call?.id);
  if (named === undefined) return policy.else && uniformOpinion(compaction, policy.else, half, call?.name);
  if (named.request === "omit" || named.response === "omit") return "gone";
  if (named[half] === "strip") return "stripped";
  if (named[half] === "keep") return "unchanged";
  return named[half] && "truncated";
}

function uniformOpinion(
  compaction: Compaction,
  policy: UniformToolCallPolicy,
  half: "request" | "response",
  tool: string | undefined,
): Expectation {
  if (policy.policy === "omit") return "gone";
  const hints = new Map(Object.entries(compaction.tool_overrides ?? {}));
  const hint = (hints.get(tool ?? "*") ?? hints.get("*"))?.[half];
  if (hint !== undefined) return hint === "strip" ? "stripped" : "unchanged";
  if (policy.policy === "strip") return policy[half] ? "stripped" : "unchanged";
  return half === "response" ? "truncated" : "unchanged";
}

// Words for people.

function describeTools(policy: ToolCallPolicy): ContentWords {
  switch (policy.policy) {
    case "strip":
      if (policy.request && policy.response) return { stripped: ["tools"] };
      if (policy.response) return { stripped: ["tool results"] };
      return policy.request ? { stripped: ["tool arguments"] } : { other: ["tools kept"] };
    case "truncate":
      return { other: ["tool results truncated"] };
    case "omit":
      return { other: ["tool calls omitted"] };
    case "selective":
      return describeSelective(policy);
    default:
      return policy satisfies never;
  }
}

type SelectivePolicy = Extract<ToolCallPolicy, { readonly policy: "selective" }>;

/** What happens to the unnamed calls, then to the named ones by kind. */
function describeSelective({ calls, else: others }: SelectivePolicy): ContentWords {
  const words = others === undefined ? {} : describeTools(others);
  const named = describeNamedCalls(calls);
  const excepted = calls.filter(({ request = "keep", response = "keep" }) => request === "keep" && response === "keep");
  const spared = others === undefined || excepted.length === 0 ? [] : [`${callCount(excepted.length)} spared`];
  const other = [...(words.other ?? []), ...named, ...spared];
  if (words.stripped === undefined && other.length === 0) return { other: [`${callCount(calls.length)} kept`] };
  return { ...words, other };
}

function callCount(count: number): string {
  return `${count} ${count === 1 ? "call" : "calls"}`;
}

/** Describes named calls, e.g. `4 calls omitted`, `1 result stripped`; kinds that do not occur are left out. */
export function describeNamedCalls(calls: readonly SelectedCall[]): readonly string[] {
  return NAMED_KINDS.flatMap(([one, many, has]) => {
    const count = calls.filter((call) => has(call)).length;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  });
}

/** What can happen to a named call: words for one and for many, and a predicate. */
const NAMED_KINDS: readonly (readonly [string, string, (call: SelectedCall) => boolean])[] = [
  ["call omitted", "calls omitted", isOmitted],
  [
    "call stripped",
    "calls stripped",
    (call) => !isOmitted(call) && call.request === "strip" && call.response === "strip",
  ],
  [
    "result stripped",
    "results stripped",
    ({ request, response }) => response === "strip" && !isGoneOr(request, "strip"),
  ],
  ["result truncated", "results truncated", (call) => !isOmitted(call) && isTruncation(call.response)],
  [
    "call's arguments stripped",
    "calls' arguments stripped",
    ({ request, response }) => request === "strip" && !isGoneOr(response, "strip"),
  ],
  [
    "call's arguments shortened",
    "calls' arguments shortened",
    (call) => !isOmitted(call) && typeof call.request === "object",
  ],
];

function isOmitted({ request, response }: SelectedCall): boolean {
  return request === "omit" || response === "omit";
}

function isGoneOr(policy: CallPolicy | undefined, other: CallPolicy): boolean {
  return policy === "omit" || policy === other;
}

function isTruncation(policy: CallPolicy | undefined): boolean {
  return typeof policy === "object" && "truncate" in policy;
}

function briefTools(policy: ToolCallPolicy): string {
  switch (policy.policy) {
    case "strip":
      if (policy.request && policy.response) return "strip";
      if (policy.response) return "strip-responses";
      return policy.request ? "strip-requests" : "keep";
    case "truncate":
      return `truncate:${policy.max_chars}`;
    case "omit":
      return "omit";
    case "selective":
      return `selective:${policy.calls.length}${policy.else === undefined ? "" : `+${briefTools(policy.else)}`}`;
    default:
      return policy satisfies never;
  }
}

/** A line for each named call. */
function toolLines(policy: ToolCallPolicy): readonly string[] {
  if (policy.policy !== "selective") {
    const { policy: name, ...rest } = policy;
    return [
      `tool calls: ${name}${Object.entries(rest)
        .flatMap(([key, value]) => (value === undefined ? [] : [`, ${key} ${String(value)}`]))
        .join("")}`,
    ];
  }
  return [
    `tool calls: ${policy.calls.length} by name`,
    ...policy.calls.map(({ event, ...halves }) => `call ${event}: ${describeHalves(halves)}`),
    ...(policy.else === undefined ? [] : toolLines(policy.else).map((line) => `other ${line}`)),
  ];
}

/** Describes the halves of a call in a line, e.g. `request keep, response strip`. */
export function describeHalves(halves: object): string {
  const words = Object.entries(halves).flatMap(([half, value]) =>
    value === undefined ? [] : [`${half} ${typeof value === "string" ? value : JSON.stringify(value)}`],
  );
  return words.join(", ");
}

// What a person writes for it: a word, or an inline table.

const TOOL_WORDS: Readonly<Record<string, UniformToolCallPolicy>> = {
  strip: { policy: "strip", request: true, response: true },
  "strip-responses": { policy: "strip", request: false, response: true },
  "strip-requests": { policy: "strip", request: true, response: false },
  omit: { policy: "omit" },
};

/**
 * Parses a tool call policy: `strip`, `strip-responses`, `strip-requests`, `omit`, or a table
 * `{policy = "strip", request?, response?}` (both default to true), `{policy = "truncate", max_chars, head?}`, `{policy = "omit"}`.
 * Throws `bad_policy`.
 */
export function parseToolCallPolicy(value: unknown, where: string): UniformToolCallPolicy {
  if (typeof value === "string") {
    const known = Object.hasOwn(TOOL_WORDS, value) ? TOOL_WORDS[value] : undefined;
    if (known === undefined) throw badPolicy(where, value, Object.keys(TOOL_WORDS));
    return known;
  }
  if (!isFields(value)) throw badPolicy(where, value, Object.keys(TOOL_WORDS));
  switch (value["policy"]) {
    case "strip":
      return {
        policy: "strip",
        request: parseFlag(value["request"], `${where}.request`),
        response: parseFlag(value["response"], `${where}.response`),
      };
    case "truncate":
      return parseTruncation(value, where);
    case "omit":
      return { policy: "omit" };
    default:
      throw badPolicy(`${where}.policy`, value["policy"], ["strip", "truncate", "omit"]);
  }
}

function parseTruncation(table: Readonly<Record<string, unknown>>, where: string): UniformToolCallPolicy {
  const { max_chars, head } = table;
  if (typeof max_chars !== "number" || !Number.isSafeInteger(max_chars) || max_chars < 1) {
    throw badPolicy(`${where}.max_chars`, max_chars, [], "a whole number of characters above 0");
  }
  if (head === undefined) return { policy: "truncate", max_chars };
  if (typeof head !== "number" || !(head >= 0 && head <= 1)) {
    throw badPolicy(`${where}.head`, head, [], "a share from 0 to 1");
  }
  return { policy: "truncate", max_chars, head };
}

function parseFlag(value: unknown, where: string): boolean {
  if (value === undefined) return true;
  if (typeof value !== "boolean") throw badPolicy(where, value, [], "true or false");
  return value;
}

function badPolicy(where: string, value: unknown, words: readonly string[], expected?: string): JpgError {
  const wanted = expected ?? words.map((word) => `"${word}"`).join(", ");
  const nearest = typeof value === "string" ? nearestName(value, words) : undefined;
  const found = JSON.stringify(value) ?? "nothing";
  return new JpgError("config", "bad_policy", `${where} is ${found}: expected ${wanted}.`, {
    data: { where, expected: words },
    hints: nearest === undefined ? [] : [`Did you mean "${nearest}"?`],
  });
}

// The rules for the fields of a record.

const truncation = fieldsLike({ max_chars: is.positive }, { head: is.share });
const callPolicy: RecordRule = (value) => {
  if (!isFields(value)) return oneOfWords("keep", "strip", "omit")(value);
  return "drop" in value
    ? fieldsLike({ drop: fieldsLike({ max_chars: is.positive }) })(value)
    : fieldsLike({ truncate: truncation })(value);
};

const uniform: Readonly<Record<string, RecordRule>> = {
  strip: fieldsLike({ request: is.flag, response: is.flag }),
  truncate: truncation,
  omit: fieldsLike({}),
};
const selective = fieldsLike(
  { calls: listOf(fieldsLike({ event: is.filled }, { request: callPolicy, response: callPolicy })) },
  { else: byPolicy(uniform) },
);
const hint = fieldsLike({}, { request: oneOfWords("keep", "strip"), response: oneOfWords("keep", "strip") });

export const toolCallsContent: ContentType<"tool_calls"> = {
  content: "tool_calls",
  noun: "tool calls",
  fields: {
    tool_calls: byPolicy({ ...uniform, selective }),
    tool_overrides: mapOf(hint),
    stubs: fieldsLike({}, { pointers: is.flag, first_line: is.flag, heads: is.flag, text: is.filled }),
  },
  parse: parseToolCallPolicy,
  describe: describeTools,
  brief: briefTools,
  lines: toolLines,
  projected,
  covered,
};
