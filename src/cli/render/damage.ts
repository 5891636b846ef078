// What `jpg resume --repair` says of a damaged session, a sentence a line.
import type { SessionDamage, UnreadableLine } from "../../app/import/damage.ts";
import { forTerminalLine, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import { renderCount } from "./quantity.ts";

/** Renders the damage; `reverts` = the commits that show unreached turns again, by compaction; null = they stay hidden. */
export function renderDamage(damage: SessionDamage, reverts: ReadonlyMap<string, string> | null): readonly SafeText[] {
  const agent = forTerminalLine(damage.agent ?? "The agent");
  const lines = damage.unreached.map(({ from_turn, to_turn, line, reason, compaction }) => {
    const turns = renderLostTurns([{ from_turn, to_turn }]);
    const where = line === undefined ? safe`a line` : safe`line ${line}`;
    const next =
      reverts === null
        ? safe`The new session leaves that out, too; with --all it has it.`
        : safe`The new session has what was lost; \`jpg revert ${forTerminalLine(reverts.get(compaction) ?? compaction)}\` hides it again.`;
    return safe`${agent} alone would lose ${turns}: ${where} ${forTerminalLine(reason)}. ${next}`;
  });
  if (damage.unreadable.length > 0) lines.push(renderUnreadable(damage.unreadable));
  if (reverts !== null && damage.abandoned > 0)
    lines.push(
      safe`${renderCount(damage.abandoned, "abandoned branch", "abandoned branches")} of the session: \`jpg import --all-branches\` has them as forks.`,
    );
  return lines;
}

/** Renders ranges of turns, e.g. `turn 4`, `turns 0–16, 20`. Turn positions, 0-based, inclusive. */
export function renderLostTurns(ranges: readonly { readonly from_turn: number; readonly to_turn: number }[]): SafeText {
  const texts = ranges.map(({ from_turn: from, to_turn: to }) => (from === to ? safe`${from}` : safe`${from}–${to}`));
  const isOne = ranges.length === 1 && ranges[0]?.from_turn === ranges[0]?.to_turn;
  return safe`${isOne ? "turn" : "turns"} ${joinSafe(texts, ", ")}`;
}

/** How many lines are named one by one. */
const NAMED_LINES = 5;

function renderUnreadable(lines: readonly UnreadableLine[]): SafeText {
  const named = lines.slice(0, NAMED_LINES).map(({ line, reason }) => safe`line ${line}: ${forTerminalLine(reason)}`);
  const more = lines.length > NAMED_LINES ? safe`; …` : "";
  return safe`${renderCount(lines.length, "line")} of the file cannot be read (${joinSafe(named, "; ")}${more}): the new session is without them, the stored original has them.`;
}
