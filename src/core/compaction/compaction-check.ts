// What a stored compaction must look like, field by field (docs/FORMAT.md §5). Says what is wrong in words; unknown fields pass.
import { isFields } from "../event/fields.ts";

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

const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?$/;

const text = rule("a string", (value) => typeof value === "string");
const filled = rule("a non-empty string", (value) => typeof value === "string" && value !== "");
const time = rule("an RFC 3339 time in UTC", (value) => typeof value === "string" && TIME.test(value));
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
