// The system prompt of a conversation whose events hold one: providers take it beside the messages.
import { textOfContent } from "../event/content.ts";
import type { ChatRequest, Event } from "../event/event.ts";
import type { ProjectedTurn, View } from "../projection/view.ts";

/** A view without its leading prompts, and those. */
export interface PromptSplit {
  /** In order; empty when the events hold none. */
  readonly prompts: readonly ChatRequest[];
  readonly rest: View;
}

/** Parts a view from the system and developer requests that no harness or summary made and that stand before all messages. */
export function splitPrompts(view: View): PromptSplit {
  const found = promptsIn(view);
  if (found.length === 0) return { prompts: [], rest: view };
  const prompts = new Set<Event>(found);
  const turns = view.turns.map((turn) => ({ ...turn, events: turn.events.filter((event) => !prompts.has(event)) }));
  return { prompts: found, rest: { turns } };
}

/** The prompts that some turns begin with, those of a conversation where the turns are its first. */
export function leadingPrompts(turns: Iterable<Pick<ProjectedTurn, "events">>): readonly ChatRequest[] {
  const found: ChatRequest[] = [];
  for (const turn of turns) {
    for (const event of turn.events) {
      if (isPrompt(event)) found.push(event);
      else if (/^(chat|tool_call)_/.test(event.type)) return found;
    }
  }
  return found;
}

/** A summary of the first turns stands before the prompts that it keeps of them. */
function promptsIn({ turns }: View): readonly ChatRequest[] {
  const first = turns.filter(({ origin }) => origin.kind === "kept" && origin.turn === 0);
  return [...new Set([...leadingPrompts(turns), ...leadingPrompts(first)])];
}

/** Joins a system prompt with those that a view begins with, blank ones left out; "" when there is none. */
export function joinPrompts(system: string | undefined, prompts: readonly ChatRequest[]): string {
  const texts = [system ?? "", ...prompts.map((event) => textOfContent(event.content))];
  return texts.filter((text) => text.trim() !== "").join("\n\n");
}

function isPrompt(event: Event): event is ChatRequest {
  if (event.type !== "chat_request" || event.metadata?.origin !== undefined) return false;
  return event.role === "system" || event.role === "developer";
}
