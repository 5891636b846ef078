// Scans texts in lines, in pieces: a file of any size is scanned in bounded memory, and many small ones at once.
import { JpgError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import { type FoundSecret, findSecrets, withoutOverlaps } from "../../core/secrets/find-secrets.ts";
import { isDocumented } from "../../core/secrets/likely-secret.ts";
import { textOfLines } from "../../core/secrets/line-text.ts";
import { replaceSpans, sampleOf } from "../../core/secrets/mask.ts";
import type { SessionSource } from "../../formats/session-source.ts";
import { sha256 } from "../conversation/runtime.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { findKeptFiles } from "../sessions/kept-files.ts";
import { findSessionFiles, readSessionSource, type SessionFile } from "../sessions/session-files.ts";
import { agents } from "../sessions/session-registry.ts";
import { allSideFiles } from "../sessions/side-files.ts";

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
interface SecretInSource<Name> {
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

// Looks for secrets in a text: jpg's own rules, and those of secretlint, which knows what its maintainers follow up. Its rule that
// lets a comment switch the others off is left out: what is scanned here is what anybody may have said.

/** Raised when rules find what they did not find before: what was found clean is looked at again then. */
export const RULES_VERSION = 8;

interface SecretScanner {
  /** Lists the secrets of a text, in order, none within another. */
  scan(text: string): Promise<readonly FoundSecret[]>;
}

/** Left out of the names that are shown. */
const PREFIX = /^@secretlint\/secretlint-rule-/;
const LEFT_OUT: ReadonlySet<string> = new Set([
  "filter-comments",
  // jpg's own rule for addresses knows local ones, and stand-ins for passwords.
  "basicauth",
  "database-connection-string",
]);

/** Characters from which on a scan is felt. */
const MUCH = 16 * 1024 * 1024;

/** Loads the rules: they are much code, and few commands need them. `warn` is told, once, where there is much to scan. */
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
      if (scanned >= MUCH)
        warn(
          "More than 16 MB are looked through for secrets: this takes seconds, and longer where a line is that long.",
        );
      const others = (await lint(text)).filter(({ start, end }) => !isDocumented(text.slice(start, end)));
      // jpg's own first: of two that begin together the sort is stable.
      return withoutOverlaps([...findSecrets(text), ...others]);
    },
  };
}

/** What was scanned, and what was found. */
export interface ScanReport {
  readonly files: number;
  /** Whose sessions were looked for, a directory; absent = files were named. */
  readonly directory?: string;
  readonly bytes: number;
  /** In the order of the files. */
  readonly secrets: readonly (SecretFinding & { readonly path: string })[];
  /** Files and folders that could not be read. */
  readonly failed: readonly { readonly path: string; readonly error: JpgError }[];
}

/**
 * Scans files, and those in folders; none = those that agents on this machine keep for this project. Nothing is written. Throws
 * `no_such_file`; `unreadable_file` of a file that was named.
 */
export async function scanSessions(
  place: Pick<Workspace, "runtime" | "location" | "warn">,
  paths: readonly string[],
): Promise<ScanReport> {
  const { runtime } = place;
  // What may be of another project is scanned with the rest: looking at it takes nothing in.
  const { files, failed: unseen } =
    paths.length > 0
      ? await findSessionFiles(runtime, paths)
      : await findKeptFiles(place, { isClaimed: () => Promise.resolve(true) });
  const scanner = await loadSecretScanner(place);
  const failed = [...unseen];
  const secrets: ScanReport["secrets"][number][] = [];
  let [count, bytes] = [0, 0];
  for (const file of await withSideFiles(files)) {
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

/** The lines of a file, coded texts decoded: a secret in base64 is one all the same. */
function plainLines(source: SessionSource): ScannedSource<string>["lines"] {
  const coded = agents().find(({ plainLine, detect }) => plainLine !== undefined && detect(source));
  const { plainLine } = coded ?? {};
  return plainLine === undefined
    ? source
    : { lineCount: source.lineCount, line: (index) => plainLine(source.line(index)) };
}

/** The files, each followed by what its agent wrote beside it. */
async function withSideFiles(files: readonly SessionFile[]): Promise<readonly SessionFile[]> {
  const all: SessionFile[] = [];
  for (const file of files) {
    all.push(file);
    for (const path of (await allSideFiles(file)).values()) all.push({ path, named: false });
  }
  return all;
}
