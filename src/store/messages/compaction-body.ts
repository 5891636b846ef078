// The body of a compaction's commit: what a reviewer on any git host needs, without jpg. Lines that carry text of the
// conversation begin with a label of jpg's own or are indented.
import type { Compaction, Summary } from "../../core/compaction/compaction.ts";
import { tokensSent } from "../../core/compaction/compaction.ts";
import type { LossReceipt } from "../../core/compaction/loss-receipt.ts";
import { describePolicies } from "../../core/compaction/policy.ts";
import { describeReading } from "../../core/compaction/summary-reading.ts";
import { formatLoss } from "../../core/loss/format-loss.ts";
import type { HiddenContent, HiddenTool } from "../../core/loss/hidden-content.ts";
import { forCommit, forLine } from "../../core/safe-text.ts";
import { formatTokens } from "../../core/tokens/token-estimate.ts";
import { renderPrice } from "../../core/tokens/usage-price.ts";

/** Entries of a list before the rest is only counted. */
const MOST_LISTED = 50;

/**
 * Renders the body, without blank lines at its ends; `hidden` = what the compaction took out of the view, null when it was not
 * worked out; `givenBack` = what it shows again, a clause of jpg's own, null = nothing.
 */
export function compactionBody(
  compaction: Compaction,
  hidden: HiddenContent | null,
  givenBack: string | null = null,
): string {
  const { summary } = compaction;
  const sections = [
    "The turns themselves are unchanged; from here on they are read as follows.\nReverting this commit takes it back.",
    fieldLines(compaction).join("\n"),
    ...(summary === undefined ? [] : [section(summaryHeading(compaction), forCommit(summary.summary))]),
    ...(summary?.source === "generated" ? [originLines(summary)] : []),
    ...list("Files of the summary", summary?.files ?? []),
    ...list("Open tasks", summary?.open_tasks ?? []),
    ...(givenBack === null ? [] : [`Gives back: ${givenBack}`]),
    ...(hidden === null ? [] : hiddenLines(hidden)),
    ...(compaction.receipt === undefined ? [] : lossSection(compaction.receipt)),
  ];
  return sections.join("\n\n");
}

function fieldLines(compaction: Compaction): readonly string[] {
  const { from_turn, to_turn, from_event, to_event, keep, tool_overrides, strategy, reason, replacement } = compaction;
  const bounds = [
    ...(from_event === undefined ? [] : [`from event ${forLine(from_event)} of turn ${from_turn}`]),
    ...(to_event === undefined ? [] : [`up to event ${forLine(to_event)} of turn ${to_turn}`]),
  ];
  const hints = Object.entries(tool_overrides ?? {}).map(([tool, { request, response }]) => {
    const halves = [...(request ? [`arguments ${request}`] : []), ...(response ? [`results ${response}`] : [])];
    return `${forLine(tool)} ${halves.join(", ")}`;
  });
  return [
    `Range: turns ${from_turn}..${to_turn}${bounds.length === 0 ? "" : `, ${bounds.join(", ")}`}`,
    `Policies: ${describePolicies(compaction)}`,
    ...(strategy === undefined ? [] : [`Strategies: ${strategy.map((name) => forLine(name)).join(", ")}`]),
    ...(hints.length === 0 ? [] : [`Hints: ${hints.join("; ")}`]),
    ...(keep === undefined ? [] : [`Kept unchanged: ${count(keep.length, "event")}`]),
    ...(replacement === undefined ? [] : [`Replacement: ${count(replacement.length, "event")}`]),
    ...(reason === undefined ? [] : [`Reason: ${forLine(reason)}`]),
  ];
}

/** How a model came to write the summary, and what that cost. */
function originLines(summary: Summary): string {
  const { model = "", prompt_sha256, usage, price_usd } = summary;
  return [
    `Summary model: ${model === "" ? "not recorded" : forLine(model)}`,
    ...describeReading(summary).map((line) => `Read ${line}`),
    ...(prompt_sha256 === undefined ? [] : [`Prompt: sha256 ${forLine(prompt_sha256)}`]),
    usage === undefined
      ? "Usage: not known"
      : `Usage: ${tokensSent(usage)} tokens sent (${usage.cache_read} from a cache), ${usage.output} answered, ${count(usage.calls, "call")}`,
    price_usd === undefined ? "Price unknown" : `Price: ${renderPrice(price_usd)}`,
  ].join("\n");
}

function summaryHeading({ summary }: Compaction): string {
  if (summary?.source === "extractive") return "Summary (an extract by fixed rules, not written by a model)";
  const by = summary?.model === undefined ? "" : ` by ${forLine(summary.model)}`;
  return summary?.source === undefined ? `Summary${by}` : `Summary (${summary.source}${by})`;
}

function hiddenLines(hidden: HiddenContent): readonly string[] {
  const { events_removed, events_changed, bytes } = hidden;
  return [
    `Hidden: ${count(events_removed, "event")} removed, ${events_changed} changed; ${bytes.before} → ${bytes.after} bytes of text`,
    ...list("Tools", hidden.tools.map(toolLine)),
    ...list("Files", hidden.files),
    ...list("Commands", hidden.commands),
    ...list("Requests", hidden.requests),
  ];
}

function lossSection(loss: LossReceipt): readonly string[] {
  const lines = formatLoss(loss);
  return lines.length === 0 ? [] : [section("Facts", forCommit(lines.join("\n")))];
}

function toolLine({ name, calls, errors, tokens }: HiddenTool): string {
  const failed = errors === 0 ? "" : `, ${errors} failed`;
  return `${name}: ${count(calls, "call")}${failed}, ${formatTokens(tokens)} tokens`;
}

function list(title: string, entries: readonly string[]): readonly string[] {
  if (entries.length === 0) return [];
  const shown = entries.slice(0, MOST_LISTED).map((entry) => forLine(entry));
  const rest = entries.length - shown.length;
  return [section(title, forCommit([...shown, ...(rest === 0 ? [] : [`… and ${rest} more`])].join("\n")))];
}

function section(title: string, text: string): string {
  return `${title}:\n${text}`;
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
