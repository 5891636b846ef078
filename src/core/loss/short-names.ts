// Shorter names that stand for facts of a ledger: the ends of a path, and the first digits of a SHA.
import type { Ledger, LedgerEntry } from "./ledger.ts";
import { pathEnds } from "./path-word.ts";

/** Fewest digits by which a SHA is known. */
const FEWEST_DIGITS = 7;
/** Most SHAs with the same first digits that are told apart. */
const MOST_ALIKE = 8;

/** Gives the one file whose path ends in a name at a segment; undefined when none does, or more than one. */
export type FindFile = (name: string) => LedgerEntry | undefined;

/** Indexes the files of a ledger by the ends of their paths. */
export function indexPathEnds(ledger: Ledger): FindFile {
  const ends = new Map<string, LedgerEntry | null>();
  for (const entry of ledger.get("files")?.values() ?? []) {
    for (const end of pathEnds(entry.text)) ends.set(end, ends.has(end) ? null : entry);
  }
  return (name) => ends.get(name) ?? undefined;
}

/** Gives the SHAs of the ledger that begin as this one does, or the other way round. */
export type FindShas = (sha: string) => readonly LedgerEntry[];

/** Indexes the SHAs of a ledger by their first digits. */
export function indexShas(ledger: Ledger): FindShas {
  const alike = new Map<string, LedgerEntry[]>();
  for (const entry of ledger.get("shas")?.values() ?? []) {
    const first = entry.text.slice(0, FEWEST_DIGITS);
    const entries = alike.get(first);
    if (entries === undefined) alike.set(first, [entry]);
    else if (entries.length < MOST_ALIKE) entries.push(entry);
  }
  return (sha) =>
    (alike.get(sha.slice(0, FEWEST_DIGITS)) ?? []).filter(({ text }) => text.startsWith(sha) || sha.startsWith(text));
}
