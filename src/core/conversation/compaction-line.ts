// One compaction as one line of JSON. What is known is checked strictly, for people edit these files by hand and a wrong
// value would change what a model sees; unknown fields are kept.
import { asSentence, JpgError, repositoryError, userError } from "../errors.ts";
import { isTooDeep, MAX_RECORD_DEPTH } from "../json.ts";
import type { Compaction } from "./compaction.ts";
import { fieldsOf, isFields } from "./event.ts";

/** Most spaces before a key: 64-byte chunks are what git counts similarity in, so any shift below 64 differs. */
const MAX_PADDING = 63;

/**
 * Parses the text of a compaction file: one line of JSON, spaces between the keys ignored.
 * Throws `malformed_compaction` (kind `repository`) naming the file, the field, what was expected and received, and
 * `newer_record` when a reader must know something that is not known here.
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

/** What a record may say that its reader must know. */
const KNOWN_NEEDS: readonly unknown[] = ["index", "heads"];

/** The first thing that a reader must know and that is not known here. */
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
 * (0..63) before each top-level key, key i taking `padding[i % length]`: random padding keeps git's rename detection
 * from pairing two records. Throws `bad_padding`.
 */
export function formatCompactionLine(compaction: Compaction, padding: readonly number[]): string {
  return formatRecordLine(compaction as unknown as Readonly<Record<string, unknown>>, padding);
}

/** Formats any record of one line (a config delta, a meta entry) the way compactions are. Throws `bad_padding`. */
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
 * Names the file of a record: `20261121T203000.123Z-k3f9q2.jsonl`, so that names sort by time (UTC, milliseconds, further
 * digits cut). The same for `compactions/`, `config/` and `meta/`. Throws `bad_record_name` for a time or id that cannot be part of it.
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

/** Gives the path of a record in the tree, e.g. `config/20261121T203000.123Z-p81xz0.jsonl`. Throws `bad_record_name`. */
export function recordPath(folder: "compactions" | "config" | "meta", timestamp: string, id: string): string {
  return `${folder}/${compactionFileName(timestamp, id)}`;
}

/** Creates the error of a compaction file that cannot be read. */
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

// What a stored compaction must look like, field by field (docs/FORMAT.md §5). Says what is wrong in words; unknown fields pass.

interface Problem {
  /** Keys and indexes from the top to the wrong value. */
  readonly path: readonly string[];
  readonly reason: string;
}

type Rule = (value: unknown) => Problem | null;

/** Checks a parsed compaction. Gives null when every known field is well formed, else the field, what was expected and found. */
export function checkCompaction(value: unknown): string | null {
  const problem = compaction(value);
  if (problem === null) return null;
  return problem.path.length === 0 ? problem.reason : `"${problem.path.join(".")}": ${problem.reason}`;
}

function rule(what: string, accepts: (value: unknown) => boolean): Rule {
  return (value) => (accepts(value) ? null : { path: [], reason: `expected ${what}, found ${shown(value)}` });
}

const RECORD_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?$/;

const text = rule("a string", (value) => typeof value === "string");
const filled = rule("a non-empty string", (value) => typeof value === "string" && value !== "");
const time = rule("an RFC 3339 time in UTC", (value) => typeof value === "string" && RECORD_TIME.test(value));
const flag = rule("true or false", (value) => typeof value === "boolean");
const position = rule("a turn position (whole number, 0 or more)", (value) => isWhole(value, 0));
const positive = rule("a whole number above 0", (value) => isWhole(value, 1));
const whole = rule("a whole number, 0 or more", (value) => isWhole(value, 0));
const price = rule("a number, 0 or more", (value) => typeof value === "number" && value >= 0);
const amount = rule("a number", (value) => typeof value === "number");
const share = rule("a share from 0 to 1", (value) => typeof value === "number" && value >= 0 && value <= 1);
const object = rule("an object", isFields);

function oneOf(...values: readonly string[]): Rule {
  const names = values.map((value) => `"${value}"`).join(" or ");
  return rule(names, (value) => typeof value === "string" && values.includes(value));
}

function list(item: Rule): Rule {
  return (value) => {
    if (!Array.isArray(value)) return { path: [], reason: `expected a list, found ${shown(value)}` };
    return firstProblem(Object.entries(value), () => item);
  };
}

