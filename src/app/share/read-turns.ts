// What the scan for secrets reads of turns is checked in passing, so that what leaves for the first time is read once.

import { checkTurnFile } from "../../core/conversation/conversation-check.ts";
import { turnIndexOfPath } from "../../core/conversation/turn-file.ts";
import { decodeLines } from "../branch/turn-bytes.ts";
import { type SoundTurn, soundTurn } from "../integrity/sound-files.ts";
import type { ContentReader } from "./scan-outgoing.ts";

/** Turns that were read. */
export interface ReadTurns {
  readonly read: ContentReader;
  /** Those that are sound by themselves, by object id. */
  readonly sound: ReadonlyMap<string, SoundTurn>;
}

/** Begins with none. */
export function createReadTurns(): ReadTurns {
  const sound = new Map<string, SoundTurn>();
  return {
    sound,
    read({ kind, oid, path }, bytes) {
      if (kind !== "blob" || turnIndexOfPath(path) === null) return;
      const turn = soundTurn(checkTurnFile(decodeLines(bytes), path));
      if (turn !== null) sound.set(oid, turn);
    },
  };
}
