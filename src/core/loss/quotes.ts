// The quotations in a text: what stands between "…", “…” or backticks within one line. One pass over each line.
import { scanLines } from "./line-facts.ts";

/** Shortest and longest quotation that is looked up, characters. */
const SHORTEST = 8;
const LONGEST = 1000;
/** Opening marks and what closes them. */
const MARKS: Readonly<Partial<Record<string, string>>> = { '"': '"', "“": "”", "`": "`" };

/** Gives the quotations of at least 8 characters, in order, without their marks; inner ones are not looked into. */
export function listQuotes(text: string): readonly string[] {
  const quotes: string[] = [];
  scanLines(text, (start, end) => {
    for (const quote of quotesInLine(text.slice(start, end)))
      if (quote.trim().length >= SHORTEST && quote.length <= LONGEST) quotes.push(quote);
  });
  return quotes;
}

function quotesInLine(line: string): readonly string[] {
  const quotes: string[] = [];
  // Marks that nothing closes on the rest of the line.
  const alone = new Set<string>();
  for (let at = 0; at < line.length; at += 1) {
    const closing = MARKS[line[at] as string];
    if (closing === undefined || alone.has(closing)) continue;
    const close = line.indexOf(closing, at + 1);
    if (close < 0) alone.add(closing);
    else {
      quotes.push(line.slice(at + 1, close));
      at = close;
    }
  }
  return quotes;
}

/** Gives the parts of a quotation that must be found: it may be cut by `…` or `...`, and end in marks of the sentence around it. */
export function quotedParts(quote: string): readonly string[] {
  return normalBlanks(quote)
    .split(/…|\[…\]|\.\.\./)
    .map((part) => part.replace(/^[\s[\]]+|[\s[\].,;:!?]+$/g, ""))
    .filter((part) => part.length > 2);
}

/** Makes each run of white space one blank and typographic quotation marks plain ones. */
export function normalBlanks(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[“”]/g, '"').replace(/[‘’]/g, "'");
}
