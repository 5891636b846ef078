// The message of the commit that merges a fork: what the model is told of it, for reviewers, and a trailer by which the commit is
// known. Invariant: no text of a conversation can pass for a trailer, for it stands in a fence.

import { nameToldTurns, type ToldTurns } from "../../core/compact/fork-merge.ts";
import type { Summary } from "../../core/conversation/compaction.ts";
import { conversationOf, forkOf } from "../../core/conversation/name.ts";
import { fence, forHostLine, forLine } from "../../core/safe-text.ts";
import { quoteStart } from "./quoted-text.ts";

const TRAILER = "Jpg-Merge";
/** Longest name of a model in a trailer, characters. */
const NAME_LENGTH = 100;

/** Most of the summary, bytes: hosts cut what is longer. */
const SUMMARY_BYTES = 50_000;

/** What a merge of a fork brings to a branch. */
export interface ForkMerge {
  readonly told: ToldTurns;
  /** The branch that gets it. */
  readonly branch: string;
  /** Position of the turn that tells of the fork, 0-based. */
  readonly turn: number;
  readonly summary: Summary;
}

/** Makes the message. */
export function forkMergeMessage({ told, branch, turn, summary }: ForkMerge): string {
  const fork = conversationOf(told.branch) === conversationOf(branch) ? forkOf(told.branch) : told.branch;
  const turns = nameToldTurns(told);
  const model = summary.source === "generated" ? oneLine(summary.model ?? "") : "";
  const trailers = [`${TRAILER}: ${forLine(told.branch)} ${told.from_turn}..${told.from_turn + told.turns.length - 1}`];
  return [
    `merge ${forLine(fork)}: ${turns} as turn ${turn}`,
    `Turn ${turn} tells the model what was said and done on the fork ${forLine(fork)}, in ${turns} of it.\nThe turns themselves stay there; no compaction, source or setting of the fork comes along.`,
    `${headingOf(summary)}:\n${fence(quoteStart(summary.summary, SUMMARY_BYTES, `jpg print --turn ${turn}`))}`,
    `${[...trailers, ...(model === "" ? [] : [`Jpg-Model: ${model}`])].join("\n")}\n`,
  ].join("\n\n");
}

function headingOf({ source, model }: Summary): string {
  if (source === "generated") return `Summary, written by ${oneLine(model ?? "a model")}`;
  return source === "extractive" ? "Summary, an extract that no model wrote" : "Summary, written by a person";
}

function oneLine(name: string): string {
  return forHostLine(forLine(name, NAME_LENGTH));
}

/** Whether a message says that its commit merges a fork. */
export function isForkMergeMessage(message: string): boolean {
  const last = message.trimEnd().split("\n\n").at(-1) ?? "";
  return last.split("\n").some((line) => line.startsWith(`${TRAILER}: `));
}
