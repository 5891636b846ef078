// The arguments of a call, which OpenAI's APIs hold as a text of JSON.

/** Gives the object that a text stands for; any other text is kept as it is. */
export function readArguments(text: unknown): unknown {
  if (typeof text !== "string") return text ?? {};
  if (text === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : text;
  } catch {
    return text; // cut short by the model
  }
}
