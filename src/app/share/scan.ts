// Scans texts line by line, in pieces: a file of any size in bounded memory, and many small ones at once.
import { JpgError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import { type FoundSecret, findSecrets, withoutOverlaps } from "../../core/secrets/find-secrets.ts";
import { isDocumented } from "../../core/secrets/likely-secret.ts";
import { textOfLines } from "../../core/secrets/line-text.ts";
import { replaceSpans, sampleOf } from "../../core/secrets/mask.ts";
import type { SessionSource } from "../../formats/session-source.ts";
import { countProgress } from "../conversation/progress.ts";
import { sha256 } from "../conversation/runtime.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { findKeptFiles } from "../sessions/kept-files.ts";
import { findSessionFiles, readSessionSource, type SessionFile } from "../sessions/session-files.ts";
import { agents } from "../sessions/session-registry.ts";
import { allSideFiles } from "../sessions/side-files.ts";

/** A secret that was found, with only what may be shown of it. */
export interface SecretFinding {
  readonly rule: string;
  /** The first line that contains it, 1-based. */
  readonly line: number;
  readonly count: number;
  /** For people: how it begins, and its length. */
  readonly sample: string;
  /** Identifies the secret without showing it: the first 16 hex digits of its SHA-256. */
  readonly fingerprint: string;
}

/** `name` identifies the source in the findings. */
export interface ScannedSource<Name> {
  readonly name: Name;
  readonly lines: Pick<SessionSource, "lineCount" | "line">;
}

/** Characters scanned at once: each call of the rules has a cost. */
const PIECE_CHARACTERS = 256 * 1024;
const FINGERPRINT = 16;

/** A secret in full, for masking: never show it. */
interface SecretInSource<Name> {
  readonly in: Name;
  /** Number of the source, 0-based. */
  readonly source: number;
  /** 1-based. */
  readonly line: number;
  readonly rule: string;
  readonly secret: string;
}

/** Lists the secrets of sources, each once per source, in the order of their first places. */
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

/** Finds the secrets of sources, one by one; `thorough` = also those that overlap with others. */
export async function* findInSources<Name>(
  scanner: SecretScanner,
  sources: Iterable<ScannedSource<Name>> | AsyncIterable<ScannedSource<Name>>,
  { thorough = false }: { readonly thorough?: boolean } = {},
): AsyncGenerator<SecretInSource<Name>> {
  for await (const piece of piecesOf(sources)) {
    const { text, lineAt } = textOfLines(piece.map((line) => line.text));
    for await (const { rule, start, secret } of findInText(scanner, text, thorough ? MAX_ROUNDS : 1)) {
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
    // A find at an edge may be a part of something else.
    const isWhole = (part.start === 0 || start >= EDGE) && (part.end === text.length || placed.end <= part.end - EDGE);
    return isWhole ? [placed] : [];
  });
}

/** The parts of a text around finds, in order, to scan again: masking a find changes results only there. */
function surroundingsOf(found: readonly TextSpan[], length: number): readonly TextSpan[] {
  const parts: TextSpan[] = [];
  for (const { start, end } of found) {
    const part = { start: Math.max(0, start - CONTEXT_CHARACTERS), end: Math.min(length, end + CONTEXT_CHARACTERS) };
    const last = parts.at(-1);
    if (last !== undefined && part.start <= last.end) parts[parts.length - 1] = { start: last.start, end: part.end };
    else parts.push(part);
  }
  return parts;
}

/** Identifies a secret without showing it. */
export function fingerprintOf(secret: string): string {
  return sha256(secret).slice(0, FINGERPRINT);
}

/** How often a text is scanned again after the finds are masked. */
const MAX_ROUNDS = 5;
/** Characters around a find that are scanned again: more than any secret has. */
const CONTEXT_CHARACTERS = 32 * 1024;
/** Characters at the edge of such a part: no rule looks further. */
const EDGE = 64;
/** Replaces what was found; part of no secret. */
const FILLING = "·";

/** A part of a text, UTF-16 units, `end` exclusive. */
interface TextSpan {
  readonly start: number;
  readonly end: number;
}

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
      if (length < PIECE_CHARACTERS) continue;
      yield piece;
      piece = [];
      length = 0;
    }
    source += 1;
  }
  yield piece;
}

// Looks for secrets with jpg's own rules and those of secretlint, whose maintainers follow new kinds of secrets. Its rule that lets
// a comment switch off the others is left out: anybody may have written the text.

/** Raise it when rules find more than before: objects that were clean are then scanned again. */
export const RULES_VERSION = 8;

