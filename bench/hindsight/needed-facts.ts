// What hindsight knows: the facts of the past that the agent wrote again by itself, before anybody told it again. Showing them
// saves a search, a second reading, or a wrong guess.

import { indexText } from "../../src/core/compact/words.ts";
import type { Event } from "../../src/core/conversation/event.ts";
import type { Cut } from "./cut.ts";
import { type FactKey, kindOfFact, textOfFact } from "./fact.ts";
import type { FactReader } from "./fact-reader.ts";

/** A needed fact. */
export interface NeededFact {
  readonly fact: FactKey;
  /** Positions in the past of the events that hold it, ascending, never empty. A fact with only one is a needle. */
  readonly sources: readonly number[];
  /** The event of the agent's that writes it first. */
  readonly use: Event;
}

/** Whether exactly one event of the past holds a fact. */
export function isNeedle({ sources }: NeededFact): boolean {
  return sources.length === 1;
}

/** Lists the needed facts of a cut in the order in which they are written. */
export function listNeededFacts({ past, future }: Pick<Cut, "past" | "future">, reader: FactReader): NeededFact[] {
  const uses = new Map<FactKey, Event>([...listWordUses(future, reader), ...listErrorUses(past, future, reader)]);
  const sources = findSources([...uses.keys()], past, reader);
  return [...uses].flatMap(([fact, use]) => {
    const found = sources.get(fact) ?? [];
    return found.length === 0 ? [] : [{ fact, sources: found, use }];
  });
}

/** Whether the agent wrote it: its answers, thoughts and calls. */
export function isAgents({ type }: Event): boolean {
  return type === "chat_response" || type === "tool_call_request";
}

/** The first event of the agent's that writes each word, of those that nobody said before it since the cut. */
function listWordUses(future: readonly Event[], reader: FactReader): ReadonlyMap<FactKey, Event> {
  const uses = new Map<FactKey, Event>();
  const said = new Set<FactKey>();
  for (const event of future) {
    if (isAgents(event)) for (const fact of reader.written(event)) if (!said.has(fact)) uses.set(fact, event);
    for (const fact of reader.shown(event)) said.add(fact);
  }
  return uses;
}

/** The same of error lines that results showed in the past: the agent quotes them. */
function listErrorUses(
  past: readonly Event[],
  future: readonly Event[],
  reader: FactReader,
): ReadonlyMap<FactKey, Event> {
  const holds = indexText(future.filter(isAgents).map(reader.text).join("\n"));
  const uses = new Map<FactKey, Event>();
  for (const line of new Set(past.flatMap(reader.errors))) {
    if (!holds(line)) continue;
    const first = future.find((event) => reader.text(event).includes(line));
    if (first !== undefined && isAgents(first)) uses.set(`error ${line}`, first);
  }
  return uses;
}

function findSources(
  facts: readonly FactKey[],
  past: readonly Event[],
  reader: FactReader,
): ReadonlyMap<FactKey, readonly number[]> {
  const sources = new Map<FactKey, number[]>(facts.map((fact) => [fact, []]));
  const lines = facts.filter((fact) => kindOfFact(fact) === "error");
  for (const [position, event] of past.entries()) {
    for (const fact of reader.shown(event)) sources.get(fact)?.push(position);
    for (const fact of lines) if (reader.text(event).includes(textOfFact(fact))) sources.get(fact)?.push(position);
  }
  return sources;
}
