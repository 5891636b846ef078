// The text of a session file: as lines, read by position, so that a format never holds all lines parsed at once; and whole,
// for formats that are one document.

/** Text of a file. Line numbers are 0-based; bytes are offsets into the file. */
export interface SessionSource {
  /** Number of lines; a last line without a final newline counts. */
  readonly lineCount: number;
  readonly byteLength: number;
  /** Text of a line without its line end (`\n` or `\r\n`). Invalid UTF-8 comes as U+FFFD. */
  line(index: number): string;
  /** Offset of the line's first byte; `lineCount` gives byteLength. */
  lineStart(index: number): number;
  /** The whole text, line ends as they are. Not for files of lines: they may be larger than memory allows. */
  text(): string;
}
