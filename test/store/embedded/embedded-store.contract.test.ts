// @module-tag law
import { createEmbeddedStore, openEmbeddedStore } from "../../../src/store/embedded/store.ts";
import { testConversationStore } from "../../contract/conversation-store.ts";
import { createMemoryRepository } from "../../helpers/embedded-store.ts";
import { createTempStore } from "../../helpers/temp-repository.ts";

testConversationStore("embedded, in memory", async () => {
  const repository = await createMemoryRepository();
  return {
    store: createEmbeddedStore(repository),
    reopen: () => Promise.resolve(createEmbeddedStore(repository)),
    remove: () => Promise.resolve(),
  };
});

testConversationStore("embedded, on a disk", async () => {
  const { root, env, remove } = await createTempStore();
  const open = () => openEmbeddedStore({ root, env, now: () => new Date("2026-05-01T12:00:00Z") });
  return { store: await open(), reopen: open, remove: async () => remove() };
});
