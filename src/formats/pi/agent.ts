// pi as one value: see docs/ARCHITECTURE.md, and `../agent-format.ts` for what each part means.

import type { AgentFormat, SessionDraft } from "../agent-format.ts";
import { findVersion } from "../agent-version.ts";
import { lineUuid, sessionUuid } from "../derived-ids.ts";
import type { RawLine } from "../json-line.ts";
import { piDescent } from "./descent.ts";
import { sessionTime, writePiSession } from "./export.ts";
import { isPiSession, PI_IMPORTER, piSessionId, readPiSession } from "./import.ts";
import { readPiTail } from "./import-tail.ts";
import { isHeader, parseSessionLine } from "./line.ts";
import { readPiOrigin } from "./origin.ts";
import { piDirectory, sessionFolder, sessionFolders, settingsFiles } from "./session-folders.ts";
import { PI_SETUP } from "./setup.ts";

const ENDING = ".jsonl";

export const PI: AgentFormat = {
  name: "pi",
  agent: { name: "pi", email: "pi@jpg.invalid" },
  importer: PI_IMPORTER,
  files: {
    endings: [ENDING],
    settings: settingsFiles,
    folders: sessionFolders,
    directory: piDirectory,
  },
  detect: isPiSession,
  sessionId: piSessionId,
  origin: readPiOrigin,
  descent: piDescent,
  read: readPiSession,
  readTail: readPiTail,
  write: { sessionId: sessionUuid, lineId: lineUuid, write: writePiSession },
  resume: (machine, draft) => {
    const path = machine.join(sessionFolder(machine, draft.cwd), fileName(draft));
    return {
      path,
      command: ["pi", "--session", path],
      hints: [
        "PI_CODING_AGENT_DIR names another folder for pi's files.",
        "`jpg export --to pi -o FILE` writes anywhere; `pi --session FILE` takes it.",
      ],
    };
  },
  setup: PI_SETUP,
  // pi names the version of the format alone.
  versions: {
    tried: "3",
    of: (source) => findVersion(source, parseSessionLine, (line) => (isHeader(line) ? versionOf(line) : "")),
  },
  tools: {
    shell: { name: "bash", keys: { command: "command" } },
    read: { name: "read", keys: { path: "path" } },
    write: { name: "write", keys: { path: "path", content: "content" } },
    search: { name: "grep", keys: { pattern: "pattern", path: "path" } },
    find: { name: "find", keys: { pattern: "pattern", path: "path" } },
  },
  help: {
    place:
      "pi keeps its sessions under ~/.pi/agent/sessions (or PI_CODING_AGENT_DIR, or where its setting `sessionDir` says).",
    file: "~/.pi/agent/sessions/--home-me-app--/2026-01-02T10-00-00-000Z_4f2e….jsonl",
    reads:
      "Sessions of versions 1 to 3 of the format. Its compactions and edits become compactions, other branches of the tree become forks (`--all-branches`), and a session forked from another becomes a fork of its conversation.",
    lost: [
      "Answers that were broken off become notes: pi does not send them either.",
      "Of other agents' reasoning, only what Anthropic signed is exported.",
    ],
    takes: { file: "4f2e.jsonl", by: "a session that `pi --session FILE` takes" },
  },
};

function versionOf({ version }: RawLine): unknown {
  return typeof version === "number" ? String(version) : version;
}

/** pi lists sessions by the time that their names begin with. */
function fileName(draft: SessionDraft): string {
  return `${sessionTime(draft).replace(/[:.]/g, "-")}_${draft.sessionId}${ENDING}`;
}
