// Objects of a store in which nothing was found.
import type { ConversationStore } from "../../store/store.ts";
import { type KnownIds, openKnownIds } from "../branch/known-ids.ts";
import { RULES_VERSION } from "../secrets/secret-scanner.ts";

/** 10 MB of them. */
const MOST_CLEAN = 250_000;

/** Opens what is kept in mind for a store. */
export function openCleanObjects(store: ConversationStore): KnownIds {
  return openKnownIds(store, "without-secrets", { key: `rules-${RULES_VERSION}`, most: MOST_CLEAN });
}
