// A session as OpenCode before 1.2 kept it: a small file for its description, one for each message, one for each part. They make the
// document that `opencode export` prints, each file's text in it as it is, so that nothing else need know of them.
import { isRecord, parseJsonLine } from "../json-line.ts";
import type { FolderReader, ScatteredFile } from "../several-files.ts";

/** Where the files of a session are. */
interface Places {
  /** The folder of the messages. */
  readonly messages: string;
  /** The folder of a message's parts. */
  readonly parts: (message: string) => string;
}

const DESCRIPTION = /^(.*[\\/]storage)[\\/]session[\\/]([^\\/]+)[\\/](ses_[^\\/]+)\.json$/;
const JSON_NAME = /^(.+)\.json$/;

/** Lists the files of a session: its description, and each message followed by its parts. Null for any other path. */
export function listScattered({ join, namesIn }: FolderReader, path: string): string[] | null {
  const places = placesOf(join, path);
  if (places === null) return null;
  const messages = jsonNames(namesIn, places.messages);
  return [
    path,
    ...messages.flatMap((message) => {
      const folder = places.parts(message);
      return [
        join(places.messages, `${message}.json`),
        ...jsonNames(namesIn, folder).map((part) => join(folder, `${part}.json`)),
      ];
    }),
  ];
}

/** Projects once had folders of their own, in which the names of the others were. */
function placesOf(join: FolderReader["join"], path: string): Places | null {
  const [, storage = "", project = "", session = ""] = DESCRIPTION.exec(path) ?? [];
  if (session === "") return null;
  if (project !== "info")
    return { messages: join(storage, "message", session), parts: (message) => join(storage, "part", message) };
  const folder = join(storage, "session");
  return {
    messages: join(folder, "message", session),
    parts: (message) => join(folder, "part", session, message),
  };
}

function jsonNames(namesIn: FolderReader["namesIn"], folder: string): readonly string[] {
  return namesIn(folder).flatMap((name) => JSON_NAME.exec(name)?.[1] ?? []);
}

/** Joins them, in the order in which they are listed. What is no JSON stands at the end, as text; what is gone is left out. */
export function joinScattered([description, ...others]: readonly ScatteredFile[]): string {
  const whole = withoutMark(description?.text ?? "");
  const value = parseJsonLine(whole);
  // A document that was exported to such a place is no description.
  if (!isRecord(value) || Array.isArray(value["messages"])) return whole;
  const unread: ScatteredFile[] = [];
  const messages: { info: string; readonly parts: string[] }[] = [];
  for (const file of others) {
    const isMessage = MESSAGE.test(file.path);
    if (isMessage) messages.push({ info: "null", parts: [] });
    const message = messages.at(-1);
    if (file.text === null || message === undefined) continue;
    if (!isRecord(parseJsonLine(file.text))) unread.push(file);
    else if (isMessage) message.info = withoutMark(file.text);
    else message.parts.push(withoutMark(file.text));
  }
  const written = messages.map(({ info, parts }) => `{"info":${info},"parts":[${parts.join(",")}]}`);
  const rest = unread.length === 0 ? "" : `,"unread":${JSON.stringify(unread)}`;
  return `{"info":${whole},"messages":[${written.join(",\n")}]${rest}}\n`;
}

/** In a folder `message`: above it a session's. */
const MESSAGE = /(?:^|\/)message\/[^/]+\/[^/]+$/;

/** A byte order mark stands before a text, never in one. */
function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, "");
}