interface SecretScanner {
  /** Lists the secrets of a text, in order, without overlaps. */
  scan(text: string): Promise<readonly FoundSecret[]>;
}

const PREFIX = /^@secretlint\/secretlint-rule-/;
const LEFT_OUT: ReadonlySet<string> = new Set([
  "filter-comments",
  // jpg's own rule for addresses recognises local ones and placeholders for passwords.
  "basicauth",
  "database-connection-string",
]);

/** Characters from which a scan takes seconds. */
const WARN_FROM_CHARACTERS = 16 * 1024 * 1024;

/** Loads the rules: they are large, and few commands need them. Warns once if there is much to scan. */
export async function loadSecretScanner({ warn }: Pick<Workspace, "warn">): Promise<SecretScanner> {
  const [{ lintSource }, preset] = await Promise.all([
    import("@secretlint/core"),
    import("@secretlint/secretlint-rule-preset-recommend"),
  ]);
  const rules = preset.rules
    .filter(({ meta }) => !LEFT_OUT.has(meta.id.replace(PREFIX, "")))
    .map((rule) => ({ id: rule.meta.id, rule, options: {} }));
  const lint = async (text: string): Promise<readonly FoundSecret[]> => {
    const source = { content: text, filePath: "text.txt", ext: ".txt", contentType: "text" } as const;
    const { messages } = await lintSource({ source, options: { config: { rules }, noPhysicFilePath: true } });
    return messages.map(({ ruleId, range: [start, end] }) => ({ rule: ruleId.replace(PREFIX, ""), start, end }));
  };
  let scanned = 0;
  return {
    async scan(text) {
      scanned += text.length;
      if (scanned >= WARN_FROM_CHARACTERS)
        warn("More than 16 MB are scanned for secrets: this takes seconds, and longer if one line is that long.");
      const others = (await lint(text)).filter(({ start, end }) => !isDocumented(text.slice(start, end)));
      // jpg's own first: the sort is stable for finds that begin together.
      return withoutOverlaps([...findSecrets(text), ...others]);
    },
  };
}

export interface ScanReport {
  readonly files: number;
  /** The directory whose sessions were scanned; absent = files were named. */
  readonly directory?: string;
  readonly bytes: number;
  readonly secrets: readonly (SecretFinding & { readonly path: string })[];
  readonly failed: readonly { readonly path: string; readonly error: JpgError }[];
}

/**
 * Scans files and folders; none = the sessions that agents on this machine keep for this project. Writes nothing. Throws
 * `no_such_file`; `unreadable_file` for a file that was named.
 */
export async function scanSessions(
  place: Pick<Workspace, "runtime" | "location" | "warn" | "progress">,
  paths: readonly string[],
): Promise<ScanReport> {
  const { runtime } = place;
  // Sessions that may be of another project are scanned, too: a scan imports nothing.
  const { files, failed: unseen } =
    paths.length > 0
      ? await findSessionFiles(runtime, paths)
      : await findKeptFiles(place, { isClaimed: () => Promise.resolve(true) });
  const scanner = await loadSecretScanner(place);
  const failed = [...unseen];
  const secrets: ScanReport["secrets"][number][] = [];
  let [count, bytes] = [0, 0];
  for (const file of countProgress(place, "scanning files", await withSideFiles(files))) {
    count += 1;
    try {
      const source = await readSessionSource(runtime, file);
      bytes += source.byteLength;
      for (const { in: path, ...finding } of await scanSources(scanner, [
        { name: file.path, lines: plainLines(source) },
      ]))
        secrets.push({ path, ...finding });
    } catch (error) {
      if (file.named || !(error instanceof JpgError)) throw error;
      failed.push({ path: file.path, error });
    }
  }
  const directory = paths.length > 0 ? undefined : (place.location.project?.root ?? runtime.cwd);
  return { files: count, bytes, directory, secrets, failed };
}

/** The lines of a file with encoded texts decoded: a secret in base64 is a secret. */
function plainLines(source: SessionSource): ScannedSource<string>["lines"] {
  const coded = agents().find(({ plainLine, detect }) => plainLine !== undefined && detect(source));
  const { plainLine } = coded ?? {};
  return plainLine === undefined
    ? source
    : { lineCount: source.lineCount, line: (index) => plainLine(source.line(index)) };
}

/** The files, each followed by its side files. */
async function withSideFiles(files: readonly SessionFile[]): Promise<readonly SessionFile[]> {
  const all: SessionFile[] = [];
  for (const file of files) {
    all.push(file);
    for (const path of (await allSideFiles(file)).values()) all.push({ path, named: false });
  }
  return all;
}
