// Ids of sessions as they can stand in names.
import { deriveName } from "./derived-name.ts";

/** It names a folder of the tree: no name that means another folder, or something to git. */
const USABLE_ID = /^(?!\.+$|\.git)[A-Za-z0-9._-]{1,128}$/i;

/** Gives an id that can stand in names: the id itself, else a name derived from it. */
export function toUsableId(id: string): string {
  return USABLE_ID.test(id) ? id : `session-${deriveName(id)}`;
}
