// Policies: what happens to one kind of content in a compaction. Absent = no opinion. Those of tool calls are parsed from the
// short strings of RFD 064 or from inline tables, the same in TOML and JSON; all are put into words for commit subjects and timelines.
import { JpgError, nearestName, userError } from "../errors.ts";
import {
  type Compaction,
  describeNamedCalls,
  type Summary,
  type ToolCallPolicy,
  type UniformToolCallPolicy,
} from "./compaction.ts";
import { formatRuns, isFields } from "./event.ts";

/** How the summary of a range is to be made; the text itself is stored in the compaction. */
export interface SummaryPolicy {
  readonly policy: "summarize";
  /** Model as `provider/name`; absent = chosen at the call. */
  readonly model?: string;
  readonly instructions?: string;
}

/** The policies of one compaction. When `summary` is set the others are not applied (RFD 064). */
export interface Policies {
  readonly reasoning?: "strip";
  readonly tool_calls?: UniformToolCallPolicy;
  readonly attachments?: "strip";
  readonly turns?: "omit";
  readonly summary?: SummaryPolicy;
}

/** Policies as a person wrote them: strings or inline tables, not checked yet. */
export interface PolicyTable {
  readonly reasoning?: unknown;
  readonly tool_calls?: unknown;
  readonly attachments?: unknown;
  readonly turns?: unknown;
  readonly summary?: unknown;
}

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

/** Says in a few words what a compaction does, e.g. `reasoning + tools stripped`, `summary`, `tool results truncated`. */
export function describePolicies(compaction: Pick<Compaction, DescribedField>): string {
  if (compaction.summary !== undefined) return describeSummary(compaction.summary);
  if (compaction.replacement !== undefined) return "replacement";
  if (compaction.turns === "omit") return describeOmission(compaction);
  const tools = compaction.tool_calls === undefined ? null : describeTools(compaction.tool_calls);
  const stripped = [
    ...(compaction.reasoning === "strip" ? ["reasoning"] : []),
    ...(tools?.stripped ?? []),
    ...(compaction.attachments === "strip" ? ["attachments"] : []),
  ];
  const unused = compaction.tools?.names.length ?? 0;
  const parts = [
    ...(stripped.length === 0 ? [] : [`${stripped.join(" + ")} stripped`]),
    ...(tools?.other ?? []),
    ...(unused === 0 ? [] : [`${unused} unused ${unused === 1 ? "tool" : "tools"} pruned`]),
  ];
  return parts.length === 0 ? "no change" : parts.join(", ");
}

function describeSummary({ source }: Summary): string {
  return source === "extractive" ? "summary (extract)" : "summary";
}

type DescribedField =
  | "from_turn"
  | "to_turn"
  | "stats"
  | "summary"
  | "replacement"
  | "turns"
  | "tool_calls"
  | "reasoning"
  | "attachments"
  | "tools";

/** Names the turns that go where others of the range stay; not where what the record says of them cannot be so. */
function describeOmission({ from_turn, to_turn, stats }: Pick<Compaction, "from_turn" | "to_turn" | "stats">): string {
  const runs = stats?.turns_omitted ?? [];
  const isSound = runs.every(
    ({ from, to }, at) => from > (runs[at - 1]?.to ?? from_turn - 1) && from <= to && to <= to_turn,
  );
  if (!isSound || runs.length === 0) return "turns omitted";
  const named = formatRuns(runs);
  return `${/\D/.test(named) ? "turns" : "turn"} ${named} omitted`;
}

interface ToolWords {
  readonly stripped?: readonly string[];
  readonly other?: readonly string[];
}

function describeTools(policy: ToolCallPolicy): ToolWords {
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

/** What becomes of the unnamed calls, then of the named ones by kind. */
function describeSelective({ calls, else: others }: SelectivePolicy): ToolWords {
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

// The profile: a named set of policies. It never says which turns: a range is chosen at the call (RFD 064, Configuration), but it
// may say how many of the last ones a call leaves alone that does not say it itself.

/** What a profile does, and how many of the last turns it leaves alone; absent = as many as the settings say of all. */
export interface Profile extends Policies {
  readonly keep_last?: number;
}

/** Profiles that are there without any configuration; a configured profile of the same name replaces one whole. */
export const BUILT_IN_PROFILES: Readonly<Record<string, PolicyTable>> = {
  default: { reasoning: "strip", tool_calls: "strip" },
  light: { reasoning: "strip" },
  heavy: { summary: { policy: "summarize" } },
};

/** Finds a profile among those that the settings hold, the built-in ones among them. Throws `unknown_profile` with the nearest name and the list. */
export function findProfile(name: string, profiles: Readonly<Record<string, Profile>>): Profile {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found !== undefined) return found;
  const names = Object.keys(profiles);
  const nearest = nearestName(name, names);
  throw userError("unknown_profile", `There is no compaction profile ${name}: expected one of ${names.join(", ")}.`, {
    hints: [
      ...(nearest === undefined ? [] : [`Did you mean ${nearest}?`]),
      "`[conversation.compaction.profiles.NAME]` in .jpg.toml makes one.",
    ],
  });
}
