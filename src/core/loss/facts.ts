// The facts that one event holds, by kind: what a reader may need again and a shortened view may lose. Deterministic, and
// linear in the texts of the event.
import type { FactKind } from "../compaction/loss-receipt.ts";
import type { Event } from "../event/event.ts";
import { filesNamed } from "./call-traces.ts";
import { textsOf } from "./event-texts.ts";
import { errorLines, requestSentences } from "./line-facts.ts";
import { normalPath } from "./path-word.ts";
import { scanFacts } from "./word-facts.ts";

/** Facts by kind, each once, in order of appearance; kinds without facts are absent. */
export type Facts = ReadonlyMap<FactKind, ReadonlySet<string>>;

/**
 * Gives the facts of an event as a model is sent it. Commands are none here (they need the view, see command-facts.ts),
 * nor are pins.
 */
export function factsOf(event: Event): Facts {
  const facts = new Map<FactKind, Set<string>>();
  const add = (kind: FactKind, fact: string): void => {
    const known = facts.get(kind);
    if (known === undefined) facts.set(kind, new Set([fact]));
    else known.add(fact);
  };
  if (event.type === "tool_call_request")
    for (const file of filesNamed(event.arguments)) add("files", normalPath(file));
  for (const text of textsOf(event)) scanFacts(text, add);
  for (const line of errorLines(event)) add("errors", line);
  for (const sentence of requestSentences(event)) add("requests", sentence);
  return facts;
}

/** Gives the facts of a plain text that are single words. */
export function factsOfText(text: string): Facts {
  return factsOf({ type: "chat_response", id: "", timestamp: "", message: text });
}
