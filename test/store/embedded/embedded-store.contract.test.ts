import { testConversationStore } from "../../contract/conversation-store.ts";
import { createMemoryRepository, openEmbeddedStore } from "../../helpers/embedded-store.ts";

testConversationStore("embedded", async () => {
  const repository = await createMemoryRepository();
  return {
    store: openEmbeddedStore(repository),
    reopen: () => Promise.resolve(openEmbeddedStore(repository)),
    remove: () => Promise.resolve(),
  };
});
