// The whole text of a view, the one that hunks of a diff number their lines by.
import { contentLines, indentLine, viewBlocks } from "../../src/app/diff/view-text.ts";
import type { View } from "../../src/core/projection/view.ts";

/** Headings at column 0, content indented. */
export function viewLines(view: View): string[] {
  return viewBlocks(view).flatMap(({ heading, content }) => [heading, ...contentLines(content).map(indentLine)]);
}
