// Scans texts in lines, in pieces: a file of any size is scanned in bounded memory, and many small ones at once.
import { appendAll } from "../../core/lists.ts";
import type { FoundSecret } from "../../core/secrets/find-secrets.ts";
import { textOfLines } from "../../core/secrets/line-text.ts";
import { replaceSpans, sampleOf } from "../../core/secrets/mask.ts";
import type { SessionSource } from "../../formats/session-source.ts";
import { sha256 } from "../workspace/object-id.ts";
import type { SecretScanner } from "./secret-scanner.ts";

/** A secret that was found. Nothing of it is in here but what may be shown. */
export interface SecretFinding {
  /** Its kind. */
  readonly rule: string;
  /** The first line that has it, 1-based. */
  readonly line: number;
  /** How many times it was found. */
  readonly count: number;
  /** For people: its mark and its length. */
  readonly sample: string;
  /** Tells it again without showing it: the first 16 hex digits of its SHA-256. */
  readonly fingerprint: string;
}

/** What is scanned; `name` says in the findings which of several it was. */
export interface ScannedSource<Name> {
  readonly name: Name;
  readonly lines: Pick<SessionSource, "lineCount" | "line">;
}

/** Characters scanned at once: enough that rules are not started too often. */
const PIECE = 256 * 1024;
const FINGERPRINT = 16;

/** A secret as it stands somewhere: for what takes it out, and for nothing that is shown. */
export interface SecretInSource<Name> {
  readonly in: Name;
  /** Number of the source, 0-based. */
  readonly source: number;
  /** 1-based. */
  readonly line: number;
  readonly rule: string;
  readonly secret: string;
}

/** Lists the secrets of sources, each once a source, in the order in which they first stand there. */
export async function scanSources<Name>(
  scanner: SecretScanner,
  sources: Iterable<ScannedSource<Name>> | AsyncIterable<ScannedSource<Name>>,
): Promise<readonly (SecretFinding & { readonly in: Name })[]> {
  const found = new Map<string, SecretFinding & { readonly in: Name }>();
  for await (const { in: name, source, line, rule, secret } of findInSources(scanner, sources)) {
    const fingerprint = fingerprintOf(secret);
    const key = `${source} ${fingerprint}`;
    const known = found.get(key);
    const fresh = { in: name, rule, line, count: 0, sample: sampleOf(secret), fingerprint };
    found.set(key, { ...(known ?? fresh), count: (known?.count ?? 0) + 1 });
  }
  return [...found.values()];
}

/** Finds the secrets of sources, one by one; `thorough` = those, too, that overlap with others. */
export async function* findInSources<Name>(
  scanner: SecretScanner,
  sources: Iterable<ScannedSource<Name>> | AsyncIterable<ScannedSource<Name>>,
  { thorough = false }: { readonly thorough?: boolean } = {},
): AsyncGenerator<SecretInSource<Name>> {
  for await (const piece of piecesOf(sources)) {
    const { text, lineAt } = textOfLines(piece.map((line) => line.text));
    for await (const { rule, start, secret } of findInText(scanner, text, thorough ? MOST_ROUNDS : 1)) {
      const place = piece[lineAt(start)];
      if (place !== undefined) yield { in: place.name, source: place.source, line: place.line, rule, secret };
    }
  }
}

async function* findInText(
  scanner: SecretScanner,
  text: string,
  rounds: number,
): AsyncGenerator<{ readonly rule: string; readonly start: number; readonly secret: string }> {
  let left = text;
  let parts: readonly TextSpan[] = [{ start: 0, end: text.length }];
  for (let round = 0; round < rounds && parts.length > 0; round++) {
    const found: FoundSecret[] = [];
    for (const part of parts) appendAll(found, await scanPart(scanner, left, part));
    for (const { rule, start, end } of found) yield { rule, start, secret: left.slice(start, end) };
    const gaps = found.map(({ start, end }) => ({ start, end, mask: FILLING.repeat(end - start) }));
    left = replaceSpans(left, gaps);
    parts = surroundingsOf(found, text.length);
  }
}

async function scanPart(scanner: SecretScanner, text: string, part: TextSpan): Promise<readonly FoundSecret[]> {
  const found = await scanner.scan(text.slice(part.start, part.end));
  return found.flatMap(({ rule, start, end }) => {
    const placed = { rule, start: start + part.start, end: end + part.start };
    // What touches an edge may be a part of something else.
    const isWhole = (part.start === 0 || start >= EDGE) && (part.end === text.length || placed.end <= part.end - EDGE);
    return isWhole ? [placed] : [];
  });
}

/** What stands around finds, in order: what is changed there changes no find elsewhere. */
function surroundingsOf(found: readonly TextSpan[], length: number): readonly TextSpan[] {
  const parts: TextSpan[] = [];
  for (const { start, end } of found) {
    const part = { start: Math.max(0, start - AROUND), end: Math.min(length, end + AROUND) };
    const last = parts.at(-1);
    if (last !== undefined && part.start <= last.end) parts[parts.length - 1] = { start: last.start, end: part.end };
    else parts.push(part);
  }
  return parts;
}

/** Tells a secret again without showing it. */
export function fingerprintOf(secret: string): string {
  return sha256(secret).slice(0, FINGERPRINT);
}

/** How often a text is looked at again without what was found in it. */
const MOST_ROUNDS = 5;
/** Characters around a find that are looked at again: more than any secret has. */
const AROUND = 32 * 1024;
/** Characters at the edge of such a part: what no rule looks beyond. */
const EDGE = 64;
/** In the place of what was found: a part of no secret. */
const FILLING = "·";

/** A part of a text, UTF-16 units, `end` exclusive. */
interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/** A line and where it is from. */
interface PlacedLine<Name> {
  readonly text: string;
  readonly name: Name;
  /** Number of the source, 0-based. */
  readonly source: number;
  /** 1-based. */
  readonly line: number;
}

async function* piecesOf<Name>(
  sources: Iterable<ScannedSource<Name>> | AsyncIterable<ScannedSource<Name>>,
): AsyncGenerator<readonly PlacedLine<Name>[]> {
  let piece: PlacedLine<Name>[] = [];
  let length = 0;
  let source = 0;
  for await (const { name, lines } of sources) {
    for (let at = 0; at < lines.lineCount; at += 1) {
      const text = lines.line(at);
      piece.push({ text, name, source, line: at + 1 });
      length += text.length;
      if (length < PIECE) continue;
      yield piece;
      piece = [];
      length = 0;
    }
    source += 1;
  }
  yield piece;
}
