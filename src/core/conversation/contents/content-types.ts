import type { ContentPolicies } from "../compaction.ts";
import type { Event } from "../event.ts";
import { attachmentsContent } from "./attachments.ts";
import type { ContentType } from "./content-type.ts";
import { imagesContent } from "./images.ts";
import { prunedToolsContent } from "./pruned-tools.ts";
import { reasoningContent } from "./reasoning.ts";
import { toolCallsContent } from "./tool-calls.ts";

/** The content types, in the order in which they are described and applied: first what takes more of an event. */
export const CONTENT_TYPES: readonly ContentType[] = [
  reasoningContent,
  toolCallsContent,
  attachmentsContent,
  imagesContent,
  prunedToolsContent,
];

/** Maps each content type that a set of policies has an opinion on, with its policy. */
export function mapPolicies<Result>(
  policies: ContentPolicies,
  map: (type: ContentType, policy: NonNullable<ContentPolicies[keyof ContentPolicies]>) => Result,
): readonly Result[] {
  return CONTENT_TYPES.flatMap((type) => {
    const policy = policies[type.content];
    return policy === undefined ? [] : [map(type, policy)];
  });
}

/** Picks the policies for contents, in the order of the table; other fields are left out. */
export function contentPolicies(policies: ContentPolicies): ContentPolicies {
  return Object.fromEntries(mapPolicies(policies, ({ content }, policy) => [content, policy]));
}

/** The content type of an event as a whole, if any; parts of it may have others. */
export function mainContentOf(event: Event): ContentType | undefined {
  return MAIN.find(({ projected }) => projected?.contentOf(event) != null);
}

const MAIN = CONTENT_TYPES.filter(({ isPart }) => isPart !== true);

export const PART_CONTENTS: readonly ContentType[] = CONTENT_TYPES.filter(({ isPart }) => isPart === true);
