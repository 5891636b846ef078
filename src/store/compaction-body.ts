// The body of a compaction's commit: what a reviewer on any git host needs to approve it, without jpg. Everything but jpg's own
// words is inside fences, where no host renders it and nothing can pass for a trailer. Bounded, whatever the session.
import { formatLoss, type HiddenContent, type HiddenTool } from "../core/compact/hidden-content.ts";
import { type Compaction, describeReading, type Summary, tokensSent } from "../core/conversation/compaction.ts";
import type { CompactionGroup } from "../core/conversation/group.ts";
import { describePolicies } from "../core/conversation/policy.ts";
import { formatCount, formatTokens } from "../core/conversation/token-estimate.ts";
import { renderPrice } from "../core/model/money.ts";
import { type FencedLine, fence, forLine, hostLine, hostLines } from "../core/safe-text.ts";

/** Entries of a list before the rest is only counted. */
const MOST_LISTED = 15;
/** Longest name of a list, characters (code points). */
const NAME_LENGTH = 100;
/** Longest line, bytes. */
const LINE_BYTES = 300;
/** Longest entry of a list, bytes. */
const ENTRY_BYTES = 120;
/** Bytes of a body in a commit's message; the summary gets what the other sections leave. */
const BODY_BYTES = 57_000;
/** Bytes of a fence and the words before it, at least. */
const FRAME_BYTES = 300;

/** What a compaction changes, in addition to its record. */
export interface CompactionEffect {
  /** What it removed from the view; null when not computed. */
  readonly hidden: HiddenContent | null;
  /** What it shows again, a clause of jpg's own; null or absent = nothing. */
  readonly restored?: string | null;
  /** What the model saw and sees now; absent when not computed. */
  readonly changes?: LargestChanges;
}

/** A part of the body: jpg's own words, followed by text of the conversation. */
interface Section {
  readonly words: string;
  readonly lines: readonly FencedLine[];
  readonly language?: "diff";
}

/** The command that reverts a compaction, as code; an id with other characters is left out. */
export function revertCommand({ id }: Pick<Compaction, "id">): string {
  return `\`jpg revert${argumentOf(id)}\``;
}

function argumentOf(id: string): string {
  return /^[\w-]{1,100}$/.test(id) ? ` ${id}` : "";
}

/** Renders what a compaction does, in at most `bytes`, without blank lines at its ends. */
export function compactionBody(
  compaction: Compaction,
  { hidden, restored, changes }: CompactionEffect,
  bytes: number = BODY_BYTES,
): string {
  const { summary } = compaction;
  const before: readonly Section[] = [
    { words: "Details:", lines: lined(fieldLines(compaction)) },
    ...(changes === undefined || changes.count === 0 ? [] : [changesSection(changes)]),
  ];
  const after: readonly Section[] = [
    ...(summary === undefined ? [] : summarySections(summary)),
    ...(restored === null || restored === undefined ? [] : [{ words: `Shows again: ${restored}`, lines: [] }]),
    ...(compaction.receipt === undefined ? [] : section("Loss receipt:", formatLoss(compaction.receipt))),
    ...(hidden === null ? [] : [hiddenSection(hidden)]),
  ];
  const text: readonly Section[] =
    summary === undefined ? [] : [summaryText(compaction, bytes - roomOf(before, after))];
  return [...before, ...text, ...after].map(renderSection).join("\n\n");
}

function renderSection({ words, lines, language }: Section): string {
  return lines.length === 0 ? words : `${words}\n${fence(lines, language)}`;
}

/** Bytes of the sections, plus the frame of one more. */
function roomOf(...lists: readonly (readonly Section[])[]): number {
  const sizes = lists.flat().map((one) => Buffer.byteLength(renderSection(one)) + 2);
  return FRAME_BYTES + sizes.reduce((sum, size) => sum + size, 0);
}

/** The changes that weigh most. */
function changesSection(changes: LargestChanges): Section {
  const words = `What the model saw (-) and sees now (+), ${countChanges(changes)}:`;
  return { words, lines: quoteChanges(changes), language: "diff" };
}

