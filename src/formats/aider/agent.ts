// aider as one value: see docs/ARCHITECTURE.md, and `../agent-format.ts` for what each part means.
import type { AgentFormat } from "../agent-format.ts";
import { AIDER_IMPORTER, aiderSessionId, readAiderHistory } from "./import.ts";

/** What aider calls its history, in the project's directory. */
const FILE = ".aider.chat.history.md";

export const AIDER: AgentFormat = {
  name: "aider",
  agent: { name: "aider", email: "aider@jpg.invalid" },
  importer: AIDER_IMPORTER,
  files: { endings: [FILE], folders: (_machine, directory) => [{ path: directory }] },
  detect: (source) => aiderSessionId(source) !== null,
  sessionId: aiderSessionId,
  origin: () => null,
  read: readAiderHistory,
  help: {
    place: `aider keeps its chats in the project's directory, in ${FILE}.`,
    file: FILE,
    reads:
      "The whole history as one conversation; a chat that starts leaves out those before it, as a compaction that can be taken back.",
    lost: [
      "The history holds no files, edits as calls, reasoning or times of messages: all of a chat has the time at which it was started, taken for UTC.",
      "A line of an answer that begins with `#### ` or `> ` is taken for your words or for aider's.",
    ],
  },
};
