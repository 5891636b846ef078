// `jpg search`: under each branch the events that were found, each with the line that holds the match.
import type { SearchHit } from "../../app/look/search.ts";
import { appendAll } from "../../core/lists.ts";
import { forTerminal, forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering, Style } from "../frame/style.ts";

/** Renders hits, in the order given; a heading wherever the branch changes. */
export function renderSearch(hits: readonly SearchHit[], { style }: Rendering): SafeText {
  const lines: SafeText[] = [];
  let branch: string | null = null;
  for (const hit of hits) {
    if (hit.branch !== branch) {
      if (branch !== null) lines.push("");
      branch = hit.branch;
      lines.push(style.heading(forTerminalLine(branch)));
    }
    appendAll(lines, renderHit(hit, style));
  }
  return joinLines(lines);
}

function renderHit(hit: SearchHit, style: Style): SafeText[] {
  const { turn, event, type, state, compaction, alike, line, from, to } = hit;
  const how = state === "shown" ? "" : style.caution(safe`  ${state} by ${forTerminalLine(compaction ?? "")}`);
  // The line holds no line end; its blanks stay, for they stand between the pieces.
  return [
    safe`  ${style.id(safe`${turn}:${forTerminalLine(event)}`)}  ${style.faint(forTerminalLine(type))}${how}`,
    safe`    ${forTerminal(line.slice(0, from))}${style.added(forTerminal(line.slice(from, to)))}${forTerminal(line.slice(to))}`,
    ...(alike === undefined ? [] : [style.faint(safe`    and ${alike} more with the same lines`)]),
  ];
}
