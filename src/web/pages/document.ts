// The frame of every page: what stands in a document's head, and the style that it is drawn in.
import { type Html, html } from "./html.ts";
import type { PackText } from "./long-text.ts";

/** Text of jpg's own that stands in a page, which the page's policy allows by its digest: SHA-256, base64. */
export interface OwnText {
  readonly text: string;
  readonly digest: string;
}

/** Where a page stands: by itself in a file, with its style and its script in it; or served, where it can ask and act. */
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

/** Draws a whole document; `body` is all that stands between its body tags. */
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
