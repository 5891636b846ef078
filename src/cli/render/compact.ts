// What `jpg compact` and `jpg edit` print: the timeline, why there was nothing, the plan, the JSON documents.
import {
  type CompactCost,
  type CompactReport,
  type CompactSegment,
  describeNothing,
  type NothingReport,
  notesOf,
  type TokenChange,
} from "../../app/compact/compact-report.ts";
import type { EditReport, PlanOffer } from "../../app/compact/edit-plan.ts";
import { boundOf } from "../../app/conversation/marks.ts";
import { EDIT_VERBS, type EditItem, printPlan } from "../../core/compact/edit-plan.ts";
import { describeReading, tokensSent } from "../../core/conversation/compaction.ts";
import type { Pin } from "../../core/conversation/marks.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import type { CacheCost } from "../../core/model/cache-cost.ts";
import { renderPrice, renderUsd } from "../../core/model/money.ts";
import { partName } from "../../core/model/part-name.ts";
import {
  forLine,
  forTerminal,
  forTerminalLine,
  joinLines,
  joinSafe,
  type SafeText,
  safe,
} from "../../core/safe-text.ts";
import { type Cell, renderTable } from "../frame/table.ts";
import { fitWidth, type Rendering, type Style, unpainted } from "../frame/terminal.ts";
import { wrapProse } from "../frame/wrap.ts";
import { renderAllLost, renderLoss, renderLost } from "./loss.ts";
import {
  groupDigits,
  renderAge,
  renderCount,
  renderOverhead,
  renderRange,
  renderShare,
  renderTokens,
  shortCommit,
} from "./quantity.ts";

/** The JSON document of a report. */
export function documentOf(report: CompactReport): object {
  const { compaction, dryRun, further, views: _, lost: __, ...rest } = report;
  return {
    ...rest,
    planned_summary: report.planned_summary ?? further?.planned_summary ?? null,
    warnings: notesOf(report),
    compaction: compaction?.id ?? null,
    dry_run: dryRun,
    ...(compaction === null ? {} : { event: compaction }),
    further: further === undefined ? undefined : documentOf(further),
  };
}

interface SeveralReports {
  readonly branch: string;
  readonly conversation: string;
  readonly dryRun: boolean;
  readonly reports: readonly CompactReport[];
  readonly tokens: TokenChange;
  readonly warnings: readonly string[];
  readonly reason?: string;
}

/** The JSON document of several reports: the keys of one, of the newest commit and the whole range, and all under `compactions`. */
export function documentOfSeveral({ reports, dryRun, ...rest }: SeveralReports): object {
  const made = reports.filter(({ compaction }) => compaction !== null);
  const newest = made.at(-1);
  return {
    ...rest,
    dry_run: dryRun,
    compaction: newest?.compaction?.id ?? null,
    commit: newest?.commit ?? null,
    from_turn: made.length === 0 ? null : Math.min(...made.map(({ from_turn }) => from_turn ?? 0)),
    to_turn: made.length === 0 ? null : Math.max(...made.map(({ to_turn }) => to_turn ?? 0)),
    policies: newest?.policies ?? "",
    compactions: reports.map(documentOf),
  };
}

/** Segments shown from each end of a long timeline. */
const END_SEGMENTS = 20;
/** Columns of the largest segment's bar. */
const BAR_WIDTH = 8;

/** How much of a report is printed: all of it, or what fits a terminal of 24 lines. */
export interface TimelineExtent {
  readonly isFull: boolean;
}

/** Segments shown from each end of the timeline of a short report. */
const SHORT_END_SEGMENTS = 2;

/** Renders the outcome of a compaction. Notes come last, one a line. */
export function renderTimeline(
  report: CompactReport,
  rendering: Rendering,
  { isFull }: TimelineExtent = { isFull: true },
): SafeText {
  const { style, width } = rendering;
  const notes = renderNotes(notesOf(report), rendering);
  if (report.compaction === null) return joinLines([renderNothing(report, style, width), ...notes]);
  return joinLines([
    ...wrapProse(headline(report, style), width),
    ...segmentLines(report, rendering, isFull ? END_SEGMENTS : SHORT_END_SEGMENTS),
    ...prunedLines(report, rendering),
    ...writerLines(report),
    ...(isFull ? stepLines(report, rendering) : []),
    ...costLines(report, isFull ? [] : shortStepLines(report)).flatMap((line) => wrapProse(line, width)),
    ...(isFull ? lossLines(report, rendering) : shortLossLines(report, rendering)),
    ...ungroundedLines(report, rendering),
    ...notes,
    ...(report.further === undefined ? [] : (["", renderTimeline(report.further, rendering, { isFull })] as const)),
  ]);
}

