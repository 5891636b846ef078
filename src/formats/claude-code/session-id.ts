// The id of a session: the first that its file names, so that it stays while the file grows.
import { toUsableId } from "../usable-id.ts";
import type { SessionIndex } from "./session-index.ts";

/** Gives the id of an indexed session; a file that names none is called after its first line. */
export function sessionIdOf({ sessionId, firstLine }: SessionIndex): string {
  return toUsableId(sessionId ?? `first line: ${JSON.stringify(firstLine ?? null)}`);
}
