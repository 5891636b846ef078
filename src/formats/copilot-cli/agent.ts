// Copilot CLI as one value: see docs/ARCHITECTURE.md, and `../agent-format.ts` for what each part means. It is read only: its
// sessions are bound to the service that answers them.

import type { AgentFormat, Machine, SessionDirectory } from "../agent-format.ts";
import { findVersion } from "../agent-version.ts";
import { recordOf, stringOf } from "../json-line.ts";
import type { SessionSource } from "../session-source.ts";
import { COPILOT_IMPORTER, copilotSessionId, isCopilotSession, readCopilotSession } from "./import.ts";
import { dataOf, parseCopilotLine } from "./line.ts";

export const COPILOT_CLI: AgentFormat = {
  name: "copilot-cli",
  agent: { name: "Copilot CLI", email: "copilot-cli@jpg.invalid" },
  importer: COPILOT_IMPORTER,
  files: {
    endings: [".jsonl"],
    folders: (machine) => [{ path: sessionFolder(machine), levels: 1 }],
    directory: copilotDirectory,
  },
  detect: isCopilotSession,
  sessionId: copilotSessionId,
  origin: () => null,
  read: readCopilotSession,
  versions: {
    tried: "1.0.77",
    of: (source) => findVersion(source, parseCopilotLine, (line) => dataOf(line)["copilotVersion"]),
  },
  tools: {
    shell: { name: "bash", keys: { command: "command" } },
    read: { name: "view", keys: { path: "path" } },
    edit: { name: "edit", keys: { path: "path", before: "old_str", after: "new_str" } },
  },
  help: {
    place: "Copilot CLI keeps its sessions under ~/.copilot/session-state.",
    file: "~/.copilot/session-state/10fb4666-…/events.jsonl",
    reads:
      "Sessions of 1.0 (`events.jsonl`). What Copilot CLI sent along with a request is kept beside it as text of the agent, not yours.",
    lost: [
      "For a truncation Copilot CLI records counts, not what it dropped, so a truncation becomes a note and hides nothing.",
      "What sub-agents said and did becomes notes: their caller sees only what they answered.",
      "Its system prompt is a note.",
    ],
  },
};

function sessionFolder({ home, join }: Machine): string {
  return join(home, ".copilot", "session-state");
}

/** The sessions of all directories are together; the first line says which one it was begun in. */
function copilotDirectory(beginning: SessionSource): SessionDirectory | null {
  const line = beginning.lineCount === 0 ? null : parseCopilotLine(beginning.line(0));
  if (line === null || typeof line === "string") return null;
  const path = stringOf(recordOf(dataOf(line), "context") ?? {}, "cwd");
  return path === undefined ? null : { path };
}
