// The reminder: how text that no person wrote stands inside a user message, where a provider takes no system message.

/** Puts a text between the marks of a reminder; one that has them already is given back as it is. */
export function formatReminder(text: string): string {
  return text.trimStart().startsWith("<system-reminder>") ? text : `<system-reminder>\n${text}\n</system-reminder>`;
}
