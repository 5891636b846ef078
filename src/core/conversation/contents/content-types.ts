import type { ContentPolicies } from "../compaction.ts";
import type { Event } from "../event.ts";
import { attachmentsContent } from "./attachments.ts";
import type { ContentType } from "./content-type.ts";
import { imagesContent } from "./images.ts";
import { prunedToolsContent } from "./pruned-tools.ts";
import { reasoningContent } from "./reasoning.ts";
import { toolCallsContent } from "./tool-calls.ts";

/** The content types, in the order in which they are told and applied: what takes more of an event comes first. */
export const CONTENT_TYPES: readonly ContentType[] = [
  reasoningContent,
  toolCallsContent,
  attachmentsContent,
  imagesContent,
  prunedToolsContent,
];

/** Each content type that a set of policies has an opinion on, with what `tell` makes of the policy. */
export function mapPolicies<Result>(
  policies: ContentPolicies,
  map: (type: ContentType, policy: NonNullable<ContentPolicies[keyof ContentPolicies]>) => Result,
): readonly Result[] {
  return CONTENT_TYPES.flatMap((type) => {
    const policy = policies[type.content];
    return policy === undefined ? [] : [map(type, policy)];
  });
}

/** Chooses the policies for contents, in the order of the table; what else stands beside them is left out. */
export function contentPolicies(policies: ContentPolicies): ContentPolicies {
  return Object.fromEntries(mapPolicies(policies, ({ content }, policy) => [content, policy]));
}

/** The content type that an event is all about, if it has one; parts of it may have others. */
export function mainContentOf(event: Event): ContentType | undefined {
  return MAIN.find(({ projected }) => projected?.contentOf(event) != null);
}

const MAIN = CONTENT_TYPES.filter(({ isPart }) => isPart !== true);

/** The content types of parts of events. */
export const PART_CONTENTS: readonly ContentType[] = CONTENT_TYPES.filter(({ isPart }) => isPart === true);
