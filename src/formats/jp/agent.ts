// jp (Jean-Pierre) as one value: see docs/ARCHITECTURE.md, and `../agent-format.ts` for what each part means.
import type { AgentFormat } from "../agent-format.ts";
import { sessionUuid } from "../derived-ids.ts";
import { idOfName } from "./entry-id.ts";
import { writeJpSession } from "./export.ts";
import { isJpStream, JP_IMPORTER, jpSessionId, readJpOrigin, readJpSession } from "./import.ts";
import { decodeStoredLine } from "./stored-text.ts";

/** The file of a conversation that holds what was said; its folder has the name. */
const STREAM = "events.json";

export const JP: AgentFormat = {
  name: "jp",
  agent: { name: "jp", email: "jp@jpg.invalid" },
  importer: JP_IMPORTER,
  files: {
    endings: [STREAM],
    document: () => "json",
    about: (fileName) => (fileName === STREAM ? "metadata.json" : null),
    folders: ({ join }, directory) => [{ path: join(directory, ".jp", "conversations"), levels: 1, of: directory }],
  },
  detect: isJpStream,
  sessionId: jpSessionId,
  origin: readJpOrigin,
  read: readJpSession,
  plainLine: decodeStoredLine,
  write: {
    sessionId: sessionUuid,
    lineId: (_, name) => idOfName(name),
    write: writeJpSession,
    takesHistory: true,
  },
  help: {
    place: "jp keeps its conversations under .jp/conversations in the project.",
    file: ".jp/conversations/17671120783/events.json",
    reads:
      "The stream of a conversation (`events.json`), with texts in either alphabet of base64 and times in either form. Its compactions become compactions, what it sets for them (profiles, hints of tools) settings of the conversation; a fork that jp made becomes a fork.",
    lost: [
      "From the file beside the stream only the title is imported, as it is at the first import: pin and labels stay there, and the settings that the conversation began with stay in their own file.",
      "An export keeps turns as they were said, under compactions of jp; where jp cannot express what a compaction does, its turns are written as the view shows them. Images and documents are only named.",
      "Conversations that jp keeps for you alone, outside the project, have to be named. jpg does not write into jp's folders, so it cannot resume there.",
    ],
    takes: { file: "events.json", by: "the events of a conversation of jp" },
  },
};
