// One compaction as one line of JSON. Known fields are checked strictly, because people edit these files by hand and a wrong
// value changes what a model sees; unknown fields are kept.
import { asSentence, JpgError, repositoryError, userError } from "../errors.ts";
import { isTooDeep, MAX_RECORD_DEPTH } from "../json.ts";
import type { Compaction } from "./compaction.ts";
import { CONTENT_TYPES } from "./contents/content-types.ts";
import { fieldsOf } from "./event.ts";
import { fieldsLike, is, listOf, oneOfWords, type RecordRule } from "./record-rules.ts";

/** Most spaces before a key: git counts similarity in 64-byte chunks, so any shift below 64 differs. */
const MAX_PADDING = 63;

/**
 * Parses the text of a compaction file: one line of JSON, spaces between the keys ignored. Throws `malformed_compaction` (kind
 * `repository`) naming the file, the field, what was expected and received; throws `newer_record` when `needs` names something
 * that this version does not know.
 */
export function parseCompactionLine(text: string, file: string): Compaction {
  const value = parseLine(text, (reason, cause) => malformedCompaction(file, reason, cause));
  const need = firstNeed(value);
  if (need !== null) {
    throw repositoryError("newer_record", `${file} needs \`${need}\`, which this jpg does not know.`, {
      hints: ["Update jpg: a newer version wrote this compaction."],
      data: { file, need },
    });
  }
  const problem = checkCompaction(value);
  if (problem !== null) throw malformedCompaction(file, problem);
  return value as Compaction;
}

/** Values of `needs` that this version understands. */
const KNOWN_NEEDS: readonly unknown[] = [
  "index",
  "heads",
  "stub_text",
  ...CONTENT_TYPES.flatMap(({ content, isNeeded }) => (isNeeded === true ? [content] : [])),
];

/** The first value of `needs` that this version does not know; null when there is none. */
function firstNeed(value: unknown): string | null {
  const { needs } = fieldsOf(value);
  const unknown = Array.isArray(needs) ? needs.filter((need) => !KNOWN_NEEDS.includes(need)) : [];
  return unknown.length > 0 ? String(unknown[0]) : null;
}

/**
 * Parses the text of a config or meta file: one line, an object with a `type`, an `id` and a `timestamp`, unknown fields kept.
 * Throws `malformed_record` (kind `repository`).
 */
export function parseRecordLine(text: string, file: string): Readonly<Record<string, unknown>> {
  const fail = (reason: string, cause?: unknown): JpgError =>
    repositoryError("malformed_record", `${file} is not a record: ${asSentence(reason)}`, {
      data: { file, reason },
      cause,
    });
  const value = parseLine(text, fail);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw fail("expected a JSON object");
  const record: Readonly<Record<string, unknown>> = { ...value };
  const missing = FIRST.find((name) => typeof record[name] !== "string" || record[name] === "");
  if (missing !== undefined) throw fail(`"${missing}" is missing or not a string`);
  return record;
}

function parseLine(text: string, fail: (reason: string, cause?: unknown) => JpgError): unknown {
  const body = text.replace(/\r?\n$/, "");
  if (body.trim() === "") throw fail("the file is empty");
  if (/[\r\n]/.test(body)) throw fail("expected one line, found several");
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (cause) {
    throw fail("not valid JSON", cause);
  }
  if (isTooDeep(body, value, MAX_RECORD_DEPTH)) throw fail(`nested deeper than ${MAX_RECORD_DEPTH} levels`);
  return value;
}

/**
 * Formats a compaction as one line without a line end, type, id and timestamp first. `padding` gives the number of spaces
 * (0..63) before each top-level key, key i taking `padding[i % length]`: random padding keeps git's rename detection from
 * pairing two records. Throws `bad_padding`.
 */
export function formatCompactionLine(compaction: Compaction, padding: readonly number[]): string {
  return formatRecordLine(compaction as unknown as Readonly<Record<string, unknown>>, padding);
}

/** Formats any record of one line (a config delta, a meta entry) as compactions are formatted. Throws `bad_padding`. */
export function formatRecordLine(record: Readonly<Record<string, unknown>>, padding: readonly number[]): string {
  const bad = padding.find((count) => !Number.isInteger(count) || count < 0 || count > MAX_PADDING);
  if (bad !== undefined) {
    throw new JpgError(
      "internal",
      "bad_padding",
      `A padding of ${bad} spaces is not possible: expected whole numbers from 0 to ${MAX_PADDING}.`,
    );
  }
  const own = Object.keys(record).filter((key) => !FIRST.includes(key));
  const parts: string[] = [];
  for (const key of [...FIRST, ...own]) {
    const json = Object.hasOwn(record, key) ? JSON.stringify(record[key]) : undefined;
    if (json === undefined) continue;
    const spaces = " ".repeat(padding[parts.length % Math.max(1, padding.length)] ?? 0);
    parts.push(`${spaces}${JSON.stringify(key)}:${json}`);
  }
  return `{${parts.join(",")}}`;
}

