// Names what the model no longer knows after a compaction: the facts that one view shows and the other does not, in the order in which a
// person wants them. A receipt only counts them.
import type { Compaction, FactKind } from "../conversation/compaction.ts";
import type { View } from "../conversation/event.ts";
import { type TracedFact, traceFacts } from "./receipt.ts";

/** Kinds of facts, in the order in which they matter to a person: what can be looked up or run again before single words. */
const BY_MATTER: readonly FactKind[] = [
  "pins",
  "files",
  "commands",
  "errors",
  "requests",
  "urls",
  "issues",
  "shas",
  "identifiers",
  "numbers",
];

/** The facts of one kind that are in no event of the view afterwards, nor in the text of its summary. */
export interface LostFacts {
  readonly kind: FactKind;
  /** Each once, those that matter most first; never empty. */
  readonly facts: readonly string[];
  /** How many of them a later turn still mentions. */
  readonly mentioned: number;
}

/** Lists the facts that a group of compactions hides, by kind; kinds that lose nothing are absent. The views are those without and with it. */
export function lostFacts(
  before: View,
  after: View,
  group: readonly Pick<Compaction, "summary" | "from_turn" | "to_turn">[],
): readonly LostFacts[] {
  const texts = group.flatMap(({ summary }) => summary?.summary ?? []);
  const summary = texts.length === 0 ? undefined : texts.join("\n\n");
  const isCovered = (turn: number): boolean =>
    group.some(({ from_turn: from, to_turn: to }) => from <= turn && turn <= to);
  const raw = before.turns.flatMap(({ origin, events }) =>
    origin.kind === "kept" && isCovered(origin.turn) ? events : [],
  );
  const lost = traceFacts({ raw, before, after, summary }).filter(
    ({ fate }) => fate === "hidden" || fate === "pointer",
  );
  return BY_MATTER.flatMap((kind) => {
    const own = byUse(lost.filter((fact) => fact.kind === kind));
    if (own.length === 0) return [];
    const mentioned = own.filter(({ mentionedIn }) => mentionedIn !== null).length;
    return [{ kind, facts: own.map(({ text }) => text), mentioned }];
  });
}

/** Sorts facts: those that later turns still mention, then those that nothing replaces; among these what was shown most often. */
export function byUse<Fact extends Pick<TracedFact, "mentionedIn" | "fate" | "times">>(
  facts: readonly Fact[],
): readonly Fact[] {
  const rank = ({ mentionedIn, fate }: Fact): number =>
    mentionedIn !== null ? 0 : ["hidden", "pointer", "summary"].indexOf(fate) + 1;
  return facts.toSorted((a, b) => rank(a) - rank(b) || b.times - a.times);
}
