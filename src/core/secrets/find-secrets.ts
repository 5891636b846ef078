// Finds secrets in a text by jpg's own rules. Linear in the text: one pass for the kinds with a mark, one for each vague one.
import { createStartFinder } from "./first-characters.ts";
import { hasBothCases, holdsPassword, isDocumented, looksRandom, mayBePassword } from "./likely-secret.ts";
import {
  AFTER_TOKEN,
  BEFORE_TOKEN,
  mayBeginToken,
  SECRET_RULES,
  type SecretRule,
  VAGUE_RULES,
} from "./secret-rules.ts";

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
const TOKEN = new RegExp(`${BEFORE_TOKEN}(?:${formsOf(TOKENS)})`, "y");
const OTHER = new RegExp(formsOf(OTHERS), "g");
const nextStart = createStartFinder(TOKENS.flatMap(({ forms }) => forms));
const VAGUE = VAGUE_RULES.map(({ id, form }) => ({ id, pattern: new RegExp(form, "dgi") }));

/** What a value has to look like; else as if it had been made by a generator. In an address nothing but a password stands there. */
const LIKELY: Readonly<Partial<Record<string, (value: string) => boolean>>> = {
  "url-credentials": mayBePassword,
  "curl-login": mayBePassword,
  "login-option": (value) => looksRandom(value) && hasBothCases(value),
  basic: holdsPassword,
};

/** Lists what the rules find, in order; of two that overlap the first and longer. */
export function findSecrets(text: string): readonly FoundSecret[] {
  const found: FoundSecret[] = [];
  putTokens(text, found);
  for (const match of text.matchAll(OTHER)) putMarked(match, OTHERS, found);
  for (const { id, pattern } of VAGUE) {
    for (const { 1: value = "", indices } of text.matchAll(pattern)) {
      const [start, end] = indices?.[1] ?? [0, 0];
      const isLikely = LIKELY[id] ?? looksRandom;
      if (isLikely(value)) found.push({ rule: id, start, end });
    }
  }
  return withoutOverlaps(found);
}

function putTokens(text: string, found: FoundSecret[]): void {
  for (let at = nextStart(text, 0); at >= 0; ) {
    TOKEN.lastIndex = at;
    const match = mayBeginToken(text, at) ? TOKEN.exec(text) : null;
    if (match !== null) putMarked(match, TOKENS, found);
    at = nextStart(text, match === null ? at + 1 : TOKEN.lastIndex);
  }
}

/** Puts what one of the rules matched, whose groups stand in their order. */
function putMarked(match: RegExpExecArray, rules: readonly SecretRule[], found: FoundSecret[]): void {
  const { 0: value, index: start } = match;
  const rule = rules[match.indexOf(value, 1) - 1];
  if (rule !== undefined && !isDocumented(value)) found.push({ rule: rule.id, start, end: start + value.length });
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
