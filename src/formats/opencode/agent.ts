// OpenCode as one value: see docs/ARCHITECTURE.md, and `../agent-format.ts` for what each part means.
import type { AgentFormat } from "../agent-format.ts";
import { stringOf } from "../json-line.ts";
import { openCodeDescent } from "./descent.ts";
import { writeOpenCodeSession } from "./export.ts";
import { writtenMessageId, writtenSessionId } from "./export-ids.ts";
import {
  isOpenCodeSession,
  OPENCODE_IMPORTER,
  openCodeOrigin,
  openCodeSessionId,
  readOpenCodeSession,
} from "./import.ts";
import { planOpenCodeResume } from "./resume.ts";
import { joinScattered, listScattered } from "./scattered.ts";
import { parseDocument } from "./session-document.ts";
import { OPENCODE_SETUP } from "./setup.ts";
import { isSessionFile, OPENCODE_STORE, olderFolders, openCodeDirectory } from "./store.ts";

export const OPENCODE: AgentFormat = {
  name: "opencode",
  agent: { name: "OpenCode", email: "opencode@jpg.invalid" },
  importer: OPENCODE_IMPORTER,
  files: {
    endings: [".json"],
    isNamed: isSessionFile,
    document: () => "json",
    folders: olderFolders,
    directory: openCodeDirectory,
    scattered: { list: listScattered, join: joinScattered },
  },
  store: OPENCODE_STORE,
  detect: isOpenCodeSession,
  sessionId: openCodeSessionId,
  origin: openCodeOrigin,
  descent: openCodeDescent,
  read: readOpenCodeSession,
  write: { sessionId: writtenSessionId, lineId: writtenMessageId, write: writeOpenCodeSession },
  resume: planOpenCodeResume,
  versions: {
    tried: "1.18.33",
    of: (source) => stringOf(parseDocument(source)?.info ?? {}, "version"),
  },
  tools: {
    shell: { name: "bash", keys: { command: "command" } },
    read: { name: "read", keys: { path: "filePath" } },
    write: { name: "write", keys: { path: "filePath", content: "content" } },
    edit: { name: "edit", keys: { path: "filePath", before: "oldString", after: "newString" } },
    search: { name: "grep", keys: { pattern: "pattern", path: "path" } },
    find: { name: "glob", keys: { pattern: "pattern", path: "path" } },
  },
  setup: OPENCODE_SETUP,
  help: {
    place:
      "OpenCode keeps its sessions in a database, which jpg asks `opencode` for; `opencode export SESSION > FILE` writes one as a file. Versions before 1.2 kept them under ~/.local/share/opencode/storage.",
    file: "session.json",
    reads:
      "What `opencode export` prints, and what versions before 1.2 kept: name `storage/session/PROJECT/SESSION.json`, and the files of its messages and parts are read with it, as one document. Its summaries become compactions with the tail that it keeps, cleared results a compaction; what was taken back with `/undo` becomes a fork (`--all-branches`).",
    lost: [
      "An answer that is still being written is imported the next time.",
      "Answers that failed become notes: OpenCode does not send them either.",
      "Of other agents' reasoning, only what Anthropic signed is exported.",
    ],
    takes: { file: "session.json", by: "a session that `opencode import FILE` takes" },
  },
};
