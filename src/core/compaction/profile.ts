// The profile: a named set of policies. It never says which turns: a range is chosen at the call (RFD 064, Configuration), but it
// may say how many of the last ones a call leaves alone that does not say it itself.
import { userError } from "../errors.ts";
import { nearestName } from "../nearest-name.ts";
import type { Policies, PolicyTable } from "./policy.ts";

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