function fieldLines(compaction: Compaction): readonly string[] {
  const { from_turn, to_turn, from_event, to_event, keep, tool_overrides, strategy, reason, replacement, summary } =
    compaction;
  const bounds = [
    ...(from_event === undefined ? [] : [`from event ${shortened(from_event)} of turn ${from_turn}`]),
    ...(to_event === undefined ? [] : [`up to event ${shortened(to_event)} of turn ${to_turn}`]),
  ];
  const hints = Object.entries(tool_overrides ?? {}).map(([tool, { request, response }]) => {
    const halves = [...(request ? [`arguments ${request}`] : []), ...(response ? [`results ${response}`] : [])];
    return `${shortened(tool)} ${halves.join(", ")}`;
  });
  return [
    `Range: turns ${from_turn}..${to_turn}${bounds.length === 0 ? "" : `, ${bounds.join(", ")}`}`,
    `Policies: ${describePolicies(compaction)}`,
    ...(strategy === undefined ? [] : [`Strategies: ${strategy.map(shortened).join(", ")}`]),
    ...(hints.length === 0 ? [] : [`Hints: ${shownOf(hints).join("; ")}`]),
    ...(keep === undefined ? [] : [`Kept unchanged: ${formatCount(keep.length, "event")}`]),
    ...(replacement === undefined ? [] : [`Replacement: ${formatCount(replacement.length, "event")}`]),
    ...(summary?.model === undefined || summary.source === "generated"
      ? []
      : [`Summary by ${shortened(summary.model)}`]),
    ...(reason === undefined ? [] : [`Reason: ${reason}`]),
  ];
}

/** The text of a summary, as much of it as fits. */
function summaryText(compaction: Compaction, bytes: number): Section {
  const { id, summary } = compaction;
  return {
    words: summaryHeading(compaction),
    lines: quoteStart(summary?.summary ?? "", bytes, `jpg show${argumentOf(id)}`),
  };
}

function summaryHeading({ summary }: Compaction): string {
  if (summary?.source === "extractive") return "Summary (an extract by fixed rules, not written by a model):";
  return summary?.source === undefined ? "Summary:" : `Summary (${summary.source}):`;
}

function summarySections(summary: Summary): readonly Section[] {
  return [
    ...(summary.source === "generated" ? section("How the summary was written:", originLines(summary)) : []),
    ...section("Files of the summary:", shownOf(summary.files ?? []), ENTRY_BYTES),
    ...section("Open tasks:", shownOf(summary.open_tasks ?? [])),
  ];
}

/** Which model wrote the summary, and what that cost. */
function originLines(summary: Summary): readonly string[] {
  const { model = "", prompt_sha256, usage, price_usd } = summary;
  return [
    `Summary model: ${model === "" ? "not recorded" : shortened(model)}`,
    ...describeReading(summary).map((line) => `Read ${line}`),
    ...(prompt_sha256 === undefined ? [] : [`Prompt: sha256 ${shortened(prompt_sha256)}`]),
    usage === undefined
      ? "Usage: not known"
      : `Usage: ${tokensSent(usage)} tokens sent (${usage.cache_read} from a cache), ${usage.output} answered, ${formatCount(usage.calls, "call")}`,
    price_usd === undefined ? "Price unknown" : `Price: ${renderPrice(price_usd)}`,
  ];
}

function hiddenSection(hidden: HiddenContent): Section {
  const { events_removed, events_changed, bytes } = hidden;
  const lists = [
    ["Tools:", hidden.tools.map(toolLine)],
    ["Files:", hidden.files],
    ["Commands:", hidden.commands],
    ["Requests:", hidden.requests],
  ] as const;
  return {
    words: `Hidden: ${formatCount(events_removed, "event")} removed, ${events_changed} changed; ${bytes.before} → ${bytes.after} bytes of text`,
    lines: lists.flatMap(([title, entries]): readonly FencedLine[] =>
      entries.length === 0 ? [] : [{ mark: "  ", text: title }, ...lined(shownOf(entries), ENTRY_BYTES)],
    ),
  };
}

function toolLine({ name, calls, errors, tokens }: HiddenTool): string {
  const failed = errors === 0 ? "" : `, ${errors} failed`;
  return `${shortened(name)}: ${formatCount(calls, "call")}${failed}, ${formatTokens(tokens)} tokens`;
}

/** A section, or none when there are no lines. */
function section(words: string, lines: readonly string[], bytes?: number): readonly Section[] {
  return lines.length === 0 ? [] : [{ words, lines: lined(lines, bytes) }];
}

function lined(lines: readonly string[], bytes: number = LINE_BYTES): readonly FencedLine[] {
  return lines.map((line) => {
    const text = hostLine(
      line
        .slice(0, 4 * bytes)
        .replace(/\s+/g, " ")
        .trim(),
    );
    return { mark: "    ", text: cutLine(text, { bytes, width: Number.POSITIVE_INFINITY }) ?? "" };
  });
}

/** The first entries, and how many more there are. */
function shownOf(entries: readonly string[]): readonly string[] {
  const rest = entries.length - MOST_LISTED;
  const shown = entries.slice(0, MOST_LISTED);
  return rest > 0 ? [...shown, `… and ${rest} more`] : shown;
}

function shortened(text: string): string {
  return forLine(text, NAME_LENGTH);
}

