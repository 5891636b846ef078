// Gemini CLI as one value: see docs/ARCHITECTURE.md, and `../agent-format.ts` for what each part means.
import type { AgentFormat, Machine, SessionDraft, SessionFolder } from "../agent-format.ts";
import { lineUuid, sessionUuid } from "../derived-ids.ts";
import type { ResumePlan } from "../resume-plan.ts";
import { geminiDescent } from "./descent.ts";
import { startOfView, writeGeminiSession } from "./export.ts";
import { GEMINI_CLI_IMPORTER, geminiSessionId, isGeminiSession, readGeminiSession } from "./import.ts";
import { geminiOrigin } from "./origin.ts";
import { geminiDirectory, projectFolders, sessionPlace } from "./project-folder.ts";
import { sessionDocument } from "./records.ts";
import { GEMINI_SETUP } from "./setup.ts";

/** Below a directory's folder. */
const SESSIONS = "chats";
/** Names of documents begin so; many others end like them. */
const SESSION_PREFIX = "session-";

export const GEMINI_CLI: AgentFormat = {
  name: "gemini-cli",
  agent: { name: "Gemini CLI", email: "gemini-cli@jpg.invalid" },
  importer: GEMINI_CLI_IMPORTER,
  files: {
    endings: [".jsonl", ".json"],
    isNamed: (fileName) => fileName.endsWith(".jsonl") || fileName.startsWith(SESSION_PREFIX),
    document: (source) => (sessionDocument(source) === null ? null : "json"),
    folders: sessionFolders,
    directory: geminiDirectory,
  },
  detect: isGeminiSession,
  sessionId: geminiSessionId,
  origin: geminiOrigin,
  descent: geminiDescent,
  read: readGeminiSession,
  write: { sessionId: sessionUuid, lineId: lineUuid, write: writeGeminiSession },
  resume: planResume,
  setup: GEMINI_SETUP,
  tools: {
    shell: { name: "run_shell_command", keys: { command: "command" } },
    read: { name: "read_file", keys: { path: "file_path" } },
    write: { name: "write_file", keys: { path: "file_path", content: "content" } },
    edit: { name: "replace", keys: { path: "file_path", before: "old_string", after: "new_string" } },
    search: { name: "grep_search", keys: { pattern: "pattern", path: "dir_path" } },
    find: { name: "glob", keys: { pattern: "pattern", path: "dir_path" } },
  },
  help: {
    place: "Gemini CLI keeps its sessions under ~/.gemini/tmp (or .gemini/tmp in GEMINI_CLI_HOME).",
    file: "~/.gemini/tmp/my-app/chats/session-2026-11-21T20-30-4f2e91ab.jsonl",
    reads:
      "Sessions as lines and, before 2026, as one document. A list of messages that Gemini CLI rewrote becomes a compaction if it says something else; what you rewound or broke off becomes a fork (`--all-branches`), and a sub-agent's session a conversation linked with the one that started it.",
    lost: [
      "What Gemini CLI tells its model about its surroundings on each start becomes no event; what only its display shows becomes a note.",
      "Only the folder of a sub-agent's session says which session started it: in another folder it is imported on its own.",
      "Its sessions hold no signatures of thoughts, and thoughts are never sent again.",
    ],
    takes: { file: "4f2e91ab.jsonl", by: "a session that `gemini --session-file FILE` takes" },
    addServer: "gemini mcp add jpg jpg mcp",
  },
};

/** Sub-agents of a session write theirs into a folder of the session's own. */
function sessionFolders(machine: Machine, directory: string): readonly SessionFolder[] {
  return projectFolders(machine, directory).map(({ path, ...whose }) => ({
    path: machine.join(path, SESSIONS),
    levels: 1,
    ...whose,
  }));
}

/** The agent finds a session by the first 8 digits of its id in the file's name, and the id in the file. */
function planResume(machine: Machine, { sessionId, view, cwd }: SessionDraft): ResumePlan {
  const minute = startOfView(view).slice(0, "2026-01-02T03:04".length).replace(":", "-");
  const name = `${SESSION_PREFIX}${minute}-${sessionId.slice(0, 8)}.jsonl`;
  const { folder, later } = sessionPlace(machine, cwd);
  return {
    path: machine.join(folder, SESSIONS, name),
    ...(later !== undefined && { elsewhere: [machine.join(later, SESSIONS, name)] }),
    command: ["gemini", "--resume", sessionId],
    hints: [
      "GEMINI_CLI_HOME names another folder for Gemini CLI's files.",
      "`jpg export --to gemini-cli -o FILE` writes anywhere; `gemini --session-file FILE` takes it.",
    ],
  };
}