const FIRST: readonly string[] = ["type", "id", "timestamp"];

const TIME = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|\+00:00)$/;
const SAFE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Names the file of a record in `compactions/`, `config/` or `meta/`: `20261121T203000.123Z-k3f9q2.jsonl`, so that names sort
 * by time (UTC, milliseconds, further digits cut). Throws `bad_record_name` for a time or id that cannot be part of it.
 */
export function compactionFileName(timestamp: string, id: string): string {
  const match = TIME.exec(timestamp);
  if (match === null || !SAFE_ID.test(id)) {
    throw userError(
      "bad_record_name",
      `No file can be named after "${timestamp}" and "${id}": expected an RFC 3339 time in UTC and 1 to 64 of \`A-Z a-z 0-9 _ -\`.`,
    );
  }
  const [, year, month, day, hour, minute, second, fraction = ""] = match;
  const millis = fraction.slice(0, 3).padEnd(3, "0");
  return `${year}${month}${day}T${hour}${minute}${second}.${millis}Z-${id}.jsonl`;
}

/** Returns the path of a record in the tree, e.g. `config/20261121T203000.123Z-p81xz0.jsonl`. Throws `bad_record_name`. */
export function recordPath(folder: "compactions" | "config" | "meta", timestamp: string, id: string): string {
  return `${folder}/${compactionFileName(timestamp, id)}`;
}

function malformedCompaction(file: string, reason: string, cause?: unknown): JpgError {
  return repositoryError("malformed_compaction", `${file} is not a compaction: ${asSentence(reason)}`, {
    data: { file, reason },
    hints: [
      `To see what changed it: git log -p -- ${file}`,
      `To take the file back as it was: git restore --source=COMMIT -- ${file}`,
    ],
    cause,
  });
}

// The form of a stored compaction, field by field (docs/FORMAT.md §5). Unknown fields pass.

/** Checks a parsed compaction. Returns null when every known field is well formed, else the field, what was expected and found. */
export function checkCompaction(value: unknown): string | null {
  const problem = compaction(value);
  if (problem === null) return null;
  return problem.path.length === 0 ? problem.reason : `"${problem.path.join(".")}": ${problem.reason}`;
}

const summary = fieldsLike(
  { summary: is.text },
  {
    source: oneOfWords("generated", "authored", "extractive", "imported"),
    inject: oneOfWords("pair", "request", "system"),
    model: is.text,
    prompt_sha256: is.text,
    files: listOf(is.text),
    open_tasks: listOf(is.text),
    usage: fieldsLike({
      calls: is.whole,
      input: is.whole,
      cache_read: is.whole,
      cache_write: is.whole,
      output: is.whole,
    }),
    price_usd: is.price,
    parts: is.whole,
    shortened: fieldsLike({ texts: is.whole, chars: is.whole }),
  },
);

const stats = fieldsLike(
  {},
  {
    original_message_count: is.amount,
    keep_recent: is.amount,
    kept_turns: is.amount,
    compression_ratio: is.amount,
    events_removed: is.amount,
    tokens: fieldsLike({ before: is.amount, after: is.amount }),
    turns_omitted: listOf(fieldsLike({ from: is.position, to: is.position })),
  },
);

const compaction: RecordRule = fieldsLike(
  { type: oneOfWords("compaction"), id: is.filled, timestamp: is.time, from_turn: is.position, to_turn: is.position },
  {
    from_event: is.filled,
    to_event: is.filled,
    keep: listOf(is.filled),
    summary,
    replacement: listOf(fieldsLike({ type: is.filled })),
    turns: oneOfWords("omit"),
    ...Object.assign({}, ...CONTENT_TYPES.map(({ fields }) => fields)),
    receipt: fieldsLike({ facts: is.object, mentioned_later: listOf(is.object) }),
    index: fieldsLike({ text: is.filled, entries: is.whole }),
    needs: listOf(is.filled),
    covers: is.text,
    basis: listOf(is.filled),
    group: is.filled,
    profile: is.text,
    source: oneOfWords("manual", "auto", "agent", "import"),
    strategy: listOf(is.text),
    reason: is.text,
    stats,
    metadata: is.object,
  },
);
