// The frame of every page: its head and its style.
import type { ConversationPage } from "../../app/look/conversation-page.ts";
import type { Piece } from "../../core/look/both-views.ts";
import type { PackText } from "./content.ts";
import { type Html, html } from "./html.ts";

/** A style or script of jpg's own, which the page's policy allows by its digest: SHA-256, base64. */
export interface OwnText {
  readonly text: string;
  readonly digest: string;
}

/** Whether a page is a file, with its style and script inside, or served, so that it can load parts and send forms. */
export type Place =
  | {
      readonly kind: "file";
      readonly css: OwnText;
      readonly script: OwnText;
      readonly pack: PackText;
      /** What is not in it, one line each. */
      readonly notes: readonly string[];
    }
  | {
      readonly kind: "served";
      /** Nothing can be changed from here. */
      readonly readOnly: boolean;
      /** What the last action came to, one line each. */
      readonly said?: readonly string[];
    };

/** Draws a whole document; `body` is the content of its body element. */
export function renderDocument(title: string, place: Place, body: Html): string {
  const start = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
`;
  // What is jpg's own is no text: it is not escaped as a text is.
  const [style, script] =
    place.kind === "file"
      ? [`${policyOf(place)}<style>${place.css.text}</style>\n`, `<script>${place.script.text}</script>\n`]
      : [String(SERVED_HEAD), ""];
  return `${start}${style}${html`</head>
<body>
${notices(place)}${body}`}${script}</body>
</html>
`;
}

const SERVED_HEAD = html`<link rel="stylesheet" href="/page.css">
<script src="/page.js" defer></script>
`;

function policyOf({ css, script }: Extract<Place, { readonly kind: "file" }>): Html {
  const policy = `default-src 'none'; style-src 'sha256-${css.digest}'; script-src 'sha256-${script.digest}'; img-src data:; base-uri 'none'; form-action 'none'`;
  return html`<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
`;
}

/** What was said, and room for what the page is told while it is open; of a file what is not in it. */
function notices(place: Place): Html {
  const notes = place.kind === "file" ? place.notes.map((line) => html`<p class="note">${line}</p>\n`) : [];
  const lines = place.kind === "file" ? [] : (place.said ?? []).map((line) => html`<p>${line}</p>`);
  return html`<div id="notices" role="status">${lines}</div>\n${notes}`;
}

// Addresses on a served page, used by links and by routes.

/** The page of a branch. */
export function branchAddress(branch: string): string {
  return `/c/${encodeURIComponent(branch)}`;
}

/** The address of a branch as if a compaction were reverted. */
export function lookAddress(branch: string, without: string): string {
  return `${branchAddress(branch)}?without=${encodeURIComponent(without)}`;
}

/** A turn on the page of its branch, 0-based; `without` = as if that compaction were reverted. */
export function turnAddress(branch: string, turn: number, without?: string): string {
  return `${openedAt(branch, without)}at=${turn}#${turnAnchor(turn)}`;
}

/** An event of a turn on the page of its branch. */
export function eventAddress(branch: string, turn: number, id: string, without?: string): string {
  const anchor = encodeURIComponent(eventAnchor(id));
  return `${openedAt(branch, without)}at=${turn}:${encodeURIComponent(id)}#${anchor}`;
}

function openedAt(branch: string, without: string | undefined): string {
  return without === undefined ? `${branchAddress(branch)}?` : `${lookAddress(branch, without)}&`;
}

/** The page of a compaction: what it changes for the model, what is lost by it, its summary. */
export function compactionAddress(branch: string, compaction: string): string {
  return `${branchAddress(branch)}/compaction/${encodeURIComponent(compaction)}`;
}

/** Two branches side by side. */
export function compareAddress(branch: string, other: string): string {
  return `${branchAddress(branch)}/compare/${encodeURIComponent(other)}`;
}

/** What fills the window of a branch. */
export function anatomyAddress(branch: string): string {
  return `${branchAddress(branch)}/anatomy`;
}

/** What can be done with a branch; each is a form that is sent to its address. */
export type Action = "comment" | "compact" | "fork" | "label" | "pin" | "revert" | "title" | "uncomment" | "unpin";

export function actionAddress(branch: string, action: Action): string {
  return `${branchAddress(branch)}/${action}`;
}

/** The name of a turn; positions are 0-based. */
export function turnAnchor(turn: number): string {
  return `turn-${turn}`;
}

/** The name of an event. */
export function eventAnchor(id: string): string {
  return `event-${encodeURIComponent(id)}`;
}

/** The name of a compaction. */
export function compactionAnchor(id: string): string {
  return `compaction-${encodeURIComponent(id)}`;
}

/** The name of a comment. */
export function commentAnchor(id: string): string {
  return `comment-${encodeURIComponent(id)}`;
}

/** The name of a fact of a summary, by its position there. */
export function factAnchor(compaction: string, at: number): string {
  return `fact-${encodeURIComponent(compaction)}-${at}`;
}

/** The name of what is lost of one kind. */
export function lostAnchor(kind: string): string {
  return `lost-${kind}`;
}

// Targets of links: in a file an anchor of it; on a served page the page opened at that turn, so that links work without a script.

export interface PageLinks {
  turn(turn: number): string;
  event(turn: number, id: string): string;
  /** The whole text of an event, alone; null in a file. */
  text(turn: number, id: string): string | null;
  /** Turns, or rows of one turn, as HTML for the place of a gap; null in a file. */
  part(turns: Piece, rows?: Piece): string | null;
}

/** Gives the links of a page of a branch at a commit. */
export function pageLinks(
  place: Place,
  { branch, commit, without }: Pick<ConversationPage, "branch" | "commit" | "without">,
): PageLinks {
  if (place.kind === "file")
    return {
      turn: (turn) => `#${turnAnchor(turn)}`,
      event: (_, id) => `#${encodeURIComponent(eventAnchor(id))}`,
      text: () => null,
      part: () => null,
    };
  const address = branchAddress(branch);
  const at = `commit=${commit}${without === undefined ? "" : `&without=${encodeURIComponent(without)}`}`;
  return {
    turn: (turn) => turnAddress(branch, turn, without),
    event: (turn, id) => eventAddress(branch, turn, id, without),
    text: (turn, id) => `${address}/text?at=${turn}:${encodeURIComponent(id)}&${at}`,
    part: ({ from, to }, rows) =>
      `${address}/turns?from=${from}&to=${to}${rows === undefined ? "" : `&rows=${rows.from}..${rows.to}`}&${at}`,
  };
}
