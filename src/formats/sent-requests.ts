// What an agent sent, where its session files hold it, and the first place at which a view differs from it.
import type { SessionSource } from "./session-source.ts";

/** How to read what was sent. Pure. */
export interface SentLog {
  /** Reads the requests of the conversation itself, in file order; none where the file holds none. Never throws. */
  read(source: SessionSource, sha256: (text: string) => string): readonly SentRequest[];
  /** Reduces messages to what the user, the model and its tools said: without what the agent adds of its own. Never throws. */
  said(messages: readonly unknown[]): readonly SaidBlock[];
}

/** One request. */
export interface SentRequest {
  /** Its line, 0-based: what the lines before it hold is what the agent knew. */
  readonly line: number;
  /** The model that it went to; absent = not stated. */
  readonly model?: string;
  /** Number of its messages; an upper bound where some are missing. */
  readonly messageCount: number;
  /** Puts it together; a string says why that cannot be done. */
  blocks(): readonly SaidBlock[] | string;
}

/** A block of a message, reduced to what is compared. */
export interface SaidBlock {
  /** Message that it is in, 0-based. */
  readonly message: number;
  readonly role: "user" | "assistant";
  /** What it is, such as `a tool result of toolu_1`. */
  readonly name: string;
  /** What is compared; equal texts under one role are equal blocks. */
  readonly text: string;
}

/** The first place at which two lists differ. */
export interface SentDifference {
  /** Message of the request, 0-based. */
  readonly message: number;
  /** What differs there, without a full stop. */
  readonly text: string;
}

/** How far the other list is searched for a block that one list has too much. */
const SEARCHED_BLOCKS = 200;

/** Finds the first difference between what was sent and what jpg shows; null = they are equal. */
export function findSentDifference(sent: readonly SaidBlock[], shown: readonly SaidBlock[]): SentDifference | null {
  const length = Math.max(sent.length, shown.length);
  for (let at = 0; at < length; at++) {
    const [there, here] = [sent[at], shown[at]];
    if (there !== undefined && here !== undefined && isEqual(there, here)) continue;
    return { message: there?.message ?? (sent.at(-1)?.message ?? -1) + 1, text: describe(sent, shown, at) };
  }
  return null;
}

function isEqual(a: SaidBlock, b: SaidBlock): boolean {
  return a.role === b.role && a.text === b.text;
}

function describe(sent: readonly SaidBlock[], shown: readonly SaidBlock[], at: number): string {
  const [there, here] = [sent[at], shown[at]];
  if (here === undefined) return `${quote(there)} was sent, which jpg does not have`;
  if (there === undefined) return `jpg has ${quote(here)}, which was not sent`;
  const isAdded = hasLater(shown, there, at);
  const isMissing = hasLater(sent, here, at);
  if (isAdded && !isMissing) return `jpg has ${quote(here)}, which was not sent there`;
  if (isMissing && !isAdded) return `${quote(there)} was sent, which jpg does not have there`;
  if (isAdded || there.name !== here.name || there.role !== here.role)
    return `${quote(there)} was sent, where jpg has ${quote(here)}`;
  const place = firstDifference(there.text, here.text);
  return `${there.name} differs at character ${place}: sent was “${excerpt(there.text, place)}”, jpg has “${excerpt(here.text, place)}”`;
}

function hasLater(list: readonly SaidBlock[], block: SaidBlock, at: number): boolean {
  return list.slice(at + 1, at + 1 + SEARCHED_BLOCKS).some((other) => isEqual(other, block));
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

const EXCERPT_LENGTH = 60;

function excerpt(text: string, at: number): string {
  const from = Math.max(0, at - EXCERPT_LENGTH / 3);
  const part = text.slice(from, from + EXCERPT_LENGTH);
  return `${from > 0 ? "…" : ""}${part}${from + part.length < text.length ? "…" : ""}`;
}

function quote(block: SaidBlock | undefined): string {
  return block === undefined ? "nothing" : `${block.name} (“${excerpt(block.text, 0)}”)`;
}
