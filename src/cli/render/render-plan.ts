// A plan as it is edited: a line for each part of the view with what helps to decide, and below it what can be said.
import type { PlanOffer } from "../../app/compact/edit-plan.ts";
import { EDIT_VERBS, type EditItem, printPlan } from "../../core/compact/edit-plan.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { forLine, forTerminalLine } from "../../core/safe-text.ts";
import { fitWidth } from "../frame/display-width.ts";
import { renderAge } from "./render-quantity.ts";

/** Columns of a plan that no terminal limits. */
export const PLAN_COLUMNS = 80;
/** Least columns for the first words. */
const LEAST_WORDS = 16;
/** Columns of the longest verb. */
const VERB_COLUMNS = 9;

/** How a plan is laid out. */
export interface PlanLayout {
  readonly columns: number;
  readonly now: Date;
}

/** Renders the text of a plan; `notes` = comments in front of the help, anybody's text. */
export function renderPlan(offer: PlanOffer, { columns, now }: PlanLayout, notes: readonly string[] = []): string {
  const { base, items, verbs } = offer;
  const whole = offer.windowTokens ?? offer.size.tokens;
  const facts = items.map((item) => [formatTokens(item.tokens), shareOf(item, whole), ageOf(item, now)] as const);
  const widths = [0, 1, 2].map((column) => longest(facts.map((row) => row[column] ?? "")));
  const places = longest(items.map(({ place }) => place));
  const widest = longest(items.map((item) => verbs.get(item.place) ?? item.verb));
  const used = widest + 1 + places + 2 + widths.reduce((sum, width) => sum + width + 1, 0) + 1;
  const room = Math.max(LEAST_WORDS, columns - used);
  const lines = items.map((item, at) => {
    const numbers = (facts[at] ?? []).map((fact, column) => fact.padStart(widths[column] ?? 0)).join(" ");
    const words = fitWidth(forTerminalLine(item.words), room);
    return { verb: verbs.get(item.place) ?? item.verb, place: item.place, about: `${numbers}  ${words}` };
  });
  return printPlan({ base, lines }, [...notes.map((note) => forLine(note)), ...helpOf(offer)]);
}

function longest(words: readonly string[]): number {
  return words.reduce((most, word) => Math.max(most, word.length), 0);
}

function shareOf({ tokens }: EditItem, whole: number): string {
  const percent = whole === 0 ? 0 : (100 * tokens) / whole;
  return percent > 0 && percent < 1 ? "<1%" : `${Math.round(percent)}%`;
}

function ageOf({ time }: EditItem, now: Date): string {
  return time === "" || Number.isNaN(Date.parse(time)) ? "-" : renderAge(time, now);
}

function helpOf({ base, size, overhead, windowTokens, items }: PlanOffer): readonly string[] {
  const verbs = Object.entries(EDIT_VERBS).map(
    ([verb, { letter, does }]) => `${letter}, ${verb.padEnd(VERB_COLUMNS)} ${does}`,
  );
  const front = overhead === 0 ? "" : `, ${formatTokens(overhead)} of them in front of it`;
  const window = windowTokens === null ? "" : ` of a window of ${formatTokens(windowTokens)}`;
  const share = windowTokens === null ? "view" : "window";
  return [
    `${items.length} ${items.length === 1 ? "line" : "lines"}, ${formatTokens(size.tokens)} tokens${window}${front}`,
    `a line: verb, turn${base.calls ? " or call" : ""}, tokens, share of the ${share}, age, first words`,
    "",
    ...verbs,
    "",
    "Only verb and turn are read. Keep every line, in this order.",
    "Nothing that was said is lost: all of it is one commit, which `jpg undo`",
    "undoes. A plan that is empty or unchanged does nothing.",
  ];
}
