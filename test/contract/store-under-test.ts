// What an engine's test file hands to the store contract.
import { afterEach, beforeEach } from "vitest";
import type { ConversationStore } from "../../src/store/store.ts";

/** A store for one test, and how to get rid of it. */
export interface StoreUnderTest {
  readonly store: ConversationStore;
  /** Another opening of the same store, as another process would have it. */
  reopen(): Promise<ConversationStore>;
  remove(): Promise<void>;
}

/** Opens a store before each test of a group, hands it to `use`, and closes and removes it after the test. */
export function eachStore(open: () => Promise<StoreUnderTest>, use: (subject: StoreUnderTest) => void): void {
  let subject: StoreUnderTest;
  beforeEach(async () => {
    subject = await open();
    use(subject);
  });
  afterEach(async () => {
    await subject.store.close();
    await subject.remove();
  });
}
