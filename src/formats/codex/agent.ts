// Codex as one value: see docs/ARCHITECTURE.md, and `../agent-format.ts` for what each part means.

import type { AgentFormat, Machine, SessionDraft, SessionFolder } from "../agent-format.ts";
import { findVersion } from "../agent-version.ts";
import { lineUuid, sessionUuid } from "../derived-ids.ts";
import type { ResumePlan } from "../resume-plan.ts";
import { codexDescent, codexSessionId, isCodexSession } from "./detect.ts";
import { timeOfView, writeCodexSession } from "./export.ts";
import { CODEX_BASE } from "./history-base.ts";
import { CODEX_IMPORTER_VERSION, codexOrigin, readCodexSession } from "./import.ts";
import { readCodexTail } from "./import-tail.ts";
import { parseRolloutLine, payloadOf } from "./rollout-line.ts";
import { codexDirectory } from "./session-folder.ts";
import { CODEX_SETUP, codexHome } from "./setup.ts";

/** Folders of a session's year, month and day. */
const DATE_LEVELS = 3;

export const CODEX: AgentFormat = {
  name: "codex",
  agent: { name: "Codex", email: "codex@jpg.invalid" },
  importer: CODEX_IMPORTER_VERSION,
  files: {
    endings: [".jsonl", ".jsonl.zst"],
    folders: sessionFolders,
    directory: codexDirectory,
    base: CODEX_BASE,
    // Of a session in which the user went back, the file's own id follows.
    isCallers: ({ CODEX_THREAD_ID: session }, fileName) =>
      session !== undefined && session !== "" && [".", "_"].some((next) => fileName.includes(`-${session}${next}`)),
  },
  detect: isCodexSession,
  sessionId: codexSessionId,
  origin: codexOrigin,
  descent: codexDescent,
  read: readCodexSession,
  readTail: readCodexTail,
  write: { sessionId: sessionUuid, lineId: lineUuid, write: writeCodexSession },
  resume: planResume,
  setup: CODEX_SETUP,
  versions: {
    tried: "0.169.0",
    of: (source) => findVersion(source, parseRolloutLine, (line) => payloadOf(line)["cli_version"]),
  },
  tools: { shell: { name: "exec_command", keys: { command: "cmd" } } },
  help: {
    place: "Codex keeps its sessions under ~/.codex/sessions (or CODEX_HOME).",
    file: "~/.codex/sessions/2026/11/21/rollout-2026-11-21T20-30-00-019b….jsonl",
    reads:
      "Rollouts as lines (`.jsonl`) of every version, compressed ones too. Its own compactions become compactions, encrypted ones as they came; what you went back from becomes a fork (`--all-branches`), a session forked from another becomes a fork of its conversation, and a sub-agent's session a conversation linked with it.",
    lost: [
      "Rollouts of April and May 2025, one document each (`.json`), are not read.",
      "What Codex records only for its display, settings and state becomes no event.",
      "An export holds only plain items, without settings or model provider: Codex uses its own.",
    ],
    addServer: "codex mcp add jpg -- jpg mcp",
  },
};

/** Codex finds a session by its id, in the folder of any day: that of the newest event says when the conversation stood so. */
function planResume(machine: Machine, { sessionId, view }: SessionDraft): ResumePlan {
  const [date = "", time = ""] = timeOfView(view).split("T");
  const name = `rollout-${date}T${time.slice(0, 8).replaceAll(":", "-")}-${sessionId}.jsonl`;
  const path = machine.join(codexHome(machine), "sessions", ...date.split("-"), name);
  return {
    path,
    elsewhere: [`${path}.zst`, machine.join(codexHome(machine), "archived_sessions", name)],
    command: ["codex", "resume", sessionId],
    hints: ["CODEX_HOME names another folder for Codex's files."],
  };
}

/** The sessions of all directories stand together. */
function sessionFolders(machine: Machine): readonly SessionFolder[] {
  return [
    { path: machine.join(codexHome(machine), "sessions"), levels: DATE_LEVELS },
    { path: machine.join(codexHome(machine), "archived_sessions") },
  ];
}
