// `jpg trace`: who was first, in one sentence; then every place with the line that holds it.
import type { TracePlace, TraceReport } from "../../app/look/trace.ts";
import { forTerminal, forTerminalLine, joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering, Style } from "../frame/style.ts";
import { renderCount, renderRange, renderTime } from "./render-quantity.ts";

/** Renders the verdict and the places, oldest first. */
export function renderTrace(report: TraceReport, { style }: Rendering): SafeText {
  const places = report.places.flatMap((place) => ["" as const, ...renderPlace(place, style)]);
  return joinLines([style.heading(renderVerdict(report)), ...places]);
}

function renderVerdict({ verdict, places, summaries }: TraceReport): SafeText {
  const event = places.find(({ kind }) => kind === "event");
  const summary = places.find(({ kind }) => kind === "summary");
  switch (verdict) {
    case "said":
      return event === undefined ? "" : safe`Said in turn ${event.turn} ${renderSpeaker(event)}, ${before(summaries)}.`;
    case "repeated":
      return safe`Nobody said it before summary ${idOf(summary)}; ${renderRepeats(places)} it.`;
    case "summary": {
      const others = places.filter(({ kind }) => kind === "summary").length - 1;
      return others === 0
        ? safe`Only summary ${idOf(summary)} says it.`
        : safe`Only summaries say it, ${idOf(summary)} first.`;
    }
    case "view":
      return safe`Nobody said it: it is only in the view, where jpg put it.`;
    case "nowhere":
      return safe`Nobody said it, and no summary does.`;
  }
}

function before(summaries: number): SafeText {
  return summaries === 0 ? safe`and no summary was ever made` : safe`before any summary`;
}

function idOf(place: TracePlace | undefined): SafeText {
  return forTerminalLine(place?.compaction ?? "");
}

/** `turn 17 repeats`, `turn 17 and 3 more repeat`. */
function renderRepeats(places: readonly TracePlace[]): SafeText {
  const [first = 0, ...others] = new Set(places.flatMap(({ kind, turn }) => (kind === "event" ? [turn] : [])));
  return others.length === 0
    ? safe`turn ${first} repeats`
    : safe`turn ${first} and ${renderCount(others.length, "later turn")} repeat`;
}

/** `by the user`, `in a result of Read`; that it was spelt otherwise. */
function renderSpeaker({ who, match }: TracePlace): SafeText {
  const aside = match === "exact" ? "" : safe`, spelling aside`;
  const [, half, tool] = /^tool (call|result) (.*)$/s.exec(who) ?? [];
  if (tool !== undefined)
    return half === "call" ? safe`in a call of ${name(tool)}${aside}` : safe`in a result of ${name(tool)}${aside}`;
  if (who === "reasoning") return safe`in the assistant's reasoning${aside}`;
  return safe`by the ${name(who)}${aside}`;
}

function name(text: string): SafeText {
  return forTerminalLine(text);
}

function renderPlace(place: TracePlace, style: Style): SafeText[] {
  const { line, from, to, time, match, times, in_view, kind } = place;
  const notes = [
    ...(match === "exact" ? [] : [safe`spelling aside`]),
    ...(times === 1 ? [] : [safe`${times} times`]),
    ...(in_view ? [] : [safe`not in the view`]),
  ];
  const when = kind === "view" ? "" : safe`  ${style.faint(renderTime(time))}`;
  return [
    safe`  ${renderOrigin(place, style)}${when}`,
    safe`    ${forTerminal(line.slice(0, from))}${style.added(forTerminal(line.slice(from, to)))}${forTerminal(line.slice(to))}`,
    ...(notes.length === 0 ? [] : [safe`    ${style.faint(safe`(${joinSafe(notes, ", ")})`)}`]),
  ];
}

function renderOrigin({ kind, who, turn, to_turn = turn, event, compaction }: TracePlace, style: Style): SafeText {
  if (kind === "summary")
    return safe`summary ${style.id(name(compaction ?? ""))} of ${renderRange(turn, to_turn)}  ${name(who)}`;
  const id = style.id(event === undefined ? safe`${turn}` : safe`${turn}:${name(event)}`);
  return kind === "view" ? safe`${id}  ${name(who)}, in the view only` : safe`${id}  ${name(who)}`;
}
