// What went wrong in node-llama-cpp, as the error of jpg.
import { JpgError, messageOf } from "../core/errors.ts";
import { createFailure, type FailureTarget } from "./failure.ts";
import { WindowError } from "./gguf-engine.ts";
import type { LlamaLibrary } from "./gguf-library.ts";
import { toShownText } from "./shown-text.ts";

const WINDOW_SETTING = "providers.gguf.context_tokens";
const OTHER = "`--model PROVIDER/MODEL` asks another model.";

/** Translates what loading a model or generating threw: `context_overflow`, `provider_failed`. */
export function toGgufError(target: FailureTarget, library: LlamaLibrary, error: unknown): JpgError {
  if (error instanceof JpgError) return error;
  if (error instanceof WindowError)
    return createFailure(target, "context_overflow", { more: ` (${error.message})` }).error;
  if (error instanceof library.InsufficientMemoryError) {
    const what = "does not fit into the memory of this machine with this conversation";
    const hints = [
      `${WINDOW_SETTING} = 8192 in your settings makes its window smaller.`,
      "`jpg compact` makes the conversation shorter.",
      OTHER,
    ];
    return createFailure(target, "provider_failed", { what, hints }).error;
  }
  const reason = toShownText(messageOf(error), undefined);
  return createFailure(target, "provider_failed", { more: `: ${reason}`, hints: [OTHER] }).error;
}
