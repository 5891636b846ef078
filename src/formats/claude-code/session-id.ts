// The id of a session: the first that its file names, so that it stays while the file grows.
import { deriveName } from "./derived-name.ts";
import type { SessionIndex } from "./session-index.ts";

/** It names a folder of the tree: no name that means another folder, or something to git. */
const USABLE_ID = /^(?!\.+$|\.git)[A-Za-z0-9._-]{1,128}$/i;

/** Gives the id of an indexed session; a file that names none is called after its first line. */
export function sessionIdOf({ sessionId, firstLine }: SessionIndex): string {
  return toUsableId(sessionId ?? `first line: ${JSON.stringify(firstLine ?? null)}`);
}

/** Gives an id that can stand in names: the id itself, else a name derived from it. */
export function toUsableId(id: string): string {
  return USABLE_ID.test(id) ? id : `session-${deriveName(id)}`;
}