/** Renders notes, each a message of its own. */
export function renderNotes(notes: readonly string[], { style, width }: Rendering): SafeText[] {
  return notes.flatMap((note) => wrapProse(safe`${style.caution(safe`note:`)} ${forTerminal(note)}`, width));
}

function headline(report: CompactReport, style: Style): SafeText {
  const verb = report.dryRun ? safe`Would compact` : safe`Compacted`;
  const range =
    report.from_turn === null || report.to_turn === null ? "" : safe` ${renderRange(report.from_turn, report.to_turn)}`;
  const line = safe`${style.heading(verb)} ${renderCompactedBranch(report)}${range}: ${forTerminalLine(report.policies)}`;
  if (report.dryRun || report.commit === null) return line;
  return safe`${line}\n${style.commit(safe`commit ${shortCommit(report.commit)}`)}  compaction ${style.id(forTerminalLine(report.compaction?.id ?? ""))}`;
}

/** Renders the compacted branch, and whether it is a new fork. */
export function renderCompactedBranch({ branch, activated, dryRun }: CompactReport): SafeText {
  const name = forTerminalLine(branch);
  if (activated === undefined) return name;
  return activated && !dryRun ? safe`${name} (a new fork, now active)` : safe`${name} (a new fork)`;
}

function segmentLines(report: CompactReport, { style, width }: Rendering, ends: number): SafeText[] {
  const { segments, tokens, tokens_source, overhead, overhead_source, pruned, planned_summary: planned } = report;
  // The size of a summary that a model has not written yet is unknown.
  const isOpen = planned !== null && report.compaction?.summary === undefined;
  const isWhole = ({ kind, from, to }: CompactSegment): boolean =>
    !(isOpen && kind === "summary" && from >= planned.from_turn && to <= planned.to_turn);
  const largest = segments.reduce((most, { tokens }) => Math.max(most, tokens.before, tokens.after), 1);
  const rowOf = (segment: CompactSegment): Cell[] => [
    { text: turnsOf(segment), paint: style.heading },
    { text: segment.kind, paint: segment.kind === "kept" ? style.faint : style.good },
    segment.policies ?? "",
    isWhole(segment) ? renderTokens(segment.tokens) : safe`${formatTokens(segment.tokens.before)} → ?`,
    { text: isWhole(segment) ? renderShare(segment.tokens) : "", paint: style.faint },
    { text: bar(segment, largest), paint: segment.kind === "kept" ? style.faint : style.good },
  ];
  const rows = withoutMiddle(segments, rowOf, ends);
  const fixed = { before: overhead, after: Math.max(0, overhead - (pruned?.tokens ?? 0)) };
  const front: Cell[][] =
    overhead === 0
      ? []
      : [
          [
            "",
            "",
            "system prompt and tools",
            renderTokens(fixed),
            { text: renderShare(fixed), paint: style.faint },
            "",
          ],
        ];
  const source = { text: tokens_source, paint: style.faint };
  const size = isOpen ? safe`${renderTokens(tokens)} + summary` : renderTokens(tokens);
  const total = ["total", source, "", size, { text: isOpen ? "" : renderShare(tokens), paint: style.faint }, ""];
  const columns = [{ align: "right" }, {}, { shrinkTo: 16 }, { align: "right" }, { align: "right" }, {}] as const;
  const note = renderOverhead(overhead_source);
  const table = renderTable([...rows, ...front, total], { columns, width, indent: "  " });
  const notes = [...dividedTurns(segments), ...(note === null ? [] : [note])];
  return [...table, ...notes.map((text) => style.faint(safe`  ${text}`))];
}

/** Says of which turns only the beginning is covered, which stand in two rows. */
function dividedTurns(segments: readonly CompactSegment[]): SafeText[] {
  const turns = segments.flatMap(({ to }, at) => (segments[at + 1]?.from === to ? [String(to)] : []));
  if (turns.length === 0) return [];
  const named =
    turns.length === 1
      ? safe`turn ${forTerminalLine(turns[0] ?? "")} is`
      : safe`turns ${forTerminalLine(turns.join(", "))} are`;
  return [safe`${named} divided: the beginning is in one row, the end in the next`];
}

/** A number alone would read as a count: `0 kept`. */
function turnsOf({ from, to }: CompactSegment): SafeText {
  const range = renderRange(from, to);
  return from === to ? safe`turn ${range}` : range;
}

