// A store that reads each log once: the history of a commit never changes, and one command asks for it in several places.
import type { ConversationStore, LogEntry, LogQuery } from "../../store/store.ts";

/** Gives the store with its logs remembered until it is closed. Logs of names that may move are read each time. */
export function withRememberedLog(store: ConversationStore): ConversationStore {
  const logs = new Map<string, Promise<readonly LogEntry[]>>();
  const readLog = (query: LogQuery): Promise<readonly LogEntry[]> => {
    if (!/^[0-9a-f]{40,64}$/.test(query.from)) return store.readLog(query);
    const key = JSON.stringify([query.from, query.paths ?? [], query.limit ?? null, query.isAside !== undefined]);
    const log = logs.get(key) ?? store.readLog(query);
    logs.set(key, log);
    return log;
  };
  return Object.create(store, { readLog: { value: readLog, enumerable: true } }) as ConversationStore;
}
