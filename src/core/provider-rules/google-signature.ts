// Thought signatures of Gemini: what one looks like, the dummy that stands for one, and where the current turn begins, in
// which the API asks for them (rules G8–G10).

/** What Google's documentation gives for calls that another model made. */
export const DUMMY_SIGNATURE = "skip_thought_signature_validator";

/** Whether a value can be a signature: base64, either alphabet, not empty. The dummy is none. */
export function isSignature(value: unknown): value is string {
  return typeof value === "string" && value !== DUMMY_SIGNATURE && /^[A-Za-z0-9+/_-]+={0,2}$/.test(value);
}

/** A content as far as turns are found in it. */
interface TurnContent {
  readonly role: string;
  readonly parts: readonly Readonly<Record<string, unknown>>[];
}

/** Position of the newest user content that holds a text: the current turn begins there. -1 when there is none. */
export function currentTurnStart(contents: readonly TurnContent[]): number {
  return contents.findLastIndex(
    ({ role, parts }) => role === "user" && parts.some((part) => typeof part["text"] === "string"),
  );
}
