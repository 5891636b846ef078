// Scans files of lines, in pieces, so that a file of any size is scanned in bounded memory and a small one at once.

import { textOfLines } from "../../core/secrets/line-text.ts";
import { sampleOf } from "../../core/secrets/mask.ts";
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

/** Characters scanned at once: enough that rules are not started too often. */
const PIECE = 256 * 1024;
const FINGERPRINT = 16;

/** Lists the secrets of a file, each once, in the order in which they first stand there. */
export async function scanSource(
  scanner: SecretScanner,
  source: Pick<SessionSource, "lineCount" | "line">,
): Promise<readonly SecretFinding[]> {
  const found = new Map<string, SecretFinding>();
  for (const { first, lines } of piecesOf(source)) {
    const { text, lineAt } = textOfLines(lines);
    for (const { rule, start, end } of await scanner.scan(text)) {
      const secret = text.slice(start, end);
      const fingerprint = sha256(secret).slice(0, FINGERPRINT);
      const known = found.get(fingerprint);
      const fresh = { rule, line: first + lineAt(start) + 1, count: 0, sample: sampleOf(secret), fingerprint };
      found.set(fingerprint, { ...(known ?? fresh), count: (known?.count ?? 0) + 1 });
    }
  }
  return [...found.values()];
}

function* piecesOf({ lineCount, line }: Pick<SessionSource, "lineCount" | "line">): Generator<{
  readonly first: number;
  readonly lines: readonly string[];
}> {
  let lines: string[] = [];
  let length = 0;
  for (let at = 0; at < lineCount; at += 1) {
    const text = line(at);
    lines.push(text);
    length += text.length;
    if (length < PIECE) continue;
    yield { first: at + 1 - lines.length, lines };
    lines = [];
    length = 0;
  }
  yield { first: lineCount - lines.length, lines };
}
