// @module-tag law
// @module-tag law
import { openNativeStore } from "../../../src/store/git/store.ts";
import { testConversationStore } from "../../contract/conversation-store.ts";
import { createTempStore } from "../../helpers/temp-repository.ts";

// covers: 064 "Compaction adds overlays and never changes or deletes events"
// covers: 064 "It stands beside config deltas as stream metadata"
// covers: 064 "Original events remain stored"
// covers: 064 "Destructive compaction is rejected"
// covers: 064 "1.1 Compaction among the stored records"
// covers: 036 "Compaction permanently discards information"
// covers: D17 "4. append the compaction"
// covers: history "`compact_with_summary(summary, keep_recent)` replaces messages"

testConversationStore("native", async () => {
  const { root, env, remove } = await createTempStore();
  return {
    store: await openNativeStore({ root, env }),
    reopen: () => openNativeStore({ root, env }),
    remove: async () => remove(),
  };
});
