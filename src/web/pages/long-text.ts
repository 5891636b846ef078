// Long texts on a page: of very long ones the beginning and the end stand there; in a file what tools were asked and gave is
// packed but for its beginning, and the page's script unpacks it.
import { forMarkdown } from "../../core/safe-text.ts";
import { type Html, html } from "./html.ts";
import { plainBlock } from "./markdown.ts";

/** Longest text that stands on a page, characters: of a longer one the beginning and the end do. */
const LONGEST = 100_000;
const END = 2000;
/** Texts from here on are packed, characters, but for so many at their beginning. */
const PACKED = 3000;
const BEGINNING = 1500;

/** Writes a text as HTML. */
export type Write = (text: string) => Html;

/** Gives a text as `deflate-raw` in base64. */
export type PackText = (text: string) => string;

export interface LongTextOptions {
  /** Of the event that says it. */
  readonly id: string;
  /** Where the whole text of what is cut is; null = `jpg show` prints it. */
  readonly address: string | null;
}

/** Writes a text; leaves out the middle of a very long one. */
export function writeCut(text: string, write: Write, { address, id }: LongTextOptions): Html {
  if (text.length <= LONGEST) return write(text);
  const hidden = text.length - LONGEST;
  const where =
    address === null ? html`<code>jpg show ${id}</code> prints it` : html`<a href="${address}">the whole text</a>`;
  return html`${plainBlock(text.slice(0, LONGEST - END))}<p class="note">${hidden} characters are left out here: ${where}</p>${plainBlock(text.slice(-END))}`;
}

/** Writes a text of which a long rest is packed: the script appends it to what `write` made, as text. */
export function writePacked(
  text: string,
  write: Write,
  { pack, id }: { readonly pack: PackText; readonly id: string },
): Html {
  // What turns text around is made visible before, so that nothing comes out of it that a page would not show.
  const safe = forMarkdown(text);
  if (safe.length < PACKED || safe.length > LONGEST) return writeCut(text, write, { address: null, id });
  const isSplit = /[\ud800-\udbff]/.test(safe.charAt(BEGINNING - 1));
  const at = isSplit ? BEGINNING + 1 : BEGINNING;
  const rest = safe.slice(at);
  return html`${write(safe.slice(0, at))}<p class="note packed" data-rest="${pack(rest)}">${rest.length} more characters: the page's script unpacks them, <code>jpg show ${id}</code> prints them</p>`;
}
