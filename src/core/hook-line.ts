// The line in an agent's settings on Windows. Agents pass it to cmd.exe (Codex, OpenCode) or PowerShell (Gemini CLI), some with
// quotes around it that are not theirs to add: only words that need no quoting mean the same to all of them.

/** What no shell of Windows changes, and none takes for an option: `/` at the beginning of a word of cmd.exe is one. */
const PLAIN_WORD = /^(?:[A-Za-z]:\\)?[\p{L}\p{N}_.\\-]+$/u;

/** Joins a program and its arguments to a line that cmd.exe and PowerShell read alike; null when there is none. */
export function plainLine(words: readonly string[]): string | null {
  return words.every((word) => PLAIN_WORD.test(word)) ? words.join(" ") : null;
}
