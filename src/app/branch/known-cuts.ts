// Digests of turns that a compaction's bound cuts inside, remembered below the git dir in one small file a turn, so that
// checking `covers` reads no turn twice. May be deleted at any time; what it says counts only where it makes `covers` match.
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { replaceFile } from "../../store/files/replace-file.ts";

/** The bound events inside one turn, as a compaction names them. */
export interface CutBounds {
  readonly fromEvent: string | undefined;
  readonly toEvent: string | undefined;
}

export interface KnownCuts {
  /** What is remembered of a turn file, by its object id; null when nothing is. */
  find(turnOid: string, bounds: CutBounds): string | null;
  /** Remembers the object id of the turn up to the cut, or `<id before>..<id up to>`. */
  add(turnOid: string, bounds: CutBounds, cut: string): void;
  /** Writes what was added; without effect where nothing can be written. */
  save(): Promise<void>;
}

const FOLDER = "jpg-cuts";
const CUT = /^[0-9a-f]{40}(\.\.[0-9a-f]{40})?$/;

/** Opens what is remembered below a git dir; a turn's file is read when it is asked for. */
export function openKnownCuts(gitDir: string): KnownCuts {
  const added = new Map<string, Record<string, string>>();
  const pathOf = (turnOid: string): string => join(gitDir, FOLDER, `${turnOid}.json`);
  return {
    find(turnOid, bounds) {
      const cut = readCuts(pathOf(turnOid))[keyOf(bounds)];
      return cut !== undefined && CUT.test(cut) ? cut : null;
    },
    add(turnOid, bounds, cut) {
      added.set(turnOid, { ...added.get(turnOid), [keyOf(bounds)]: cut });
    },
    async save() {
      for (const [turnOid, cuts] of added) {
        added.delete(turnOid);
        const path = pathOf(turnOid);
        await writeCuts(path, { ...readCuts(path), ...cuts });
      }
    },
  };
}

function readCuts(path: string): Readonly<Record<string, string>> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    const entries = Object.entries(value as Record<string, unknown>);
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  } catch {
    return {}; // never written, or damaged: the turn is read
  }
}

async function writeCuts(path: string, cuts: Readonly<Record<string, string>>): Promise<void> {
  try {
    // Not recursive: a store without a git dir on disk has nowhere to remember.
    await mkdir(dirname(path), { recursive: false }).catch(() => undefined);
    await replaceFile(path, JSON.stringify(cuts));
  } catch {
    // A store that may only be read reads its cut turns each time.
  }
}

function keyOf({ fromEvent, toEvent }: CutBounds): string {
  return JSON.stringify([fromEvent ?? null, toEvent ?? null]);
}