/** Renders the rows of segments; of very many only those at both ends, and how many are between. */
function withoutMiddle(
  segments: readonly CompactSegment[],
  rowOf: (segment: CompactSegment) => Cell[],
  ends: number,
): Cell[][] {
  const between = segments.length - 2 * ends;
  if (between <= 1) return segments.map(rowOf);
  const more: Cell[] = ["…", safe`${groupDigits(between)} more`, "", "", "", ""];
  return [...segments.slice(0, ends).map(rowOf), more, ...segments.slice(-ends).map(rowOf)];
}

/** Says which tools are no longer offered. */
function prunedLines({ pruned }: CompactReport, { style }: Rendering): SafeText[] {
  if (pruned === null) return [];
  const names = pruned.names.slice(0, MOST_NAMED).map((name) => forTerminalLine(name));
  const rest = pruned.names.length - names.length;
  const more = rest === 0 ? "" : safe`, … ${rest} more (--json lists all)`;
  return ["", safe`  ${style.faint(safe`pruned:`)} ${joinSafe(names, ", ")}${more}`];
}

/** Says who wrote the summary, and what it cost. */
function writerLines({ compaction, dryRun }: CompactReport): SafeText[] {
  const { source, model = "", usage, price_usd } = compaction?.summary ?? {};
  if (dryRun) return [];
  if (source === "extractive")
    return ["", safe`  the summary is an extract by fixed rules; no model wrote it (\`--model\` asks one)`];
  if (source !== "generated") return [];
  const spent =
    usage === undefined
      ? ""
      : safe`: ${formatTokens(tokensSent(usage))} tokens sent, ${formatTokens(usage.output)} answered`;
  const { summary } = compaction ?? {};
  const reading =
    summary === undefined
      ? []
      : describeReading(summary).map((line) => safe`  the model read the turns ${forTerminalLine(line)}`);
  return ["", safe`  written by ${forTerminalLine(model)}${spent}, ${renderPrice(price_usd ?? null)}`, ...reading];
}

/** Renders what each strategy saved in addition to those before it; nothing for a single one, as that is the total. */
function stepLines({ report }: CompactReport, { style, width }: Rendering): SafeText[] {
  const steps = report?.steps ?? [];
  if (steps.length < 2) return [];
  const rows = steps.map(({ strategy, events_removed, estimated_tokens_saved }): Cell[] => [
    { text: partName(strategy), paint: style.heading },
    events_removed === 0 ? "" : safe`${renderCount(events_removed, "event")} removed`,
    safe`${formatTokens(Math.abs(estimated_tokens_saved))} ${estimated_tokens_saved < 0 ? "added" : "saved"}`,
  ]);
  return ["", ...renderTable(rows, { columns: [{}, { align: "right" }, { align: "right" }], width, indent: "  " })];
}

/** The same in one line. */
function shortStepLines({ report }: CompactReport): SafeText[] {
  const steps = report?.steps ?? [];
  if (steps.length < 2) return [];
  const parts = steps.map(({ strategy, estimated_tokens_saved: saved }) =>
    saved < 0
      ? safe`${forTerminalLine(partName(strategy))} adds ${formatTokens(-saved)}`
      : safe`${forTerminalLine(partName(strategy))} ${formatTokens(saved)}`,
  );
  return [safe`  saved by: ${joinSafe(parts, ", ")}`];
}

/** Renders what the next calls cost: in dollars, or in tokens where no price is known. */
function costLines({ cache, cost }: CompactReport, front: readonly SafeText[]): SafeText[] {
  const lines = [...front, ...(cost === undefined || cache === null ? cacheLines(cache) : moneyLines(cache, cost))];
  return lines.length === 0 ? [] : ["", ...lines];
}

function moneyLines(cache: CacheCost, cost: CompactCost): SafeText[] {
  const { model, is_warm, extra_usd, saved_usd, pays_after } = cost;
  if (pays_after === null) return [];
  const written = is_warm
    ? safe`${formatTokens(cache.rewritten)} tokens are written to the cache anew`
    : safe`the cache has expired anyway`;
  const why = cache.rewritten === 0 && is_warm ? safe`nothing is written to the cache anew` : written;
  const pays = pays_after === 0 ? safe`pays at once` : safe`pays after ${renderCount(pays_after, "call")}`;
  return [
    safe`  The next call costs ${moreOrLess(extra_usd)}: ${why}.`,
    safe`  Each one after it costs ${moreOrLess(-saved_usd)}: ${pays} (${forTerminalLine(model)}).`,
  ];
}

/** A difference in words: a sign is easily taken for a dash. */
function moreOrLess(usd: number): SafeText {
  if (usd === 0) return safe`the same`;
  return usd > 0 ? safe`${renderUsd(usd)} more` : safe`${renderUsd(-usd)} less`;
}

