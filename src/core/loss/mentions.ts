// Finds the facts of a ledger in the view afterwards. Words are looked up; commands, error lines and requests are looked
// for among the lines, sentences and code spans of texts, and only those whose source is gone.
import type { Event } from "../event/event.ts";
import type { ProjectedTurn } from "../projection/view.ts";
import { commandLineOf } from "./command-facts.ts";
import { textsOf } from "./event-texts.ts";
import { type Ledger, type LedgerEntry, noteMention, noteSeen, type ReadFacts } from "./ledger.ts";
import { scanPieces } from "./line-facts.ts";
import { pathEnds } from "./path-word.ts";
import { indexPathEnds, indexShas } from "./short-names.ts";

/** Marks in the ledger what the turns of the view show and mention. */
export function markShown(ledger: Ledger, turns: readonly ProjectedTurn[], read: ReadFacts): void {
  const markWords = createWordMarker(ledger, read);
  const markPieces = createPieceMarker(ledger);
  for (const { origin, events } of turns) {
    const turn = origin.kind === "kept" ? origin.turn : null;
    for (const event of events) {
      markWords(event, turn);
      markPieces(event, turn);
    }
  }
}

type Mark = (event: Event, turn: number | null) => void;

function createWordMarker(ledger: Ledger, read: ReadFacts): Mark {
  const markFile = createFileMarker(ledger);
  const markSha = createShaMarker(ledger);
  return (event, turn) => {
    const facts = read(event);
    for (const [kind, texts] of facts) markFacts(ledger.get(kind), texts, turn);
    for (const path of facts.get("files") ?? []) markFile(path, turn);
    for (const sha of facts.get("shas") ?? []) markSha(sha, turn);
  };
}

function markFacts(
  entries: ReadonlyMap<string, LedgerEntry> | undefined,
  facts: Iterable<string>,
  turn: number | null,
): void {
  if (entries === undefined) return;
  for (const text of facts) {
    const entry = entries.get(text);
    if (entry !== undefined) noteSeen(entry, turn);
  }
}

/** A shown path shows every end of it word for word; where it is itself an end, it stands for the one path that ends so. */
function createFileMarker(ledger: Ledger): (path: string, turn: number | null) => void {
  const files = ledger.get("files");
  const findFile = indexPathEnds(ledger);
  return (path, turn) => {
    noteName(findFile(path), turn);
    for (const end of pathEnds(path)) {
      const entry = files?.get(end);
      if (entry !== undefined) noteSeen(entry, turn);
    }
  };
}

function noteName(entry: LedgerEntry | undefined, turn: number | null): void {
  if (entry === undefined) return;
  entry.isByName = true;
  noteMention(entry, turn);
}

/** A longer SHA shows a shorter one word for word; a shorter one only mentions it. */
function createShaMarker(ledger: Ledger): (sha: string, turn: number | null) => void {
  const findShas = indexShas(ledger);
  return (sha, turn) => {
    for (const entry of findShas(sha)) {
      if (sha.startsWith(entry.text)) noteSeen(entry, turn);
      else noteMention(entry, turn);
    }
  };
}

function createPieceMarker(ledger: Ledger): Mark {
  const wanted = new Map<string, LedgerEntry[]>();
  const want = (piece: string, entry: LedgerEntry): void => {
    const entries = wanted.get(piece);
    if (entries === undefined) wanted.set(piece, [entry]);
    else entries.push(entry);
  };
  for (const kind of ["commands", "errors", "requests"] as const) {
    for (const entry of ledger.get(kind)?.values() ?? []) {
      if (entry.isGone) want(kind === "commands" ? commandLineOf(entry.text) : entry.text, entry);
    }
  }
  const lengths = new Set([...wanted.keys()].map((piece) => piece.length));
  return (event, turn) => {
    if (wanted.size === 0) return;
    for (const text of textsOf(event)) {
      scanPieces(text, (start, end) => {
        if (!lengths.has(end - start)) return;
        for (const entry of wanted.get(text.slice(start, end)) ?? []) notePiece(entry, turn);
      });
    }
  };
}

/** A command that is only quoted is mentioned: how it ended is not to be seen. */
function notePiece(entry: LedgerEntry, turn: number | null): void {
  if (entry.kind === "commands") noteMention(entry, turn);
  else noteSeen(entry, turn);
}
