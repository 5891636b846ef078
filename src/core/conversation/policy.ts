// The policies of a profile or a compaction: absent = no opinion. Describes them for commit subjects and timelines; what is
// specific to a kind of content is in contents/.
import { nearestName, userError } from "../errors.ts";
import type { Compaction, ContentPolicies, StripPolicies, Summary, UniformToolCallPolicy } from "./compaction.ts";
import { mapPolicies } from "./contents/content-types.ts";
import { formatRuns } from "./event.ts";

/** How the summary of a range is to be made; the text itself is stored in the compaction. */
export interface SummaryPolicy {
  readonly policy: "summarize";
  /** Model as `provider/name`; absent = chosen at the call. */
  readonly model?: string;
  readonly instructions?: string;
}

/** The policies of one compaction. When `summary` is set the others are not applied (RFD 064). */
export interface Policies extends StripPolicies {
  readonly tool_calls?: UniformToolCallPolicy;
  readonly turns?: "omit";
  readonly summary?: SummaryPolicy;
}

/** Policies as a person wrote them: strings or inline tables, not checked yet. */
export type PolicyTable = { readonly [Key in keyof Policies]?: unknown };
/** Says in a few words what a compaction does, e.g. `reasoning + tools stripped`, `summary`, `tool results truncated`. */
export function describePolicies(compaction: Pick<Compaction, DescribedField>): string {
  if (compaction.summary !== undefined) return describeSummary(compaction.summary);
  if (compaction.replacement !== undefined) return "replacement";
  if (compaction.turns === "omit") return describeOmission(compaction);
  const words = mapPolicies(compaction, (type, policy) => type.describe(policy));
  const stripped = words.flatMap((one) => one.stripped ?? []);
  const parts = [
    ...(stripped.length === 0 ? [] : [`${stripped.join(" + ")} stripped`]),
    ...words.flatMap((one) => one.other ?? []),
  ];
  if (parts.length > 0) return parts.join(", ");
  return compaction.keep === undefined ? "no change" : "shown as it was";
}

function describeSummary({ source }: Summary): string {
  return source === "extractive" ? "summary (extract)" : "summary";
}

type DescribedField =
  | "from_turn"
  | "to_turn"
  | "keep"
  | "stats"
  | "summary"
  | "replacement"
  | "turns"
  | keyof ContentPolicies;

/** Names the omitted turns when other turns of the range stay; ignores a record whose list is inconsistent. */
function describeOmission({ from_turn, to_turn, stats }: Pick<Compaction, "from_turn" | "to_turn" | "stats">): string {
  const runs = stats?.turns_omitted ?? [];
  const isSound = runs.every(
    ({ from, to }, at) => from > (runs[at - 1]?.to ?? from_turn - 1) && from <= to && to <= to_turn,
  );
  if (!isSound || runs.length === 0) return "turns omitted";
  const named = formatRuns(runs);
  return `${/\D/.test(named) ? "turns" : "turn"} ${named} omitted`;
}

// The profile: a named set of policies. It never names turns: a range is chosen at the call (RFD 064, Configuration). It may
// set how many of the last turns a call leaves alone by default.

/** What a profile does, and how many of the last turns it leaves alone; absent = as many as the settings say. */
export interface Profile extends Policies {
  readonly keep_last?: number;
}

/** Profiles that exist without any configuration; a configured profile of the same name replaces one whole. */
export const BUILT_IN_PROFILES: Readonly<Record<string, PolicyTable>> = {
  default: { reasoning: "strip", tool_calls: "strip" },
  light: { reasoning: "strip" },
  heavy: { summary: { policy: "summarize" } },
};

/** Finds a profile among the configured and built-in ones. Throws `unknown_profile` with the nearest name and the list. */
export function findProfile(name: string, profiles: Readonly<Record<string, Profile>>): Profile {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found !== undefined) return found;
  const names = Object.keys(profiles);
  const nearest = nearestName(name, names);
  throw userError("unknown_profile", `There is no compaction profile ${name}: expected one of ${names.join(", ")}.`, {
    hints: [
      ...(nearest === undefined ? [] : [`Did you mean ${nearest}?`]),
      "`[conversation.compaction.profiles.NAME]` in .jpg.toml defines one.",
    ],
  });
}