/** Renders the effect on a provider's prompt cache. */
function cacheLines(cache: CompactReport["cache"]): SafeText[] {
  if (cache === null || cache.saved_per_call <= 0) return [];
  const { prefix_kept, rewritten, saved_per_call, break_even_calls } = cache;
  const cost = rewritten === 0 ? safe`nothing rewritten` : safe`${formatTokens(rewritten)} rewritten once`;
  const pays =
    break_even_calls === null || break_even_calls === 0
      ? ""
      : safe`, pays after ${renderCount(break_even_calls, "call")}`;
  return [
    safe`  cache: ${formatTokens(prefix_kept)} kept, ${cost}; ${formatTokens(saved_per_call)} saved a call${pays}`,
  ];
}

/** Renders all that a dry run would hide; after a compaction, `jpg show` prints it. */
function lossLines({ dryRun, receipt, lost = [] }: CompactReport, rendering: Rendering): SafeText[] {
  if (!dryRun || receipt === null) return [];
  const lines = [...renderLoss(receipt, rendering), ...renderAllLost(lost, rendering)];
  return lines.length === 0 ? [] : ["", ...lines];
}

/** What is hidden, a line a kind. */
function shortLossLines({ dryRun, receipt, lost = [] }: CompactReport, rendering: Rendering): SafeText[] {
  if (receipt === null) return [];
  return renderLost(receipt, lost, { ...rendering, more: dryRun ? safe` Add --full for all names.` : undefined });
}

function ungroundedLines({ ungrounded }: CompactReport, { style, width }: Rendering): SafeText[] {
  if (ungrounded.length === 0) return [];
  const rows = ungrounded.slice(0, MOST_NAMED).map(({ kind, text }) => [kind, forTerminalLine(text)]);
  const named = renderTable(rows, { columns: [{}, { shrinkTo: 16 }], width, indent: "    " });
  const rest = ungrounded.length - named.length;
  return [
    "",
    safe`  ${style.caution(safe`In the summary, but in none of the events it replaces:`)}`,
    ...named,
    ...(rest === 0 ? [] : [safe`    … ${rest} more (--json lists all)`]),
  ];
}

/** Most findings named; the rest is counted. */
const MOST_NAMED = 10;

/** Draws what is left of a segment as full blocks, what it lost as light ones. */
function bar({ tokens: { before, after } }: CompactSegment, largest: number): SafeText {
  const columns = (count: number): number => (count <= 0 ? 0 : Math.max(1, Math.round((count / largest) * BAR_WIDTH)));
  const left = columns(after);
  return forTerminal("█".repeat(left) + "░".repeat(Math.max(0, columns(before) - left)));
}

/** Renders why nothing was done, and each hint on a line; wrapped at `width` columns if given, else by the terminal. */
export function renderNothing(report: NothingReport, style: Style, width: number = Number.POSITIVE_INFINITY): SafeText {
  const { title, why, hints } = describeNothing(report);
  const lines = [
    [
      { text: forTerminal(title), paint: style.heading },
      { text: forTerminal(why === "" ? "" : ` ${why}`), paint: unpainted },
    ],
    ...hints.map((hint) => [
      { text: safe`hint:`, paint: style.faint },
      { text: forTerminal(` ${hint}`), paint: unpainted },
    ]),
  ];
  return joinLines(
    lines.flatMap((spans) =>
      wrapProse(
        joinSafe(
          spans.map(({ text, paint }) => paint(text)),
          "",
        ),
        width,
      ),
    ),
  );
}

/** Width of a plan outside a terminal, columns. */
export const PLAN_COLUMNS = 80;
/** Least columns for the first words. */
const LEAST_WORDS = 16;
/** Columns of the longest verb. */
const VERB_COLUMNS = 9;

interface PlanLayout {
  readonly columns: number;
  readonly now: Date;
}

/** Renders the text of a plan; `notes` = comments before the help, anybody's text. */
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

/** Whether a plan changed nothing. */
export function isIdle({ compaction, pinned, unpinned }: EditReport): boolean {
  return compaction === null && pinned.length + unpinned.length === 0;
}

/** Renders the outcome of `edit`. */
export function renderEdit(report: EditReport, rendering: Rendering): SafeText {
  const { style } = rendering;
  if (isIdle(report)) {
    const why = wrapProse(safe`Nothing to do: ${forTerminal(report.reason ?? "")}.`, rendering.width);
    return joinLines([...why, ...renderNotes(report.warnings, rendering)]);
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