/** Ten changes take 22 KB at most. */
const SAW = { bytes: 1200, lines: 12, width: 120 } as const;
const SEES = { bytes: 700, lines: 6, width: 120 } as const;
/** Longest name of a change, bytes. */
const NAME_BYTES = 150;

/** Says how many changes are shown, of how many. */
function countChanges({ largest, count }: LargestChanges): string {
  if (count === 1) return "the only change";
  return largest.length === count ? `all ${count} changes` : `the ${largest.length} largest of ${count} changes`;
}

/** Quotes the changes, largest first. */
function quoteChanges({ largest }: LargestChanges): readonly FencedLine[] {
  return largest.flatMap((change, at) => [...(at === 0 ? [] : [BLANK]), ...quoteChange(change)]);
}

const BLANK: FencedLine = { mark: "  ", text: "" };

function quoteChange({ turn, title, tokens, before, after }: ViewChange): readonly FencedLine[] {
  const whole = hostLine(forLine(`${turn}, ${title}`, NAME_BYTES));
  const name = cutLine(whole, { bytes: NAME_BYTES, width: Number.POSITIVE_INFINITY }) ?? "";
  return [
    { mark: "@@ ", text: `${name}: ${formatTokens(tokens.before)} → ${formatTokens(tokens.after)} tokens` },
    ...side(before, "- ", SAW),
    ...side(after, "+ ", SEES),
  ];
}

function side(text: string | null, mark: "- " | "+ ", limits: typeof SAW | typeof SEES): readonly FencedLine[] {
  if (text === null) return [];
  return text.trim() === "" ? [{ mark, text: "(empty)" }] : quote(text, mark, limits);
}

// Quotes text of a conversation in a bounded number of bytes, fit for a fence, and says what is left out.

/** How much is quoted: bytes of UTF-8 with marks and line ends, lines, and characters (code points) of a line. */
interface QuoteLimits {
  readonly bytes: number;
  readonly lines: number;
  readonly width: number;
}

/** Bytes of the line that says what is left out. */
const NOTE_BYTES = 80;
/** Share of the space for the beginning of a text; its end gets the rest, because outputs end with what failed. */
const HEAD_SHARE = 0.7;

/** Quotes a text: whole if it fits, else its beginning and end, with the number of missing lines between them. */
function quote(text: string, mark: FencedLine["mark"], limits: QuoteLimits): readonly FencedLine[] {
  const plain = text.trimEnd();
  // Only the ends of a long text can be in the quote.
  const reach = limits.bytes * 2;
  const isLong = plain.length > 2 * reach;
  const start = hostLines(isLong ? plain.slice(0, reach) : plain);
  const whole = isLong ? [] : fitLines(start, mark, limits);
  if (whole.length === start.length && whole.every(({ isCut }) => !isCut)) return whole.map(({ line }) => line);
  const total = isLong ? countLines(plain) : start.length;
  const room = limits.bytes - NOTE_BYTES;
  const most = Math.ceil(limits.lines * HEAD_SHARE);
  const head = fitLines(start, mark, { ...limits, bytes: room * HEAD_SHARE, lines: most });
  const rest = Math.max(0, Math.min(limits.lines - most, total - head.length));
  const end = rest === 0 ? [] : (isLong ? hostLines(plain.slice(-reach)) : start).slice(-rest).reverse();
  const tail = fitLines(end, mark, { ...limits, bytes: room * (1 - HEAD_SHARE), lines: rest }).reverse();
  const note = describeMissing(Math.max(0, total - head.length - tail.length), [...head, ...tail]);
  return [...head.map(({ line }) => line), note, ...tail.map(({ line }) => line)];
}

function describeMissing(lines: number, shown: readonly FittedLine[]): FencedLine {
  const words = [
    ...(lines === 0 ? [] : [`${lines} ${lines === 1 ? "line" : "lines"} left out`]),
    ...(shown.some(({ isCut }) => isCut) ? ["long lines are cut"] : []),
  ];
  return { mark: "  ", text: `(… ${words.join("; ")})` };
}

/** Quotes the beginning of a text, up to `bytes`; `where` = what to type for all of it. */
export function quoteStart(text: string, bytes: number, where: string): readonly FencedLine[] {
  const limits = { bytes, lines: Number.POSITIVE_INFINITY, width: Number.POSITIVE_INFINITY };
  const plain = text.trimEnd();
  // Every character takes a byte or more: later ones cannot fit.
  const lines = hostLines(plain.slice(0, Math.max(0, bytes) + 1));
  const whole = fitLines(lines, "    ", limits);
  if (whole.length === lines.length && whole.every(({ isCut }) => !isCut)) return whole.map(({ line }) => line);
  const start = fitLines(lines, "    ", { ...limits, bytes: bytes - NOTE_BYTES - where.length });
  return [...start.map(({ line }) => line), { mark: "  ", text: `(… cut here; ${where} has all of it)` }];
}

