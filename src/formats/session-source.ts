// The text of a session file as lines, read by position, so that a format never holds all lines parsed at once.

/** Lines of a file. Line numbers are 0-based; bytes are offsets into the file. */
export interface SessionSource {
  /** Number of lines; a last line without a final newline counts. */
  readonly lineCount: number;
  readonly byteLength: number;
  /** Text of a line without its line end (`\n` or `\r\n`). Invalid UTF-8 comes as U+FFFD. */
  line(index: number): string;
  /** Offset of the line's first byte; `lineCount` gives byteLength. */
  lineStart(index: number): number;
}
