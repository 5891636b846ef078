// The contract of ConversationStore: what every engine must do. Each engine's test file runs it over its own stores.
import { testBranches } from "./store-branches.ts";
import { testFiles } from "./store-files.ts";
import { testLog } from "./store-log.ts";
import { testSearch } from "./store-search.ts";
import type { StoreUnderTest } from "./store-under-test.ts";
import { testWriting } from "./store-writing.ts";

/** Declares the contract's tests for one engine; `open` gives a new, empty store for each. */
export function testConversationStore(engine: string, open: () => Promise<StoreUnderTest>): void {
  testBranches(engine, open);
  testFiles(engine, open);
  testWriting(engine, open);
  testLog(engine, open);
  testSearch(engine, open);
}
