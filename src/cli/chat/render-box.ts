// A box of text lines, as wide as its text and never wider than the terminal; plain ASCII where the terminal has no lines
// to draw.
import { forTerminal, forTerminalLine, type SafeText } from "../../core/safe-text.ts";
import { displayWidth, fitWidth } from "../frame/display-width.ts";

export interface BoxRendering {
  /** Columns of the terminal. */
  readonly width: number;
  /** Without line-drawing characters and emoji. */
  readonly ascii: boolean;
}

/** Renders the offer to compact a conversation of so many messages, keeping so many. */
export function renderOffer(messages: number, keep: number, rendering: BoxRendering): SafeText {
  const mark = rendering.ascii ? "" : "📦 ";
  const paragraphs = [
    `${mark}Conversation History Compaction`,
    "",
    `Your conversation has ${messages} messages and may be affecting performance. Compact older messages while preserving the most recent context?`,
    "",
    `[Y] Yes, compact now (keep last ${keep})`,
    "[N] Not now",
    "[V] Never ask again this session",
    "",
    "Tip: Use /compact anytime to compact manually",
  ];
  return renderBox(paragraphs, rendering);
}

/** Columns of text in a box that has room. */
const TEXT_WIDTH = 46;
/** A frame and a blank on either side. */
const FRAME = 4;

/** Renders paragraphs in a box; an empty one is an empty line. */
function renderBox(paragraphs: readonly string[], { width, ascii }: BoxRendering): SafeText {
  const columns = Math.max(1, Math.min(TEXT_WIDTH, width - FRAME));
  const [across, down, ...corners] = ascii ? ["-", "|", "+", "+", "+", "+"] : ["─", "│", "┌", "┐", "└", "┘"];
  const [topLeft, topRight, bottomLeft, bottomRight] = corners;
  const edge = (across ?? "").repeat(columns + 2);
  const lines = paragraphs.flatMap((paragraph) => wrap(paragraph, columns));
  const drawn = [
    `${topLeft}${edge}${topRight}`,
    ...lines.map((line) => `${down} ${line}${" ".repeat(columns - displayWidth(line))} ${down}`),
    `${bottomLeft}${edge}${bottomRight}`,
  ];
  return forTerminal(drawn.join("\n"));
}

/** Breaks a text at blanks; a longer word is cut. */
function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && displayWidth(longer) > columns) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line].map((each) => fitWidth(forTerminalLine(each), columns));
}