function record(required: Readonly<Record<string, Rule>>, optional: Readonly<Record<string, Rule>> = {}): Rule {
  const rules = { ...required, ...optional };
  return (value) => {
    if (!isFields(value)) return object(value);
    const missing = Object.keys(required).find((name) => !Object.hasOwn(value, name));
    if (missing !== undefined) return { path: [missing], reason: "missing" };
    return firstProblem(Object.entries(value), (name) => (Object.hasOwn(rules, name) ? rules[name] : undefined));
  };
}

function mapOf(item: Rule): Rule {
  return (value) => (isFields(value) ? firstProblem(Object.entries(value), () => item) : object(value));
}

function firstProblem(
  entries: readonly (readonly [string, unknown])[],
  ruleOf: (name: string) => Rule | undefined,
): Problem | null {
  for (const [name, entry] of entries) {
    const problem = ruleOf(name)?.(entry) ?? null;
    if (problem !== null) return { path: [name, ...problem.path], reason: problem.reason };
  }
  return null;
}

/** Chooses the rule by the value's `policy`. */
function byPolicy(rules: Readonly<Record<string, Rule>>): Rule {
  return (value) => {
    const known = record({ policy: oneOf(...Object.keys(rules)) })(value);
    return known ?? rules[(value as { readonly policy: string }).policy]?.(value) ?? null;
  };
}

const truncation = record({ max_chars: positive }, { head: share });
const callPolicy: Rule = (value) => {
  if (!isFields(value)) return oneOf("keep", "strip", "omit")(value);
  return "drop" in value
    ? record({ drop: record({ max_chars: positive }) })(value)
    : record({ truncate: truncation })(value);
};

const uniform: Readonly<Record<string, Rule>> = {
  strip: record({ request: flag, response: flag }),
  truncate: truncation,
  omit: record({}),
};
const selective = record(
  { calls: list(record({ event: filled }, { request: callPolicy, response: callPolicy })) },
  { else: byPolicy(uniform) },
);

const toolPolicy: Rule = byPolicy({ ...uniform, selective });
const hint = record({}, { request: oneOf("keep", "strip"), response: oneOf("keep", "strip") });

const summary = record(
  { summary: text },
  {
    source: oneOf("generated", "authored", "extractive", "imported"),
    inject: oneOf("pair", "request", "system"),
    model: text,
    prompt_sha256: text,
    files: list(text),
    open_tasks: list(text),
    usage: record({ calls: whole, input: whole, cache_read: whole, cache_write: whole, output: whole }),
    price_usd: price,
    parts: whole,
    shortened: record({ texts: whole, chars: whole }),
  },
);

const stats = record(
  {},
  {
    original_message_count: amount,
    keep_recent: amount,
    kept_turns: amount,
    compression_ratio: amount,
    events_removed: amount,
    tokens: record({ before: amount, after: amount }),
    turns_omitted: list(record({ from: position, to: position })),
  },
);

const compaction: Rule = record(
  { type: oneOf("compaction"), id: filled, timestamp: time, from_turn: position, to_turn: position },
  {
    from_event: filled,
    to_event: filled,
    keep: list(filled),
    summary,
    replacement: list(record({ type: filled })),
    turns: oneOf("omit"),
    reasoning: oneOf("strip"),
    tool_calls: toolPolicy,
    tool_overrides: mapOf(hint),
    attachments: oneOf("strip"),
    stubs: record({}, { pointers: flag, first_line: flag, heads: flag }),
    receipt: record({ facts: object, mentioned_later: list(object) }),
    tools: record({ policy: oneOf("prune"), names: list(text) }, { tokens: whole }),
    index: record({ text: filled, entries: whole }),
    needs: list(filled),
    covers: text,
    basis: list(filled),
    group: filled,
    profile: text,
    source: oneOf("manual", "auto", "agent", "import"),
    strategy: list(text),
    reason: text,
    stats,
    metadata: object,
  },
);

/** How much of a wrong value an error shows, characters. */
const SHOWN_LENGTH = 40;

function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? "nothing";
  return json.length > SHOWN_LENGTH ? `${json.slice(0, SHOWN_LENGTH)}…` : json;
}

function isWhole(value: unknown, least: number): boolean {
  return Number.isSafeInteger(value) && Number(value) >= least;
}
