// Writes a view as Markdown for people: `print`, VIEW.md and `--to markdown`. The document is the concatenation of its
// turns, so that a new turn can be appended to a file, and nothing in it steers a terminal.

import { type ProjectedTurn, sayTurns, type View } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import { type EventMarkdownOptions, renderEventMarkdown } from "./event-markdown.ts";
import { renderLine, renderName } from "./safe-text.ts";

/** What a document is about. */
export interface ViewHeading {
  readonly title: string;
  /** Where the conversation comes from, a sentence. */
  readonly lineage?: string;
  readonly branch?: string;
  /** Commit the view was made from. */
  readonly commit?: string;
}

/** Renders a view: a heading when it is given a title, then the concatenation of its turns. */
export function renderMarkdown(
  view: View,
  options: EventMarkdownOptions & Partial<Pick<ViewHeading, "title" | "lineage">> = {},
): string {
  const { title, lineage } = options;
  const heading = title === undefined ? "" : renderViewHeading({ title, ...defined({ lineage }) });
  return heading + view.turns.map((turn) => renderTurnMarkdown(turn, options)).join("");
}

/** Renders the heading of a document; ends with a blank line. */
export function renderViewHeading({ title, lineage, branch, commit }: ViewHeading): string {
  const source = [branch, commit]
    .filter((name) => name !== undefined)
    .map(renderName)
    .join(" at ");
  const lines = [...(lineage === undefined ? [] : [renderLine(lineage)]), ...(source === "" ? [] : [source])];
  return `# ${renderLine(title)}\n\n${lines.map((line) => `${line}\n\n`).join("")}`;
}

/** Renders one projected turn: its heading, then its events; ends with a blank line. */
export function renderTurnMarkdown(turn: ProjectedTurn, options: EventMarkdownOptions = {}): string {
  const tools = new Map<string, string>();
  const context = { isSummary: turn.origin.kind === "summary", tools };
  let text = `${headingOf(turn)}\n\n`;
  for (const event of turn.events) {
    if (event.type === "tool_call_request") tools.set(event.call_id, event.name);
    text += renderEventMarkdown(event, context, options);
  }
  return text;
}

function headingOf({ origin, events }: ProjectedTurn): string {
  const time = timeOf(events[0]?.timestamp);
  if (origin.kind === "kept") return `## Turn ${origin.turn}${origin.part === true ? " (continued)" : ""}${time}`;
  if (origin.kind === "index")
    return `## Index of what is hidden · compaction ${origin.compaction.replace(/[^\w.-]/g, "_")}`;
  const turns = sayTurns(origin.from, origin.to);
  const what = origin.kind === "summary" ? `Summary of ${turns}` : `In place of ${turns}`;
  const source = origin.imported === true ? " · imported, not checked" : "";
  return `## ${what} · compaction ${origin.compaction.replace(/[^\w.-]/g, "_")}${source}`;
}

/** ` · 2026-03-04 05:06:07 UTC`; "" when the timestamp is none. */
function timeOf(timestamp: string | undefined): string {
  const found = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)/.exec(timestamp ?? "");
  return found === null ? "" : ` · ${found[1]} ${found[2]} UTC`;
}
