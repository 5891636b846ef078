// What an edited plan did: the timeline of a compaction, and the pins.

import type { EditReport, PlanOffer } from "../../app/compact/edit-plan.ts";
import { boundOf } from "../../app/conversation/marks.ts";
import type { Pin } from "../../core/conversation/marks.ts";
import { forTerminal, forTerminalLine, joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering } from "../frame/style.ts";
import { documentOf } from "./compact-document.ts";
import { shortCommit } from "./render-quantity.ts";
import { renderTimeline } from "./render-timeline.ts";

/** Whether a plan came to nothing. */
export function isIdle({ compaction, pinned, unpinned }: EditReport): boolean {
  return compaction === null && pinned.length + unpinned.length === 0;
}

/** Renders the outcome of `edit`. */
export function renderEdit(report: EditReport, rendering: Rendering): SafeText {
  const { style } = rendering;
  if (isIdle(report)) {
    const notes = report.warnings.map((note) => safe`${style.caution(safe`note:`)} ${forTerminal(note)}`);
    return joinLines([safe`Nothing to do: ${forTerminal(report.reason ?? "")}.`, ...notes]);
  }
  const pins = pinLines(report);
  if (report.compaction !== null)
    return joinLines([renderTimeline(report, rendering), ...(pins.length === 0 ? [] : ["" as const, ...pins])]);
  if (report.commit === null) return joinLines(pins);
  const back = safe`\`jpg pin TURN --remove\` takes a pin back, \`jpg pin TURN\` sets it again`;
  return joinLines([...pins, style.commit(safe`commit ${shortCommit(report.commit)}`), style.faint(back)]);
}

function pinLines({ pinned, unpinned, dryRun }: EditReport): readonly SafeText[] {
  const list = (pins: readonly Pin[]): SafeText =>
    joinSafe(
      pins.map((pin) => forTerminalLine(boundOf(pin))),
      ", ",
    );
  return [
    ...(pinned.length === 0 ? [] : [safe`${dryRun ? safe`Would pin` : safe`Pinned`} ${list(pinned)}`]),
    ...(unpinned.length === 0 ? [] : [safe`${dryRun ? safe`Would unpin` : safe`Unpinned`} ${list(unpinned)}`]),
  ];
}

/** The JSON document of a plan: its lines as values, and its text. */
export function planDocument(
  { base, items, verbs, size, overhead, windowTokens, lost }: PlanOffer,
  plan: string,
): object {
  return {
    ...base,
    tokens: size.tokens,
    tokens_source: size.source,
    overhead,
    window_tokens: windowTokens,
    lines: items.map(({ place, kind, verb, tokens, time, words }) => ({
      verb: verbs.get(place) ?? verb,
      place,
      kind,
      tokens: Math.round(tokens),
      time,
      words,
    })),
    lost,
    plan,
  };
}

/** The JSON document of `edit`: that of `compact`, with all compactions and pins. */
export function editDocument(report: EditReport): object {
  const { compactions, ...rest } = report;
  return { ...documentOf(rest), compactions: compactions.map(({ id }) => id), events: compactions };
}
