// `jpg stats`: sizes, and where the tokens are: raw against what the view still shows.
import type { SearchHit } from "../../app/look/search.ts";
import type { StatsReport } from "../../app/look/stats.ts";
import type { TracePlace, TraceReport } from "../../app/look/trace.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { appendAll } from "../../core/lists.ts";
import { forTerminal, forTerminalLine, joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import { type Cell, renderTable } from "../frame/table.ts";
import type { Rendering, Style } from "../frame/terminal.ts";
import {
  groupDigits,
  renderBytes,
  renderCommit,
  renderCount,
  renderElsewhere,
  renderFields,
  renderOverhead,
  renderRange,
  renderShare,
  renderSource,
  renderTime,
} from "./quantity.ts";

/** Renders sizes and token accounting; kinds stand in order of their raw tokens. */
export function renderStats(report: StatsReport, rendering: Rendering): SafeText {
  const { style, width } = rendering;
  const fields = renderFields(
    [
      ["Conversation", report.id],
      ["Branch", report.branch],
      ["Commit", report.revision === undefined ? null : renderCommit(report)],
      ["Turns", groupDigits(report.turns)],
      ["Events", groupDigits(report.events)],
      ["Messages", report.messages === undefined ? null : groupDigits(report.messages)],
      ["Compactions", report.compactions],
      ["Size", renderBytes(report.bytes)],
    ],
    rendering,
  );
  const isWhole = report.turns_elsewhere === undefined;
  const row = (name: string, raw: number, view: number): Cell[] => [
    name.replaceAll("_", " "),
    isWhole ? formatTokens(raw) : "?",
    formatTokens(view),
    { text: isWhole ? renderShare({ before: raw, after: view }) : "", paint: style.faint },
  ];
  const kinds = Object.entries(report.tokens.by_kind).sort(([, a], [, b]) => b.raw - a.raw);
  const header = [safe`TOKENS${renderSource(report.tokens_source)}`, "RAW", "VIEW", ""].map((text) => ({
    text,
    paint: style.faint,
  }));
  const rows = [
    header,
    ...kinds.map(([kind, { raw, view }]) => row(kind, raw, view)),
    row("total", report.tokens.raw, report.tokens.view),
  ];
  const columns = [{ shrinkTo: 8 }, { align: "right" }, { align: "right" }, { align: "right" }] as const;
  const notes = [
    renderLastRequest(report.last_request),
    renderOverhead(report.overhead_source),
    renderElsewhere(report.turns_elsewhere),
  ].flatMap((note) => (note === null ? [] : [style.faint(note)]));
  const lines: readonly SafeText[] = [...fields, "", ...renderTable(rows, { columns, width })];
  return joinLines(notes.length === 0 ? lines : [...lines, "", ...notes]);
}

/** Says what the newest request held that the view does not; null where that is nothing much. */
function renderLastRequest(request: StatsReport["last_request"]): SafeText | null {
  if (request === undefined || request.not_in_view < LEAST_UNSEEN * request.tokens) return null;
  const { tokens, not_in_view: unseen } = request;
  return safe`The last request had ${formatTokens(tokens)} tokens, as the provider counted; ${formatTokens(unseen)} of them are not in the view now.`;
}

/** Share of a request below which what is missing may as well be the error of the estimate. */
const LEAST_UNSEEN = 0.1;

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
