// What tells a full directory of turns from every other one, wherever it stands: caches keep under it what follows from its turns.
import { TURNS_PER_DIRECTORY } from "../../core/conversation/turn-file.ts";
import { sha256 } from "../workspace/object-id.ts";

/** One id for each full directory of a branch's turns, by its number. */
export function directoryIds(turnOids: readonly string[]): readonly string[] {
  const count = Math.floor(turnOids.length / TURNS_PER_DIRECTORY);
  return Array.from({ length: count }, (_, directory) => {
    const from = directory * TURNS_PER_DIRECTORY;
    return sha256(turnOids.slice(from, from + TURNS_PER_DIRECTORY).join(""));
  });
}
