// Quantities as people read them: tokens, bytes, counts, times, and abbreviated commits. No program parses these texts.
import type { FactSource, SourcesReport, SummarySources } from "../../app/look/summary-sources.ts";
import { abbreviateCommit, abbreviateId } from "../../core/conversation/name.ts";
import { formatBytes, formatTokens } from "../../core/conversation/token-estimate.ts";
import type { OverheadSource, TokenSource } from "../../core/model/token-meter.ts";
import {
  decimal,
  forTerminal,
  forTerminalLine,
  joinLines,
  joinSafe,
  linesForTerminal,
  type SafeText,
  safe,
} from "../../core/safe-text.ts";
import { type Cell, renderTable } from "../frame/table.ts";
import type { Rendering } from "../frame/terminal.ts";
import { wrapProse } from "../frame/wrap.ts";

/** Renders a count with its noun, e.g. `1 turn`, `12 turns`, `1,204 lines`. */
export function renderCount(count: number, noun: string, plural: string = `${noun}s`): SafeText {
  return safe`${groupDigits(count)} ${forTerminal(count === 1 ? noun : plural)}`;
}

/** Renders how many findings there are of each severity, e.g. `2 errors, 1 warning`; empty if there are none. */
export function renderSeverities(findings: readonly { readonly severity: "error" | "warning" }[]): SafeText {
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const warnings = findings.length - errors;
  return joinSafe(
    [
      ...(errors === 0 ? [] : [renderCount(errors, "error")]),
      ...(warnings === 0 ? [] : [renderCount(warnings, "warning")]),
    ],
    ", ",
  );
}

/** Renders a number with thousands separators, e.g. `1,204`. */
export function groupDigits(value: number): SafeText {
  return forTerminal(String(value).replace(/\B(?=(\d{3})+$)/g, ","));
}

/** Renders bytes, e.g. `812 B`, `4.1 kB`. */
export function renderBytes(bytes: number): SafeText {
  return formatBytes(bytes);
}

export interface BeforeAfter {
  readonly before: number;
  readonly after: number;
}

/** Renders a change of tokens, e.g. `84.2k → 9.1k`, or one number when nothing changes. */
export function renderTokens({ before, after }: BeforeAfter): SafeText {
  return before === after ? formatTokens(before) : safe`${formatTokens(before)} → ${formatTokens(after)}`;
}

/** Renders raw tokens and those of a view, without turns that a partial clone lacks. */
export function renderRawAndView(
  { raw, view }: { readonly raw: number; readonly view: number },
  elsewhere: number | undefined,
): SafeText {
  return elsewhere === undefined ? renderTokens({ before: raw, after: view }) : safe`? → ${formatTokens(view)}`;
}

/** Says what counts leave out in a partial clone; null if nothing. */
export function renderElsewhere(turns: number | undefined): SafeText | null {
  if (turns === undefined) return null;
  const are = turns === 1 ? safe`is` : safe`are`;
  return safe`${renderCount(turns, "turn")} of this partial clone ${are} not here and not counted`;
}

/** Renders the suffix that says who counted tokens, e.g. ` (estimate)`; empty if unknown. */
export function renderSource(source: TokenSource | undefined): SafeText {
  return source === undefined ? "" : safe` (${source})`;
}

/** Says what sizes leave out or estimate; null if all is recorded. */
export function renderOverhead(source: OverheadSource | undefined): SafeText | null {
  if (source === "unknown") return safe`without system prompt and tools, whose size is not recorded`;
  if (source !== "typical") return null;
  return safe`system prompt and tools are typical for this agent: its own are not recorded`;
}

/** Renders the relative change, e.g. `-89%`; empty if there is nothing to compare or nothing changed. */
export function renderShare({ before, after }: BeforeAfter): SafeText {
  if (before === 0 || before === after) return "";
  const percent = ((after - before) / before) * 100;
  const size = Math.abs(percent);
  const rounded = size < 1 || (size > 99 && size < 100) ? decimal(size, 1) : Math.round(size);
  return safe`${percent < 0 ? "-" : "+"}${rounded}%`;
}

/** Renders a turn range, e.g. `0..12` or `5`. Turn positions, 0-based, inclusive. */
export function renderRange(from: number, to: number): SafeText {
  return from === to ? safe`${from}` : safe`${from}..${to}`;
}

