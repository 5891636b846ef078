// Quantities as people read them: tokens, bytes, counts, times; and the commit that they were counted at. Nothing here is read back by a program.
import { abbreviateCommit } from "../../core/conversation/name.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import type { OverheadSource, TokenSource } from "../../core/model/token-meter.ts";
import { decimal, forTerminal, forTerminalLine, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";

/** Renders a count with its noun, e.g. `1 turn`, `12 turns`, `1,204 lines`. */
export function renderCount(count: number, noun: string, plural: string = `${noun}s`): SafeText {
  return safe`${groupDigits(count)} ${forTerminal(count === 1 ? noun : plural)}`;
}

/** Renders how many findings there are of each severity, e.g. `2 errors, 1 warning`; empty when there is none. */
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

/** Renders a number with its thousands apart. */
export function groupDigits(value: number): SafeText {
  return forTerminal(String(value).replace(/\B(?=(\d{3})+$)/g, ","));
}

/** Renders bytes in powers of 1000, e.g. `812 B`, `4.1 kB`. */
export function renderBytes(bytes: number): SafeText {
  const units = ["B", "kB", "MB", "GB"] as const;
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return safe`${unit === 0 || value >= 99.95 ? Math.round(value) : decimal(value, 1)} ${units[unit] ?? ""}`;
}

/** Two numbers of tokens, whatever they are of. */
export interface BeforeAfter {
  readonly before: number;
  readonly after: number;
}

/** Renders a change of tokens, e.g. `84.2k → 9.1k`, or one number when nothing changes. */
export function renderTokens({ before, after }: BeforeAfter): SafeText {
  return before === after ? formatTokens(before) : safe`${formatTokens(before)} → ${formatTokens(after)}`;
}

/** Renders raw tokens and those of a view; what turns that are not here add is not known. */
export function renderRawAndView(
  { raw, view }: { readonly raw: number; readonly view: number },
  elsewhere: number | undefined,
): SafeText {
  return elsewhere === undefined ? renderTokens({ before: raw, after: view }) : safe`? → ${formatTokens(view)}`;
}

/** Says what counts leave out in a partial clone; null where all is here. */
export function renderElsewhere(turns: number | undefined): SafeText | null {
  if (turns === undefined) return null;
  const are = turns === 1 ? safe`is` : safe`are`;
  return safe`${renderCount(turns, "turn")} of this partial clone ${are} not here and not counted`;
}

/** Renders who counted tokens, e.g. ` (estimate)`, to stand behind them; empty when nobody says. */
export function renderSource(source: TokenSource | undefined): SafeText {
  return source === undefined ? "" : safe` (${source})`;
}

/** Says what sizes leave out or take from elsewhere; null where all is recorded. */
export function renderOverhead(source: OverheadSource | undefined): SafeText | null {
  if (source === "unknown") return safe`without system prompt and tools, whose size is not recorded`;
  if (source !== "typical") return null;
  return safe`system prompt and tools are typical for this agent: its own are not recorded`;
}

/** Renders the share that went or came, e.g. `-89%`; empty when there is nothing to compare or nothing changed. */
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

/** Renders an RFC 3339 time as `2026-11-21 20:30` in the zone of this machine; what is no time is given back. */
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

/** Renders how long ago a time was, e.g. `2h`, `3mo`; the future and the last minute are `now`. */
export function renderAge(timestamp: string, now: Date): string {
  const passed = (now.getTime() - Date.parse(timestamp)) / 1000;
  if (Number.isNaN(passed)) return timestamp;
  for (const { seconds, unit } of AGES) if (passed >= seconds) return `${Math.floor(passed / seconds)}${unit}`;
  return "now";
}

/** Renders the first characters of a commit's id, as git abbreviates it. */
export function shortCommit(commit: string): SafeText {
  return forTerminalLine(abbreviateCommit(commit, 7));
}

/** Renders a commit, with the word that named it where it is not the branch as it stands: `4f2e… (main~2)`. */
export function renderCommit({ commit, revision }: { readonly commit?: string; readonly revision?: string }): SafeText {
  const name = forTerminalLine(commit ?? "");
  return revision === undefined ? name : safe`${name} (${forTerminalLine(revision)})`;
}
