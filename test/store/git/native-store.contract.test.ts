// @module-tag law
import { openNativeStore } from "../../../src/store/git/store.ts";
import { testConversationStore } from "../../contract/conversation-store.ts";
import { createTempStore } from "../../helpers/temp-repository.ts";

testConversationStore("native", async () => {
  const { root, env, remove } = await createTempStore();
  return {
    store: await openNativeStore({ root, env }),
    reopen: () => openNativeStore({ root, env }),
    remove: async () => remove(),
  };
});
