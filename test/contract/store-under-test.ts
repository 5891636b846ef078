// What an engine's test file hands to the store contract.
import type { ConversationStore } from "../../src/store/conversation-store.ts";

/** A store for one test, and how to get rid of it. */
export interface StoreUnderTest {
  readonly store: ConversationStore;
  /** Another opening of the same store, as another process would have it. */
  reopen(): Promise<ConversationStore>;
  remove(): Promise<void>;
}
