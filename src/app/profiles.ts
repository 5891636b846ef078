// Picks a compaction profile among those that the settings hold (the built-in ones are among them).
import { JpgError } from "../core/errors.ts";
import { nearestName } from "../core/nearest-name.ts";
import type { Policies } from "../core/policy.ts";

/** Throws `unknown_profile` with the nearest name. */
export function pickProfile(name: string, profiles: Readonly<Record<string, Policies>>): Policies {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found !== undefined) return found;
  const names = Object.keys(profiles);
  const nearest = nearestName(name, names);
  throw new JpgError(
    "user",
    "unknown_profile",
    `There is no compaction profile ${name}; there are: ${names.join(", ")}.`,
    {
      hints: [
        ...(nearest === undefined ? [] : [`Did you mean ${nearest}?`]),
        "`[conversation.compaction.profiles.NAME]` in .jpg.toml makes one.",
      ],
    },
  );
}
