// What an extract is made of, of a conversation in which there is nothing.
import type { Gathered } from "../../src/core/compact/gather.ts";

export const NOTHING_GATHERED: Gathered = {
  requests: [],
  messages: [],
  answers: [],
  modified: [],
  notModified: [],
  changes: new Map(),
  read: [],
  tools: [],
  commands: [],
  commits: [],
  failures: [],
  decisions: [],
  guidance: [],
  openTasks: [],
  ending: { unfinished: null, actions: [] },
};
