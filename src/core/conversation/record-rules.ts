// Rules for the form of stored records. They can be combined; each says in words what is wrong, or returns null.
import { isFields } from "./event.ts";

interface Problem {
  /** Keys and indexes from the top to the wrong value. */
  readonly path: readonly string[];
  readonly reason: string;
}

/** Returns what is wrong with a value; null when nothing is. */
export type RecordRule = (value: unknown) => Problem | null;

/** Creates a rule for one value; `what` completes "expected …". */
function rule(what: string, accepts: (value: unknown) => boolean): RecordRule {
  return (value) => (accepts(value) ? null : { path: [], reason: `expected ${what}, found ${shown(value)}` });
}

const RECORD_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?$/;

export const is: Readonly<
  Record<
    "text" | "filled" | "time" | "flag" | "position" | "positive" | "whole" | "price" | "amount" | "share" | "object",
    RecordRule
  >
> = {
  text: rule("a string", (value) => typeof value === "string"),
  filled: rule("a non-empty string", (value) => typeof value === "string" && value !== ""),
  time: rule("an RFC 3339 time in UTC", (value) => typeof value === "string" && RECORD_TIME.test(value)),
  flag: rule("true or false", (value) => typeof value === "boolean"),
  position: rule("a turn position (whole number, 0 or more)", (value) => isWhole(value, 0)),
  positive: rule("a whole number above 0", (value) => isWhole(value, 1)),
  whole: rule("a whole number, 0 or more", (value) => isWhole(value, 0)),
  price: rule("a number, 0 or more", (value) => typeof value === "number" && value >= 0),
  amount: rule("a number", (value) => typeof value === "number"),
  share: rule("a share from 0 to 1", (value) => typeof value === "number" && value >= 0 && value <= 1),
  object: rule("an object", isFields),
};

export function oneOfWords(...values: readonly string[]): RecordRule {
  const names = values.map((value) => `"${value}"`).join(" or ");
  return rule(names, (value) => typeof value === "string" && values.includes(value));
}

export function listOf(item: RecordRule): RecordRule {
  return (value) => {
    if (!Array.isArray(value)) return { path: [], reason: `expected a list, found ${shown(value)}` };
    return firstProblem(Object.entries(value), () => item);
  };
}

/** An object with these fields, and any others. */
export function fieldsLike(
  required: Readonly<Record<string, RecordRule>>,
  optional: Readonly<Record<string, RecordRule>> = {},
): RecordRule {
  const rules = { ...required, ...optional };
  return (value) => {
    if (!isFields(value)) return is.object(value);
    const missing = Object.keys(required).find((name) => !Object.hasOwn(value, name) || value[name] === undefined);
    if (missing !== undefined) return { path: [missing], reason: "missing" };
    return firstProblem(Object.entries(value), (name) => (Object.hasOwn(rules, name) ? rules[name] : undefined));
  };
}

export function mapOf(item: RecordRule): RecordRule {
  return (value) => (isFields(value) ? firstProblem(Object.entries(value), () => item) : is.object(value));
}

function firstProblem(
  entries: readonly (readonly [string, unknown])[],
  ruleOf: (name: string) => RecordRule | undefined,
): Problem | null {
  for (const [name, entry] of entries) {
    // JSON leaves out undefined fields.
    const problem = entry === undefined ? null : (ruleOf(name)?.(entry) ?? null);
    if (problem !== null) return { path: [name, ...problem.path], reason: problem.reason };
  }
  return null;
}

/** Checks a value by the rule of its `policy`. */
export function byPolicy(rules: Readonly<Record<string, RecordRule>>): RecordRule {
  return (value) => {
    const known = fieldsLike({ policy: oneOfWords(...Object.keys(rules)) })(value);
    return known ?? rules[(value as { readonly policy: string }).policy]?.(value) ?? null;
  };
}

/** How much of a wrong value an error shows, characters. */
const SHOWN_LENGTH = 40;

function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? "nothing";
  return json.length > SHOWN_LENGTH ? `${json.slice(0, SHOWN_LENGTH)}…` : json;
}

function isWhole(value: unknown, least: number): boolean {
  return Number.isSafeInteger(value) && Number(value) >= least;
}