/** Renders an RFC 3339 time as `2026-11-21 20:30` in the zone of this machine; returns anything else unchanged. */
export function renderTime(timestamp: string): SafeText {
  const time = new Date(timestamp);
  if (Number.isNaN(time.getTime())) return forTerminalLine(timestamp);
  const two = (value: number): SafeText => forTerminal(String(value).padStart(2, "0"));
  const day = safe`${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return safe`${day} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

const AGES: readonly { readonly seconds: number; readonly unit: string }[] = [
  { seconds: 31_536_000, unit: "y" },
  { seconds: 2_592_000, unit: "mo" },
  { seconds: 604_800, unit: "w" },
  { seconds: 86_400, unit: "d" },
  { seconds: 3600, unit: "h" },
  { seconds: 60, unit: "m" },
];

/** Renders how long ago a time was, e.g. `2h`, `3mo`; the future and the last minute are `now`, a session without times has `-`. */
export function renderAge(timestamp: string, now: Date): string {
  const time = Date.parse(timestamp);
  // Formats date what has no time so.
  if (time === 0) return "-";
  const passed = (now.getTime() - time) / 1000;
  if (Number.isNaN(passed)) return timestamp;
  for (const { seconds, unit } of AGES) if (passed >= seconds) return `${Math.floor(passed / seconds)}${unit}`;
  return "now";
}

/** Renders the first characters of a commit's id, as git abbreviates it. */
export function shortCommit(commit: string): SafeText {
  return forTerminalLine(abbreviateCommit(commit, 7));
}

/** Renders an absolute path, with `~` for the home folder. */
export function renderPath(path: string, home: string): SafeText {
  return forTerminalLine(path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path);
}

/** Renders an id of a compaction, event or session in tables and prose, abbreviated: a command takes it like the whole one. */
export function renderId(id: string): SafeText {
  return forTerminalLine(abbreviateId(id));
}

/** Renders a commit, and the revision that named it unless it is the tip: `4f2e… (main~2)`. */
export function renderCommit({ commit, revision }: { readonly commit?: string; readonly revision?: string }): SafeText {
  const name = forTerminalLine(commit ?? "");
  return revision === undefined ? name : safe`${name} (${forTerminalLine(revision)})`;
}

/** Indents the lines of a text. */
export function indentText(text: string): SafeText[] {
  return linesForTerminal(text).map((line) => (line === "" ? "" : safe`    ${line}`));
}

/** A name and its value; null, undefined and empty values are left out. */
export type Field = readonly [name: string, value: string | number | null | undefined];

/** Lays out fields with their values in one column, in which long values are wrapped. */
export function renderFields(fields: readonly Field[], { style, width: columns }: Rendering): SafeText[] {
  const shown = fields.filter(([, value]) => value !== null && value !== undefined && value !== "");
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  const below = forTerminal(" ".repeat(width + 1));
  return shown.flatMap(([name, value]) =>
    wrapProse(forTerminalLine(String(value)), columns - width - 2).map(
      (row, at) => safe`${at === 0 ? style.faint(forTerminal(`${name}:`.padEnd(width + 1))) : below} ${row}`,
    ),
  );
}

/** Renders the facts of summaries. */
export function renderSources({ summaries }: SourcesReport, rendering: Rendering): SafeText {
  return joinLines(
    summaries.flatMap((one, at) => [...(at === 0 ? [] : ["" as const]), ...renderSummary(one, rendering)]),
  );
}

function renderSummary({ compaction, from_turn, to_turn, facts }: SummarySources, rendering: Rendering): SafeText[] {
  const { style } = rendering;
  const unsaid = facts.filter(({ places }) => places.length === 0);
  const said = facts.filter(({ places }) => places.length > 0);
  const many = unsaid.length === 0 ? safe`all of them said` : safe`${unsaid.length} that nobody said`;
  const title = safe`summary ${style.id(forTerminalLine(compaction))} of ${renderRange(from_turn, to_turn)}`;
  const counted = facts.length === 0 ? safe`no facts to look up` : safe`${renderCount(facts.length, "fact")}, ${many}`;
  return [
    safe`${title}: ${counted}`,
    ...section(safe`Nobody said:`, unsaid, rendering),
    ...section(safe`First said:`, said, rendering),
  ];
}

function section(heading: SafeText, facts: readonly FactSource[], { style, width }: Rendering): SafeText[] {
  if (facts.length === 0) return [];
  const rows = facts.map(({ kind, text, places: [first] }): Cell[] => [
    { text: kind, paint: style.faint },
    text,
    first === undefined ? "" : `turn ${first.turn}`,
    first === undefined ? "" : first.who,
  ]);
  const columns = [{}, { shrinkTo: 12 }, {}, { shrinkTo: 9 }];
  return ["", style.heading(heading), ...renderTable(rows, { columns, width, indent: "  " })];
}
