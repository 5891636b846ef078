// The frame of every page: what stands in a document's head, and the style that it is drawn in.
import { type Html, html, nothing } from "./html.ts";

/** Where a page stands: by itself in a file, with its style in it; or served, where it can ask and act. */
export type Place =
  | {
      readonly kind: "file";
      readonly css: string;
      /** SHA-256 of `css`, base64: what the page's policy allows it by. */
      readonly digest: string;
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
  // jpg's own style sheet is no text: it is not escaped as a text is.
  const style = place.kind === "file" ? `${policyOf(place.digest)}<style>${place.css}</style>\n` : String(SERVED_HEAD);
  return `${start}${style}${html`</head>
<body>
${notices(place)}${body}</body>
</html>
`}`;
}

const SERVED_HEAD = html`<link rel="stylesheet" href="/page.css">
<script src="/page.js" defer></script>
`;

function policyOf(digest: string): Html {
  const policy = `default-src 'none'; style-src 'sha256-${digest}'; img-src data:; base-uri 'none'; form-action 'none'`;
  return html`<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
`;
}

/** What was said, and room for what the page is told while it is open. */
function notices(place: Place): Html {
  if (place.kind === "file") return nothing;
  const lines = (place.said ?? []).map((line) => html`<p>${line}</p>`);
  return html`<div id="notices" role="status">${lines}</div>\n`;
}
