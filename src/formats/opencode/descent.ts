// Which session began one of OpenCode: the description names it. A fork names none.
import { namedUnder, type SessionDescent } from "../session-descent.ts";
import type { SessionSource } from "../session-source.ts";
import { toUsableId } from "../usable-id.ts";
import { parseDocument } from "./session-document.ts";

/** Tells where a session comes from; null for one that began by itself. */
export function openCodeDescent(source: SessionSource): SessionDescent | null {
  const parent = namedUnder(parseDocument(source)?.info ?? {}, "parentID");
  return parent === undefined ? null : { kind: "agent", sessions: [toUsableId(parent)] };
}
