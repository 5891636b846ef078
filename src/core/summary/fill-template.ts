// Fills the named holes of a template, `{{name}}`. Invariant: nothing is left unfilled and nothing handed in goes unused; what
// is filled in is not looked at again, so that a text of a conversation can hold holes without harm.
import { JpgError } from "../errors.ts";

const HOLE = /\{\{([a-z_]+)\}\}/g;

/**
 * Fills a template. A hole that is a line of its own takes its line, and an empty line after it, away when it is filled with
 * nothing. Throws `bad_template` (kind `internal`) for a hole without a value and a value without a hole.
 */
export function fillTemplate(name: string, template: string, values: Readonly<Record<string, string>>): string {
  const holes = new Set([...template.matchAll(HOLE)].map(([, hole]) => hole ?? ""));
  const unfilled = [...holes].filter((hole) => !Object.hasOwn(values, hole));
  const unknown = Object.keys(values).filter((value) => !holes.has(value));
  if (unfilled.length > 0 || unknown.length > 0) throw badTemplate(name, unfilled, unknown);
  return template
    .replace(/^\{\{([a-z_]+)\}\}\n(\n?)/gm, (line, hole: string) => (values[hole] === "" ? "" : line))
    .replace(HOLE, (_, hole: string) => values[hole] ?? "")
    .trimEnd();
}

function badTemplate(name: string, unfilled: readonly string[], unknown: readonly string[]): JpgError {
  const problems = [
    ...unfilled.map((hole) => `nothing is given for {{${hole}}}`),
    ...unknown.map((value) => `it has no hole {{${value}}}`),
  ];
  return new JpgError("internal", "bad_template", `The template ${name} cannot be filled: ${problems.join(", ")}.`);
}
