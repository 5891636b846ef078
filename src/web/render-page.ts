// A conversation as one HTML document that needs nothing beside itself: no script, no network. What is shown of it (everything,
// what was said, what the model reads) is chosen by three buttons that are style alone.
import type { ConversationPage } from "../app/page/conversation-page.ts";
import { type Html, html } from "./html.ts";
import { renderCompactions } from "./render-compaction.ts";
import { timelineHtml } from "./render-timeline.ts";
import { renderTurn, tokensText } from "./render-turn.ts";

/** A style sheet and what a policy allows it by. */
export interface PageStyle {
  readonly css: string;
  /** SHA-256 of it, base64. */
  readonly digest: string;
}

/** Draws a whole document. */
export function renderPage(page: ConversationPage, style: PageStyle): string {
  // jpg's own style sheet is no text: it is not escaped as a text is.
  return `${renderHead(page, style)}<style>${style.css}</style>\n${renderBody(page)}`;
}

function renderHead({ title }: ConversationPage, { digest }: PageStyle): Html {
  const policy = `default-src 'none'; style-src 'sha256-${digest}'; img-src data:; base-uri 'none'; form-action 'none'`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
`;
}

function renderBody(page: ConversationPage): Html {
  const context = { tools: toolNames(page) };
  return html`</head>
<body>
<header>
<h1>${page.title}</h1>
<p class="facts">${factsOf(page).join(" · ")}</p>
${timelineHtml(page.turns)}
<fieldset class="sides"><legend>Show</legend>
<label><input type="radio" name="side" id="side-both" checked> both</label>
<label><input type="radio" name="side" id="side-raw"> what was said</label>
<label><input type="radio" name="side" id="side-view"> what the model sees</label>
<label><input type="checkbox" id="prompts-only"> prompts only</label>
</fieldset>
</header>
<main>
<section class="compactions" aria-labelledby="compactions"><h2 id="compactions">Compactions</h2>
${renderCompactions(page.compactions)}</section>
${page.turns.map((turn) => renderTurn(turn, context))}</main>
</body>
</html>
`;
}

function factsOf({
  branch,
  turns,
  tokens,
  tokens_source: source,
  format,
  created_at: created,
}: ConversationPage): string[] {
  return [
    branch,
    turns.length === 1 ? "1 turn" : `${turns.length} turns`,
    `${tokensText(tokens)}${source === "estimate" ? " (estimate)" : ""}`,
    ...(format === null ? [] : [`from ${format}`]),
    created.slice(0, 10),
  ];
}

function toolNames({ turns }: ConversationPage): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { rows } of turns)
    for (const row of rows)
      if (row.kind === "event" && row.event.type === "tool_call_request") names.set(row.event.call_id, row.event.name);
  return names;
}
