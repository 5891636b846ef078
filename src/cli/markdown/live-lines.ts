// Lines at the end of what stands on a terminal that still change: drawn over, until they are settled. What is taller than the
// screen shows its last rows while it changes, and stands whole when it is settled.
import { stripVTControlCharacters } from "node:util";
import { joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { displayWidth } from "../frame/display-width.ts";
import type { Screen } from "../frame/screen.ts";
import { onlyColors } from "../frame/style.ts";

/** The lines. */
export interface LiveLines {
  /** Settles lines, and shows others below them, in place of those that were live. */
  show(settled: readonly SafeText[], live: readonly SafeText[]): void;
}

/** Creates it, with nothing live. */
export function createLiveLines(screen: Screen): LiveLines {
  /** What stands there; the cursor is at the end of the last. */
  let drawn: readonly SafeText[] = [];
  return {
    show(settled, live) {
      const shown = live.slice(-Math.max(1, screen.rows() - 1));
      const lines = [...settled, ...shown];
      const same = sameStart(drawn, lines);
      const [old, next] = [drawn.slice(same), lines.slice(same)];
      const isOver = shown.length === 0 && lines.length > 0;
      drawn = shown;
      if (old.length === 1 && next[0]?.startsWith(old[0] ?? "") === true)
        screen.write(safe`${onlyColors(joinLines(next).slice(old[0]?.length))}${isOver ? "\n" : ""}`);
      else {
        if (old.length > 0) screen.draw(erasing(old, screen.columns()));
        screen.write(safe`${joinLines(next)}${isOver ? "\n" : ""}`);
      }
    },
  };
}

/** Counts the lines that stand as they are to stand; the cursor, in the last one drawn, must not be above them. */
function sameStart(drawn: readonly SafeText[], lines: readonly SafeText[]): number {
  const most = Math.min(drawn.length, lines.length) - 1;
  let same = 0;
  while (same < most && drawn[same] === lines[same]) same++;
  return same;
}

/**
 * Erases the last lines, which a terminal that became narrower has folded. Row by row: what is erased from the top of the screen
 * to its end, tmux keeps in its history.
 */
function erasing(lines: readonly SafeText[], columns: number): string {
  const rows = lines.reduce((sum, line) => {
    const width = displayWidth(stripVTControlCharacters(line));
    return sum + 1 + Math.floor(Math.max(0, width - 1) / Math.max(1, columns));
  }, 0);
  return `${"\u001b[2K\u001b[A".repeat(rows - 1)}\r\u001b[2K`;
}
