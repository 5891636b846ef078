// A view as the body of a generateContent request: the hardened thread without the marks of where it came from.
import { textOfContent, type View } from "../../core/conversation/event.ts";
import { type GoogleOptions, toGoogleThread } from "../../core/model/google-thread.ts";
import { splitPrompts } from "../../core/model/thread.ts";

/** One content as the API takes it. */
interface ExportedGoogleContent {
  readonly role: "user" | "model";
  readonly parts: readonly Readonly<Record<string, unknown>>[];
}

interface GoogleExport {
  /** System prompt of the conversation, when its events hold one; absent otherwise. */
  readonly systemInstruction?: { readonly parts: readonly [{ readonly text: string }] };
  readonly contents: readonly ExportedGoogleContent[];
}

/** Exports a view. System prompts before everything else become `systemInstruction`. */
export function exportGoogle(view: View, options: GoogleOptions = {}): GoogleExport {
  const { prompts, rest } = splitPrompts(view);
  const text = prompts.map((event) => textOfContent(event.content)).join("\n\n");
  const { messages } = toGoogleThread(rest, options);
  return {
    ...(text.trim() !== "" && { systemInstruction: { parts: [{ text }] } }),
    contents: messages.map(({ role, blocks }) => ({
      role: role === "assistant" ? "model" : "user",
      parts: blocks.map(({ block }) => block),
    })),
  };
}
