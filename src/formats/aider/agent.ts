// aider as one value: see docs/ARCHITECTURE.md, and `../agent-format.ts` for what each part means.
import type { AgentFormat } from "../agent-format.ts";
import { AIDER_IMPORTER, aiderSessionId, readAiderHistory } from "./import.ts";

/** What aider calls its history, in the project's directory. */
const FILE = ".aider.chat.history.md";

export const AIDER: AgentFormat = {
  name: "aider",
  agent: { name: "aider", email: "aider@jpg.invalid" },
  importer: AIDER_IMPORTER,
  files: { endings: [FILE], folders: (_machine, directory) => [{ path: directory, of: directory }] },
  detect: (source) => aiderSessionId(source) !== null,
  sessionId: aiderSessionId,
  origin: () => null,
  read: readAiderHistory,
  help: {
    place: `aider keeps its chats in the project's directory, in ${FILE}.`,
    file: FILE,
    reads:
      "The whole history as one conversation; each new chat hides those before it, as a compaction that you can undo.",
    lost: [
      "The history holds no files, no edits as calls, no reasoning and no times of messages: everything in a chat has the time at which the chat started, taken as UTC.",
      "A line of an answer that begins with `#### ` or `> ` is taken for your words or for aider's.",
    ],
  },
};
