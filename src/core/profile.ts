// The profile: a named set of policies. It never says which turns: a range is chosen at the call (RFD 064, Configuration).
import { JpgError } from "./errors.ts";
import { nearestName } from "./nearest-name.ts";
import { type Policies, type PolicyTable, parsePolicies } from "./policy.ts";

export interface Profile extends Policies {
  readonly name: string;
}

/** Profiles that are there without any configuration; a configured profile of the same name replaces one whole. */
export const BUILT_IN_PROFILES: Readonly<Record<string, PolicyTable>> = {
  default: { reasoning: "strip", tool_calls: "strip" },
  light: { reasoning: "strip" },
};

/** Finds a profile by name. Throws `unknown_profile` with the nearest name and the list, `bad_policy` when its policies cannot be read. */
export function resolveProfile(name: string, configured: Readonly<Record<string, PolicyTable>> = {}): Profile {
  const tables = new Map([...Object.entries(BUILT_IN_PROFILES), ...Object.entries(configured)]);
  const table = tables.get(name);
  if (table === undefined) throw unknownProfile(name, [...tables.keys()]);
  return { name, ...parsePolicies(table, `conversation.compaction.profiles.${name}`) };
}

function unknownProfile(name: string, known: readonly string[]): JpgError {
  const nearest = nearestName(name, known);
  return new JpgError(
    "user",
    "unknown_profile",
    `there is no compaction profile "${name}": expected one of ${known.join(", ")}`,
    {
      data: { name, known },
      hints: [
        ...(nearest === undefined ? [] : [`did you mean --profile ${nearest}?`]),
        `define it under [conversation.compaction.profiles.${name}] in .jpg.toml`,
      ],
    },
  );
}