interface FittedLine {
  readonly line: FencedLine;
  readonly isCut: boolean;
}

/** Takes lines while they fit; the first that does not fit whole is cut. */
function fitLines(
  texts: readonly string[],
  mark: FencedLine["mark"],
  { bytes, lines, width }: QuoteLimits,
): FittedLine[] {
  const taken: FittedLine[] = [];
  let room = bytes;
  for (const text of texts) {
    if (taken.length >= lines) break;
    const fitting = cutLine(text, { bytes: room - mark.length - 1, width });
    if (fitting === null) break;
    taken.push({ line: { mark, text: fitting }, isCut: fitting !== text });
    room -= mark.length + 1 + Buffer.byteLength(fitting);
    if (fitting !== text && [...fitting].length < width) break;
  }
  return taken;
}

/** Cuts a line, never inside a character; null when no character fits. */
export function cutLine(
  text: string,
  { bytes, width }: { readonly bytes: number; readonly width: number },
): string | null {
  if (bytes < 0) return null;
  if (text.length <= width && Buffer.byteLength(text) <= bytes) return text;
  let room = bytes - Buffer.byteLength("…");
  let kept = "";
  let characters = 1;
  for (const character of text) {
    room -= Buffer.byteLength(character);
    characters += 1;
    if (room < 0 || characters > width) break;
    kept += character;
  }
  return kept === "" ? null : `${kept}…`;
}

function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** An event that a model sees differently, no longer, or only now. */
export interface ViewChange {
  /** Its place, e.g. `turn 3` or `turns 0..12: summary k3f9q2`. */
  readonly turn: string;
  /** E.g. `tool result Read src/a.ts`. Names in it are the conversation's. */
  readonly title: string;
  /** Estimates; 0 where it is not in the view. */
  readonly tokens: { readonly before: number; readonly after: number };
  /** The text that a model saw; null = it was not in the view. */
  readonly before: string | null;
  /** The text that it sees now; null = it is not in the view. */
  readonly after: string | null;
}

/** The changes that weigh most in tokens, largest first. */
export interface LargestChanges {
  readonly largest: readonly ViewChange[];
  readonly count: number;
}

// The body of a commit with several compactions, or with one and pins: what a reviewer on any git host needs to approve it as
// one change. Bounded like that of one compaction.

/** Summaries whose text is included; the list names the range of further ones. */
const MOST_SUMMARIES = 5;
/** Bytes of the words above a text, and of its fence. */
const HEADING_BYTES = 300;

/** What a group changes, in addition to its records. */
export interface GroupEffect extends CompactionEffect {
  /** What is pinned and unpinned, as a person writes it: `3`, `3:EVENT`. */
  readonly pinned: readonly string[];
  readonly unpinned: readonly string[];
}

/** Renders what the records of a group do, in at most `bytes`. */
export function groupBody(
  group: CompactionGroup,
  { hidden, restored, changes, pinned, unpinned }: GroupEffect,
  bytes: number = BODY_BYTES,
): string {
  const { receipt } = group.find((compaction) => compaction.receipt !== undefined) ?? {};
  const before: readonly Section[] = [
    {
      words: `Details, ${group.length === 1 ? "1 compaction" : `${group.length} compactions`}:`,
      lines: lined(shownOf(group.map(line))),
    },
    ...section("Pinned:", shownOf(pinned)),
    ...section("No longer pinned:", shownOf(unpinned)),
    ...(changes === undefined || changes.count === 0 ? [] : [changesSection(changes)]),
  ];
  const summarised = group.filter(({ summary }) => summary !== undefined).slice(0, MOST_SUMMARIES);
  const after: readonly Section[] = [
    ...summarised.flatMap(({ summary }) => (summary === undefined ? [] : summarySections(summary))),
    ...(restored === null || restored === undefined ? [] : [{ words: `Shows again: ${restored}`, lines: [] }]),
    ...(receipt === undefined ? [] : section("Loss receipt:", formatLoss(receipt))),
    ...(hidden === null ? [] : [hiddenSection(hidden)]),
  ];
  const room = Math.floor((bytes - roomOf(before, after)) / Math.max(1, summarised.length)) - HEADING_BYTES;
  const texts = summarised.map((compaction) => {
    const text = summaryText(compaction, room);
    return { ...text, words: `Turns ${turnsOf(compaction)}. ${text.words}` };
  });
  return [...before, ...texts, ...after].map(renderSection).join("\n\n");
}

function line(compaction: Compaction): string {
  return `${turnsOf(compaction)}: ${describePolicies(compaction)}`;
}

function turnsOf({ from_turn, to_turn }: Compaction): string {
  return from_turn === to_turn ? String(from_turn) : `${from_turn}..${to_turn}`;
}
