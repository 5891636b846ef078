// How renderers are called in tests: without colours, on 80 columns; and with colours as readable marks.

import { createStyle, type Rendering, type Style } from "../../src/cli/frame/terminal.ts";
import { safe } from "../../src/core/safe-text.ts";

export const PLAIN: Rendering = { style: createStyle(false), width: 80 };

/** Marks the words of a diff as `git diff --word-diff` does. */
export const WORD_MARKS: Style = {
  ...createStyle(false),
  removedWord: (text) => safe`[-${text}-]`,
  addedWord: (text) => safe`{+${text}+}`,
};
