// The session that one was split off, as its header says: by the path of its file, whose name ends with its id.
import { namedUnder, type SessionDescent } from "../session-descent.ts";
import type { SessionSource } from "../session-source.ts";
import { toUsableId } from "../usable-id.ts";
import { isHeader, parseSessionLine } from "./line.ts";

/** `<time>_<session>.jsonl`, below folders of any system. */
const FILE = /(?:^|[/\\])[^/\\_]*_([^/\\]+)\.jsonl$/;

/** Where a session comes from; null for one that began by itself. Never throws. */
export function piDescent(source: SessionSource): SessionDescent | null {
  const header = source.lineCount === 0 ? null : parseSessionLine(source.line(0));
  if (header === null || typeof header === "string" || !isHeader(header)) return null;
  const session = FILE.exec(namedUnder(header, "parentSession") ?? "")?.[1];
  return session === undefined ? null : { kind: "fork", sessions: [toUsableId(session)] };
}
