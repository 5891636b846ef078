// Claude Code as one value: see docs/ARCHITECTURE.md, and `../agent-format.ts` for what each part means.

import { defined } from "../../core/json.ts";
import { toAnthropicThread } from "../../core/model/anthropic-thread.ts";
import type { AgentFormat, SessionDraft } from "../agent-format.ts";
import { findVersion } from "../agent-version.ts";
import { lineUuid, sessionUuid } from "../derived-ids.ts";
import { parseExportOrigin } from "../export-origin.ts";
import { claudeDescent } from "./descent.ts";
import { isClaudeSession } from "./detect.ts";
import { exportClaudeCode } from "./export.ts";
import { CLAUDE_IMPORTER, claudeSessionId, readClaudeSession } from "./import.ts";
import { readClaudeTail } from "./import-tail.ts";
import { parseLine } from "./line.ts";
import { claudeDirectory, claudeFolders, projectFolder } from "./session-folder.ts";
import { CLAUDE_SETUP } from "./setup.ts";
import { aboutTranscript, isSideFile, isSideFolder, isTranscript } from "./side-files.ts";
import { typicalClaudeOverhead } from "./typical-overhead.ts";

const ENDING = ".jsonl";

export const CLAUDE_CODE: AgentFormat = {
  name: "claude-code",
  agent: { name: "Claude Code", email: "claude-code@jpg.invalid" },
  importer: CLAUDE_IMPORTER,
  files: {
    endings: [ENDING],
    folders: claudeFolders,
    directory: claudeDirectory,
    isCallers: ({ CLAUDE_CODE_SESSION_ID: session }, fileName) =>
      session !== undefined && fileName === `${session}${ENDING}`,
    about: aboutTranscript,
    beside: {
      folder: (fileName) => (fileName.endsWith(ENDING) ? fileName.slice(0, -ENDING.length) : null),
      holdsFolder: isSideFolder,
      holdsFile: isSideFile,
      isSession: isTranscript,
    },
  },
  detect: isClaudeSession,
  sessionId: claudeSessionId,
  origin: (source) => (source.lineCount > 0 ? parseExportOrigin(source.line(0)) : null),
  descent: claudeDescent,
  read: readClaudeSession,
  readTail: readClaudeTail,
  overhead: typicalClaudeOverhead,
  write: { sessionId: sessionUuid, lineId: lineUuid, write: writeSession },
  resume: (machine, { sessionId, cwd }) => ({
    path: machine.join(projectFolder(machine, cwd), `${sessionId}${ENDING}`),
    command: ["claude", "--resume", sessionId],
    hints: [
      "CLAUDE_CONFIG_DIR names another folder for Claude Code's files.",
      "`jpg export --to claude-code -o FILE` writes anywhere; `claude --resume FILE` takes it.",
    ],
  }),
  setup: CLAUDE_SETUP,
  versions: { tried: "2.1.330", of: (source) => findVersion(source, parseLine, ({ version }) => version) },
  tools: {
    shell: { name: "Bash", keys: { command: "command" } },
    read: { name: "Read", keys: { path: "file_path" } },
    write: { name: "Write", keys: { path: "file_path", content: "content" } },
    edit: { name: "Edit", keys: { path: "file_path", before: "old_string", after: "new_string" } },
    search: { name: "Grep", keys: { pattern: "pattern", path: "path" } },
    find: { name: "Glob", keys: { pattern: "pattern", path: "path" } },
  },
  help: {
    place: "Claude Code keeps its sessions under ~/.claude/projects (or CLAUDE_CONFIG_DIR).",
    file: "~/.claude/projects/-home-me-app/4f2e….jsonl",
    reads:
      "Sessions of 2.0 and later. Its own compactions become compactions, what you rewound becomes a fork (`--all-branches`), what its tools wrote into files beside the session is kept with it, and what each of its sub-agents did becomes a conversation linked with it.",
    lost: [
      "Attachments that Claude Code makes again on each start (its lists of files, tools, skills) become notes and are not exported.",
      "Reasoning is exported only for the model family that wrote it: the API refuses other signatures.",
    ],
    takes: { file: "4f2e.jsonl", by: "a session that `claude --resume FILE` takes" },
    addServer: "claude mcp add jpg -- jpg mcp",
  },
};

function writeSession({ view, sessionId, origin, cwd, title, model, sha1 }: SessionDraft): string {
  const thread = toAnthropicThread(view, { ...defined({ model }), systemMessages: true });
  const lineId = (name: string): string => lineUuid(sessionId, name, sha1);
  return exportClaudeCode({ thread, view, sessionId, lineId, origin, cwd, title }).text;
}
