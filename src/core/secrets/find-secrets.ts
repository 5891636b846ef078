// Finds secrets in a text by jpg's own rules. Linear in the text: one pass for the kinds with a mark, one for each vague one.
import { createStartFinder } from "./first-characters.ts";
import { isDocumented, looksRandom, mayBePassword } from "./likely-secret.ts";
import { AFTER_TOKEN, BEFORE_TOKEN, SECRET_RULES, type SecretRule, VAGUE_RULES } from "./secret-rules.ts";

/** A secret in a text. */
export interface FoundSecret {
  /** Its kind, e.g. `stripe`. */
  readonly rule: string;
  /** Positions in UTF-16 units, 0-based; `end` is behind the last. */
  readonly start: number;
  readonly end: number;
}

const TOKENS = SECRET_RULES.filter(({ isToken }) => isToken === true);
const OTHERS = SECRET_RULES.filter(({ isToken }) => isToken !== true);
// What comes before a token is looked at once for all of them: for each it would take forty times as long.
const MARKED = new RegExp(`${BEFORE_TOKEN}(?:${formsOf(TOKENS)})|${formsOf(OTHERS)}`, "y");
const IN_ORDER = [...TOKENS, ...OTHERS];
const nextStart = createStartFinder(SECRET_RULES.flatMap(({ forms }) => forms));
const VAGUE = VAGUE_RULES.map(({ id, form }) => ({ id, pattern: new RegExp(form, "dgi") }));

/** Lists what the rules find, in order; of two that overlap the first and longer. */
export function findSecrets(text: string): readonly FoundSecret[] {
  const found: FoundSecret[] = [];
  for (let at = nextStart(text, 0); at >= 0; ) {
    const end = at + putMarked(text, at, found);
    at = nextStart(text, Math.max(end, at + 1));
  }
  for (const { id, pattern } of VAGUE) {
    for (const { 1: value = "", indices } of text.matchAll(pattern)) {
      const [start, end] = indices?.[1] ?? [0, 0];
      // In an address nothing else stands there.
      if (id === "url-credentials" ? mayBePassword(value) : looksRandom(value)) found.push({ rule: id, start, end });
    }
  }
  return withoutOverlaps(found);
}

/** Puts what a kind with a mark finds at a position; gives its length, 0 where none does. */
function putMarked(text: string, start: number, found: FoundSecret[]): number {
  MARKED.lastIndex = start;
  const match = MARKED.exec(text);
  if (match === null) return 0;
  const [value] = match;
  const rule = IN_ORDER[match.indexOf(value, 1) - 1];
  if (rule !== undefined && !isDocumented(value)) found.push({ rule: rule.id, start, end: start + value.length });
  return value.length;
}

function formsOf(rules: readonly SecretRule[]): string {
  return rules.map(({ forms, isToken }) => `((?:${forms.join("|")})${isToken ? AFTER_TOKEN : ""})`).join("|");
}

/** Keeps of finds that overlap the one that begins first, of those that begin together the longest. */
export function withoutOverlaps(found: readonly FoundSecret[]): readonly FoundSecret[] {
  const kept: FoundSecret[] = [];
  const ordered = [...found].sort((a, b) => a.start - b.start || b.end - a.end);
  for (const secret of ordered) if (secret.start >= (kept.at(-1)?.end ?? 0)) kept.push(secret);
  return kept;
}
