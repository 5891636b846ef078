// The tokenizer, for conversations without recorded usage: loaded when asked for, since its tables are several megabytes.
// Exact for models of OpenAI up to special tokens; for Claude the nearest table there is. Either way an estimate.
import { codeOf } from "../../core/errors.ts";
import { type Event, traitsOf } from "../../core/event/event.ts";
import { measureEvent, type TextMeasure } from "../../core/tokens/token-estimate.ts";

/** A tokenizer at work. */
export interface EventCounter {
  /** The table it counts by. */
  readonly name: "claude" | "o200k";
  /** Counts the tokens of one event, whole, ≥ 0. */
  readonly countEvent: (event: Event) => number;
}

/** Longest run without a blank counted at once: the merging of tokens is quadratic in it, 80,000 letters take 5 s. */
const LONGEST_RUN = 2000;
/**
 * Characters after which the tokenizer begins anew. It remembers how words are cut; dropping the oldest of what it remembers walks
 * over all that were dropped before, which is quadratic in the words of a conversation, and dropping none keeps them all in memory.
 */
const FRESH_AFTER = 1_000_000;
/** Tokens of Claude models per token of the table, measured against recorded usage. */
const CLAUDE_FACTOR = 1.1;

/**
 * Loads the tokenizer of a model: the table of Claude for Claude models, else o200k_base. Takes 0.15 s and 0.5 s.
 * Null where the package is not installed: counting is no reason to fail.
 */
export async function loadTokenizer(model: string | null): Promise<EventCounter | null> {
  const isClaude = model?.toLowerCase().includes("claude") ?? false;
  const loaded = await loadTable(isClaude);
  if (loaded === null) return null;
  const create = () => new loaded.Tokenizer(loaded.table, undefined, Number.POSITIVE_INFINITY);
  let [tokenizer, left] = [create(), FRESH_AFTER];
  const encode = (piece: string): number => {
    if (left < 0) [tokenizer, left] = [create(), FRESH_AFTER];
    left -= piece.length;
    // "all": what looks like a special token is text here, and must not throw.
    return tokenizer.encode(piece, "all").length;
  };
  const factor = isClaude ? CLAUDE_FACTOR : 1;
  const count = (text: string): number => cutRuns(text).reduce((tokens, piece) => tokens + encode(piece), 0) * factor;
  const measure: TextMeasure = {
    text: count,
    json: (value, _charsPerToken, name = "") => count(`${name}${JSON.stringify(value) ?? ""}`),
  };
  return {
    name: isClaude ? "claude" : "o200k",
    countEvent: (event) => (traitsOf(event).providerVisible ? measureEvent(event, measure) : 0),
  };
}

async function loadTable(isClaude: boolean) {
  try {
    const { Tokenizer } = await import("ai-tokenizer");
    const table = await (isClaude
      ? import("ai-tokenizer/encoding/claude")
      : import("ai-tokenizer/encoding/o200k_base"));
    return { Tokenizer, table };
  } catch (error) {
    if (codeOf(error) === "ERR_MODULE_NOT_FOUND") return null;
    throw error;
  }
}

/** Cuts a text so that no piece has a run longer than LONGEST_RUN; most texts have none and stay whole. */
export function cutRuns(text: string): readonly string[] {
  if (text.length <= LONGEST_RUN) return [text];
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(text.length, start + LONGEST_RUN);
    if (end < text.length) end = lastBreak(text, start, end);
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

/** The last place after `start` where a new word begins; inside one run, its end, not between two halves of a character. */
function lastBreak(text: string, start: number, end: number): number {
  for (let at = end; at > start + LONGEST_RUN / 2; at--) {
    if (isBlank(text.charCodeAt(at)) && !isBlank(text.charCodeAt(at - 1))) return at;
  }
  return isLowSurrogate(text.charCodeAt(end)) ? end - 1 : end;
}

function isBlank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
