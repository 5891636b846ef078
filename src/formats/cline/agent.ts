// Cline as one value: see docs/ARCHITECTURE.md, and `../agent-format.ts` for what each part means. Its files do not say of which
// project they are: they are read where the user names them.
import type { AgentFormat } from "../agent-format.ts";
import { parseClineDocument } from "./document.ts";
import { CLINE_IMPORTER, readClineSession } from "./import.ts";

export const CLINE: AgentFormat = {
  name: "cline",
  agent: { name: "Cline", email: "cline@jpg.invalid" },
  importer: CLINE_IMPORTER,
  files: { endings: [".messages.json", ".compaction.json"], document: () => "json" },
  detect: (source) => parseClineDocument(source) !== null,
  sessionId: (source) => parseClineDocument(source)?.sessionId ?? null,
  origin: () => null,
  read: readClineSession,
  help: {
    place: "Cline keeps its sessions under ~/.cline/data/sessions.",
    file: "~/.cline/data/sessions/1784094124598_rruoq/1784094124598_rruoq.messages.json",
    reads:
      "Sessions of CLI 3 and VS Code 4 (`….messages.json`), and what is sent since a compaction (`….compaction.json`), which becomes a conversation of its own.",
    lost: ["The files do not say of which project they are: name them.", "The system prompt stays in the source."],
  },
};
