// Reads objects from git's files, packs first, without starting git. Answers only what it is sure of: returns null, so that git
// is asked, for what is missing, large, damaged, replaced or in an unknown form.
import { constants } from "node:buffer";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { readOwnFile } from "../files.ts";
import { LARGEST_READ, openPack, type PackFile, type RawObject } from "./pack-file.ts";

export interface ObjectFiles {
  /** The object of this id (40 hex digits), or null when git must be asked. With `atLeast`, its bytes may end after so many. */
  read(oid: string, atLeast?: number): RawObject | null;
  /** The size of this object in bytes, or null when git must be asked. */
  size(oid: string): number | null;
  /** Which of these ids no pack and no loose file here has, whatever their content. */
  missing(oids: readonly string[]): readonly string[];
  /** Closes the packs; the next read opens them again. */
  close(): void;
}

/** Creates a reader over a git dir's own objects, of up to `largest` bytes; opens nothing before the first read. */
export function createObjectFiles(
  gitDir: string,
  { largest = LARGEST_READ }: { readonly largest?: number } = {},
): ObjectFiles {
  const folder = join(gitDir, "objects");
  let packs: Map<string, PackFile> | null = null;
  let isPlain: boolean | null = null;
  const mayRead = (): boolean => (isPlain ??= !hasReplacements(gitDir));
  const opened = (): Map<string, PackFile> => {
    if (packs !== null) return packs;
    packs = new Map();
    openPacks(folder, packs, largest);
    return packs;
  };
  return {
    missing(oids) {
      const all = opened();
      const isMissing = (oid: string): boolean =>
        ![...all.values()].some((pack) => pack.has(oid)) && !existsSync(loosePath(folder, oid));
      const found = oids.filter(isMissing);
      return found.length > 0 && openPacks(folder, all, largest) ? found.filter(isMissing) : found;
    },
    size(oid) {
      if (!mayRead()) return null;
      const packed = firstOf(opened(), (pack) => pack.size(oid));
      return packed ?? readLoose(folder, oid, largest)?.bytes.length ?? null;
    },
    read(oid, atLeast) {
      if (!mayRead()) return null;
      const packs = opened();
      const found = readPacked(packs, oid, atLeast) ?? readLoose(folder, oid, largest);
      return found ?? (openPacks(folder, packs, largest) ? readPacked(packs, oid, atLeast) : null);
    },
    close() {
      for (const pack of packs?.values() ?? []) pack.close();
      packs = null;
      isPlain = null;
    },
  };
}

/** Whether `git replace` was ever used, which substitutes objects. Does not look into refs that are not files. */
function hasReplacements(gitDir: string): boolean {
  if (existsSync(join(gitDir, "refs/replace")) || existsSync(join(gitDir, "reftable"))) return true;
  try {
    return readOwnFile(join(gitDir, "packed-refs"), { followLink: true }).toString("latin1").includes(" refs/replace/");
  } catch {
    return false;
  }
}

/** Opens the packs that are not open yet; returns whether there were any. */
function openPacks(folder: string, packs: Map<string, PackFile>, largest: number): boolean {
  const before = packs.size;
  for (const name of listFolder(join(folder, "pack"))) {
    if (!name.endsWith(".idx") || packs.has(name)) continue;
    try {
      packs.set(name, openPack(join(folder, "pack", name), largest));
    } catch {
      // Repacked in this moment, or a form that only git knows.
    }
  }
  return packs.size > before;
}

function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readPacked(packs: ReadonlyMap<string, PackFile>, oid: string, atLeast: number | undefined): RawObject | null {
  return firstOf(packs, (pack) => pack.read(oid, atLeast));
}

/** The first answer of a pack. */
function firstOf<T>(packs: ReadonlyMap<string, PackFile>, ask: (pack: PackFile) => T | null): T | null {
  for (const pack of packs.values()) {
    try {
      const found = ask(pack);
      if (found !== null) return found;
    } catch {
      // Damaged or too large here; another pack, or git, may have it.
    }
  }
  return null;
}

function loosePath(folder: string, oid: string): string {
  return join(folder, oid.slice(0, 2), oid.slice(2));
}

function readLoose(folder: string, oid: string, largest: number): RawObject | null {
  const path = loosePath(folder, oid);
  if (!existsSync(path)) return null;
  try {
    const maxOutputLength = Math.min(largest, constants.MAX_LENGTH);
    const bytes = inflateSync(readOwnFile(path, { followLink: true }), { maxOutputLength });
    const end = bytes.indexOf(0);
    const [, type = "", size = ""] = /^([a-z]+) (\d+)$/.exec(bytes.toString("latin1", 0, end)) ?? [];
    const content = bytes.subarray(end + 1);
    return type !== "" && content.length === Number(size) ? { type, bytes: content } : null;
  } catch {
    return null;
  }
}
