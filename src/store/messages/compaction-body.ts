// The body of a compaction's commit: what a reviewer on any git host needs to approve it, without jpg. All that is not jpg's own
// word stands in fences, where no host renders it and nothing of it can pass for a trailer. Bounded, whatever the session.

import { formatLoss, type HiddenContent, type HiddenTool } from "../../core/compact/hidden-content.ts";
import { type Compaction, describeReading, type Summary, tokensSent } from "../../core/conversation/compaction.ts";
import { describePolicies } from "../../core/conversation/policy.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { renderPrice } from "../../core/model/usage.ts";
import { type FencedLine, fence, forLine, hostLine } from "../../core/safe-text.ts";
import { countChanges, quoteChanges } from "./quoted-changes.ts";
import { cutLine, quoteStart } from "./quoted-text.ts";
import type { LargestChanges } from "./view-change.ts";

/** Entries of a list before the rest is only counted. */
const MOST_LISTED = 15;
/** Longest name of a list, characters (code points). */
const NAME_LENGTH = 100;
/** Longest line, bytes. */
const LINE_BYTES = 300;
/** Longest entry of a list, bytes. */
const ENTRY_BYTES = 120;
/** Bytes of a body in a commit's message; what the other sections leave of it is the summary's. */
export const BODY_BYTES = 57_000;
/** Bytes of a fence and the words before it, at least. */
const FRAME_BYTES = 300;

/** What is known of a compaction beside its record. */
export interface CompactionEffect {
  /** What it took out of the view; null when it was not worked out. */
  readonly hidden: HiddenContent | null;
  /** What it shows again, a clause of jpg's own; null or absent = nothing. */
  readonly givenBack?: string | null;
  /** What the model saw and sees now; absent where it was not worked out. */
  readonly changes?: LargestChanges;
}

/** A part of the body: jpg's own words, and under them what the conversation says. */
export interface Section {
  readonly words: string;
  readonly lines: readonly FencedLine[];
  readonly language?: "diff";
}

/** The command that takes a compaction back, as code; an id that could be anything is left out. */
export function takeBackCommand({ id }: Pick<Compaction, "id">): string {
  return `\`jpg revert${argumentOf(id)}\``;
}

function argumentOf(id: string): string {
  return /^[\w-]{1,100}$/.test(id) ? ` ${id}` : "";
}

/** Renders what a compaction does, in at most `bytes`, without blank lines at its ends. */
export function compactionBody(
  compaction: Compaction,
  { hidden, givenBack, changes }: CompactionEffect,
  bytes: number = BODY_BYTES,
): string {
  const { summary } = compaction;
  const before: readonly Section[] = [
    { words: "Details:", lines: lined(fieldLines(compaction)) },
    ...(changes === undefined || changes.count === 0 ? [] : [changesSection(changes)]),
  ];
  const after: readonly Section[] = [
    ...(summary === undefined ? [] : summarySections(summary)),
    ...(givenBack === null || givenBack === undefined ? [] : [{ words: `Gives back: ${givenBack}`, lines: [] }]),
    ...(compaction.receipt === undefined ? [] : section("Loss receipt:", formatLoss(compaction.receipt))),
    ...(hidden === null ? [] : [hiddenSection(hidden)]),
  ];
  const text: readonly Section[] =
    summary === undefined ? [] : [summaryText(compaction, bytes - roomOf(before, after))];
  return [...before, ...text, ...after].map(renderSection).join("\n\n");
}

/** Renders a section: its words, and its lines in a fence. */
export function renderSection({ words, lines, language }: Section): string {
  return lines.length === 0 ? words : `${words}\n${fence(lines, language)}`;
}

/** Bytes that sections take, and the frame of one more. */
export function roomOf(...lists: readonly (readonly Section[])[]): number {
  const sizes = lists.flat().map((one) => Buffer.byteLength(renderSection(one)) + 2);
  return FRAME_BYTES + sizes.reduce((sum, size) => sum + size, 0);
}

/** The changes that weigh most. */
export function changesSection(changes: LargestChanges): Section {
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
    ...(keep === undefined ? [] : [`Kept unchanged: ${count(keep.length, "event")}`]),
    ...(replacement === undefined ? [] : [`Replacement: ${count(replacement.length, "event")}`]),
    ...(summary?.model === undefined || summary.source === "generated"
      ? []
      : [`Summary by ${shortened(summary.model)}`]),
    ...(reason === undefined ? [] : [`Reason: ${reason}`]),
  ];
}

/** The text of a summary, as much of it as fits. */
export function summaryText(compaction: Compaction, bytes: number): Section {
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

/** What belongs to a summary beside its text. */
export function summarySections(summary: Summary): readonly Section[] {
  return [
    ...(summary.source === "generated" ? section("How the summary was written:", originLines(summary)) : []),
    ...section("Files of the summary:", shownOf(summary.files ?? []), ENTRY_BYTES),
    ...section("Open tasks:", shownOf(summary.open_tasks ?? [])),
  ];
}

/** How a model came to write the summary, and what that cost. */
function originLines(summary: Summary): readonly string[] {
  const { model = "", prompt_sha256, usage, price_usd } = summary;
  return [
    `Summary model: ${model === "" ? "not recorded" : shortened(model)}`,
    ...describeReading(summary).map((line) => `Read ${line}`),
    ...(prompt_sha256 === undefined ? [] : [`Prompt: sha256 ${shortened(prompt_sha256)}`]),
    usage === undefined
      ? "Usage: not known"
      : `Usage: ${tokensSent(usage)} tokens sent (${usage.cache_read} from a cache), ${usage.output} answered, ${count(usage.calls, "call")}`,
    price_usd === undefined ? "Price unknown" : `Price: ${renderPrice(price_usd)}`,
  ];
}

/** What went out of sight. */
export function hiddenSection(hidden: HiddenContent): Section {
  const { events_removed, events_changed, bytes } = hidden;
  const lists = [
    ["Tools:", hidden.tools.map(toolLine)],
    ["Files:", hidden.files],
    ["Commands:", hidden.commands],
    ["Requests:", hidden.requests],
  ] as const;
  return {
    words: `Hidden: ${count(events_removed, "event")} removed, ${events_changed} changed; ${bytes.before} → ${bytes.after} bytes of text`,
    lines: lists.flatMap(([title, entries]): readonly FencedLine[] =>
      entries.length === 0 ? [] : [{ mark: "  ", text: title }, ...lined(shownOf(entries), ENTRY_BYTES)],
    ),
  };
}

function toolLine({ name, calls, errors, tokens }: HiddenTool): string {
  const failed = errors === 0 ? "" : `, ${errors} failed`;
  return `${shortened(name)}: ${count(calls, "call")}${failed}, ${formatTokens(tokens)} tokens`;
}

/** A section, where there is something to say. */
export function section(words: string, lines: readonly string[], bytes?: number): readonly Section[] {
  return lines.length === 0 ? [] : [{ words, lines: lined(lines, bytes) }];
}

/** Lines of a fence. */
export function lined(lines: readonly string[], bytes: number = LINE_BYTES): readonly FencedLine[] {
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

/** The entries that are listed, and how many are not. */
export function shownOf(entries: readonly string[]): readonly string[] {
  const rest = entries.length - MOST_LISTED;
  const shown = entries.slice(0, MOST_LISTED);
  return rest > 0 ? [...shown, `… and ${rest} more`] : shown;
}

function shortened(text: string): string {
  return forLine(text, NAME_LENGTH);
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
