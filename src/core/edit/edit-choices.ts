// A plan held against what there is: a line for every item, once, in order, with a verb that it can have.
import type { EditItem } from "./edit-item.ts";
import type { EditPlan, PlanLine, PlanProblem } from "./edit-plan.ts";
import type { EditVerb } from "./edit-verb.ts";

/** What is to become of an item, and the line that says so. */
export interface EditChoice {
  readonly item: EditItem;
  readonly verb: EditVerb;
  /** From 1; 0 = written nowhere. */
  readonly line: number;
}

export interface CheckedPlan {
  readonly choices: readonly EditChoice[];
  readonly problems: readonly PlanProblem[];
}

/** Checks the lines of a plan against the items it was made of; choices are whole only where there is no problem. */
export function checkPlan({ lines }: EditPlan, items: readonly EditItem[]): CheckedPlan {
  const positions = new Map(items.map(({ place }, at) => [place, at] as const));
  const found = new Map<string, PlanLine>();
  const problems: PlanProblem[] = [];
  const choices: EditChoice[] = [];
  let latest = -1;
  for (const written of lines) {
    const { place, verb, line = 0 } = written;
    const at = positions.get(place);
    const item = at === undefined ? undefined : items[at];
    const wrong = (message: string | null): void => {
      if (message !== null) problems.push({ line, message });
    };
    if (at === undefined || item === undefined) {
      wrong(`there is no ${place} in this plan`);
      continue;
    }
    const earlier = found.get(place);
    if (earlier !== undefined) {
      wrong(`${place} already has a line, line ${earlier.line ?? 0}`);
      continue;
    }
    found.set(place, written);
    wrong(at < latest ? `${place} comes after ${items[latest]?.place}: lines keep their order` : null);
    wrong(refuses(item, verb));
    latest = Math.max(latest, at);
    choices.push({ item, verb, line });
  }
  return { choices, problems: [...problems, ...missing(items, found, lines)].sort((a, b) => a.line - b.line) };
}

/** Every item without a line, told where the next one stands, else at the last line. */
function missing(
  items: readonly EditItem[],
  found: ReadonlyMap<string, PlanLine>,
  lines: readonly PlanLine[],
): readonly PlanProblem[] {
  const problems: PlanProblem[] = [];
  let line = lines.at(-1)?.line ?? 1;
  for (const { place } of items.toReversed()) {
    const own = found.get(place);
    if (own !== undefined) line = own.line ?? line;
    else
      problems.push({
        line,
        message: `${place} has no line: write \`keep ${place}\`, or \`omit ${place}\` to leave it out`,
      });
  }
  return problems.reverse();
}

/** Why an item cannot have a verb; null when it can. */
function refuses({ kind, place, verb: now }: EditItem, verb: EditVerb): string | null {
  if (kind !== "summary" || verb === now) return null;
  if (verb === "omit" || verb === "summarise") return null;
  return `${place} is a summary: it can be kept, omitted or summarised again`;
}
