// The status line before each prompt: how long the view is, and how much of the model's window it fills.

import type { ChatStatus } from "../../app/talk/chat-model.ts";
import { type SafeText, safe } from "../../core/safe-text.ts";
import type { Style } from "../frame/style.ts";
import { renderCount } from "../render/render-quantity.ts";

/** Renders it, e.g. `[52 messages] [ctx: 72%]`, `[Summary + 15 messages]`; the second part only where the window is known. */
export function renderStatus(status: ChatStatus, style: Style): SafeText {
  const { messages, summaries, window, isNearlyFull } = status;
  const count = renderCount(messages, "message");
  const hidden = summaries === 0 ? "" : summaries === 1 ? "Summary + " : safe`${summaries} summaries + `;
  const shown = style.faint(safe`[${hidden}${count}]`);
  if (window === null) return shown;
  const fill = safe`[ctx: ${Math.round((status.tokens / window) * 100)}%]`;
  return safe`${shown} ${isNearlyFull ? style.caution(fill) : style.faint(fill)}`;
}

/** What is said once when the view comes near the window. */
export function renderNearlyFull({ tokens, window }: ChatStatus): SafeText {
  const share = window === null ? "much" : safe`${Math.round((tokens / window) * 100)}%`;
  return safe`the conversation fills ${share} of the model's context; /compact makes room, /compact --preview shows what it would remove`;
}
