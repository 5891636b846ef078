// Words that tell what a sentence is for: a decision, trouble and what came of it, or what the user wants from now on. They only
// rank sentences, so a miss costs a sentence, never a fact of the ledger.

/** What the assistant decided, and why. */
export const DECISION: RegExp =
  /\b(?:decid\w+|chos(?:e|en)|choos\w+|instead of|rather than|opt(?:ed|ing)? for|because|so that|trade-?offs?|must(?: not|n't)?|never|always|constraint\w*|requires?|agreed|prefer\w*|approach|on purpose|by design|keep(?:s|ing)? .{1,30} as is)\b/i;

/** What went wrong, and how it was mended. */
export const TROUBLE: RegExp =
  /\b(?:root cause|caused by|the (?:real )?(?:problem|issue|bug|cause|culprit)|fix(?:ed|es)?|fail(?:s|ed|ing|ure)?|errors?|broken|breaks|crash\w*|regression|does(?:n't| not) work|workaround|turns? out)\b/i;

/** What the user wants kept to. */
export const GUIDANCE: RegExp =
  /\b(?:must(?: not|n't)?|never|always|do(?: not|n't)|should(?: not|n't)?|shouldn't|only|prefer\w*|instead|no longer|avoid|make sure|ensure|please (?:use|keep|don't)|remember|keep|rather|without|not? need(?:ed)?|stop|revert|remove|require\w*|important|leave)\b/i;

/** What an agent says before it does something; tells little once it is done. */
const ANNOUNCEMENT =
  /^(?:now,? |ok(?:ay)?,? |good[.,:]? |great[.,!]? |perfect[.,!]? |excellent[.,!]? )?(?:let me|let's|i'll|i will|i'm going to|i need to|i should|now i|next,? i|first,? i|let us|looking at|checking|running)\b/i;
/** What is no sentence: rows of tables, rules, headings, code. */
const NO_SENTENCE = /^(?:[|+=\-_*#~`>│├└┌─]{2,}|\|)|[{};]$|^\/\/|^#!/;

/** Tells how much a sentence is worth beside its words: 0 = nothing. */
export function weightOf(sentence: string): number {
  if (NO_SENTENCE.test(sentence)) return 0;
  const cue = DECISION.test(sentence) ? 1.6 : TROUBLE.test(sentence) ? 1.4 : 1;
  if (!ANNOUNCEMENT.test(sentence) && !sentence.endsWith(":")) return cue;
  return cue > 1 ? cue / 2 : 0;
}
