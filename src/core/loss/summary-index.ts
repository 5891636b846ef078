// Whether the text of a summary holds a fact: words are looked up, everything else is found in it.
import type { FactKind } from "../compaction/loss-receipt.ts";
import { commandLineOf } from "./command-facts.ts";
import { factsOfText } from "./facts.ts";
import { pathOf } from "./path-word.ts";
import { indexText } from "./text-index.ts";

/** Whether the summary holds a fact of a kind. */
export type HoldsFact = (kind: FactKind, text: string) => boolean;

/** Indexes the text of a summary; undefined = there is none. Of a command its line counts, not how it ended. */
export function indexSummary(summary: string | undefined): HoldsFact {
  if (summary === undefined) return () => false;
  const facts = factsOfText(summary);
  const holds = indexText(summary);
  return (kind, text) => {
    if (facts.get(kind)?.has(text) === true) return true;
    switch (kind) {
      case "commands":
        return holds(commandLineOf(text));
      case "errors":
      case "requests":
      case "pins":
        return holds(text);
      case "files":
        // A name that only the arguments of a call show to be a file, such as Makefile.
        return pathOf(text) !== text && holds(text);
      default:
        return false;
    }
  };
}
