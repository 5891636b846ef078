// Picks the most informative sentences: words that occur in few messages count most (TF-IDF), words already picked count against a
// sentence, and every stretch of the conversation gets its share. Deterministic; linear in the texts.
import { forLine, forMarkdown } from "../safe-text.ts";
import { scanSentences } from "./facts.ts";
import { termsOf } from "./words.ts";

/** A text that somebody said. */
export interface Utterance {
  /** Turn position, 0-based. */
  readonly turn: number;
  readonly text: string;
}

/** A sentence that may be picked. */
export interface Passage {
  readonly turn: number;
  /** Position among all sentences, 0-based. */
  readonly order: number;
  readonly text: string;
  readonly terms: ReadonlySet<string>;
  readonly score: number;
}

/** Characters read for sentences at the start and at the end of one text. */
const SEEN_CHARS = 6000;
const SENTENCE_CHARS = 320;
const SHORTEST_SENTENCE = 30;
const LEAST_TERMS = 4;
const MOST_TERMS = 40;
/** Characters picked per stretch, most stretches, and sentences considered of one. */
const STRETCH_CHARS = 500;
const MOST_STRETCHES = 64;
const STRETCH_PASSAGES = 16;
const LIST_MARK = /^(?:[-*•+>#]+|\d{1,2}[.)])\s+/;

/** Scores the sentences of texts. */
export function listPassages(texts: readonly Utterance[]): readonly Passage[] {
  const sentences = texts.flatMap(({ turn, text }, message) =>
    sentencesOf(text).map((line) => ({ turn, message, text: line, terms: new Set(termsOf(line, MOST_TERMS)) })),
  );
  const holders = countHolders(sentences);
  return sentences
    .filter(({ terms }) => terms.size >= LEAST_TERMS)
    .map(({ turn, text, terms }, order) => {
      let weight = 0;
      for (const term of terms) weight += Math.log(1 + texts.length / (holders.get(term) ?? 1));
      return { turn, order, text, terms, score: (weight / Math.sqrt(terms.size)) * weightOf(text) };
    })
    .filter(({ score }) => score > 0);
}

/**
 * Picks passages that together take at most `chars` characters, in the order in which they were said. `isKnown` = whether the reader has
 * seen a text already; `lineChars` = characters of a line besides its text.
 */
export function pickPassages(
  passages: readonly Passage[],
  {
    chars,
    lineChars,
    isKnown,
  }: { readonly chars: number; readonly lineChars: number; readonly isKnown: (text: string) => boolean },
): readonly Passage[] {
  const stretches = intoStretches(passages, Math.min(MOST_STRETCHES, Math.max(1, Math.floor(chars / STRETCH_CHARS))));
  const picked: Passage[] = [];
  let left = chars;
  while (stretches.some((stretch) => stretch.length > 0)) {
    for (const stretch of stretches) {
      const best = takeBest(stretch, picked);
      if (best === null || best.text.length + lineChars > left || isKnown(best.text)) continue;
      picked.push(best);
      left -= best.text.length + lineChars;
    }
  }
  return picked.sort((a, b) => a.order - b.order);
}

function sentencesOf(text: string): readonly string[] {
  const isLong = text.length > 2 * SEEN_CHARS;
  const seen = isLong ? `${text.slice(0, SEEN_CHARS)}\n${text.slice(-SEEN_CHARS)}` : text;
  const sentences: string[] = [];
  let isCode = false;
  scanSentences(seen, (start, end) => {
    if (seen.startsWith("```", start)) isCode = !isCode;
    if (isCode || end - start < SHORTEST_SENTENCE) return;
    const line = oneLine(seen.slice(start, end)).replace(LIST_MARK, "");
    const isOdd = line.split("**").length % 2 === 0;
    sentences.push(cutEnd(isOdd ? line.replaceAll("**", "") : line, SENTENCE_CHARS));
  });
  return sentences;
}

/** How many messages contain each term. */
function countHolders(
  sentences: readonly { readonly message: number; readonly terms: ReadonlySet<string> }[],
): ReadonlyMap<string, number> {
  const holders = new Map<string, number>();
  const lastIn = new Map<string, number>();
  for (const { message, terms } of sentences) {
    for (const term of terms) {
      if (lastIn.get(term) === message) continue;
      lastIn.set(term, message);
      holders.set(term, (holders.get(term) ?? 0) + 1);
    }
  }
  return holders;
}

/** Cuts passages into stretches of the conversation, the best of each first. */
function intoStretches(passages: readonly Passage[], count: number): Passage[][] {
  const stretches: Passage[][] = Array.from({ length: count }, () => []);
  for (const [at, passage] of passages.entries()) stretches[Math.floor((at * count) / passages.length)]?.push(passage);
  return stretches.map((stretch) => stretch.sort((a, b) => b.score - a.score).slice(0, STRETCH_PASSAGES));
}

/** Takes from a stretch the passage that adds most to those picked. */
function takeBest(stretch: Passage[], picked: readonly Passage[]): Passage | null {
  let best = -1;
  let bestGain = 0;
  for (const [at, passage] of stretch.entries()) {
    const known = picked.reduce((most, other) => Math.max(most, sharedTerms(passage, other)), 0);
    const gain = passage.score * (1 - known);
    if (gain > bestGain) [best, bestGain] = [at, gain];
  }
  if (best < 0) {
    stretch.length = 0;
    return null;
  }
  return stretch.splice(best, 1)[0] ?? null;
}

/** Share of the terms of a passage that another one has too, 0..1. */
function sharedTerms({ terms }: Passage, other: Passage): number {
  let shared = 0;
  for (const term of terms) if (other.terms.has(term)) shared += 1;
  return shared / terms.size;
}

// Words that show what a sentence is for. They choose and rank sentences that are then quoted: a miss costs a sentence, and nothing is put
// into anybody's mouth.

/** How an assistant describes a problem and its cause. */
const TROUBLE =
  /\b(?:root cause|caused by|the (?:real )?(?:problem|issue|bug|cause|culprit)|because|turns? out|fix(?:ed|es)?|fail(?:s|ed|ing|ure)?|broken|crash\w*|regression|workaround)\b/i;

/** Whole words of several languages and scripts. */
function words(...lists: readonly string[]): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${lists.join("|")})(?![\\p{L}\\p{N}_])`, "iu");
}

/** What a person wants observed: rules, bans, corrections. */
const GUIDANCE = words(
  "must|mustn['’]t|never|always|should(?: not|n['’]t)|avoid|make sure|ensure|no longer|no need|not needed|no (?:new|more|other|extra|further)|ha(?:s|ve) to (?:be|stay|work|keep|take|survive|run)|remember to|be careful|only (?:use|do|run|when|if|the|after)|prefer|instead of|rather than|(?:please|but|and|so|also|just|you|we) (?:do not|don['’]t)",
  "niemals|nie|immer|nicht (?:mehr|ändern|anfassen|löschen|verwenden|vergessen|nötig)|keine?n? (?:neuen|weiteren)|muss|müssen|darf|dürfen|stattdessen|unbedingt|achte darauf|bitte (?:nur|keine?)",
  "jamais|toujours|il faut|ne (?:pas|jamais)|doit|doivent|n['’]\\p{L}+ pas|évite|plutôt que|au lieu de",
  "nunca|siempre|debe|deben|hay que|evita|en lugar de|en vez de|sempre|deve|devem|non (?:usare|fare|toccare)|mai",
  "никогда|всегда|нельзя|нужно|должен|должна|должно|вместо",
);
const GUIDANCE_AT_START =
  /^(?:(?:please|and|but|so|ok|no|also|bitte)[,:]? )*(?:don['’]?t|do not|stop|leave|keep|use|no need|remember|only|ignore|skip|no\b[,.:]|nope\b|nein\b|non\b,|not\b|wrong\b|actually\b|that['’]s (?:not|wrong))/i;
const GUIDANCE_UNSPACED =
  /不要|不能|不可|必须|必須|务必|禁止|只能|只用|始终|总是|请勿|别|しないで|してはいけ|必ず|絶対|のみ|だけ|ないでください|하지 ?마|반드시|항상|절대/;
/** Phrases about how things are, not how they should be. */
const NO_GUIDANCE =
  /\b(?:I|they|it|he|she|users?|people|tests?) (?:don['’]t|do not|didn['’]t|never|always)\b|\b(?:nicht sicher|ich weiß nicht)\b/i;

/** Whether a sentence of a request says what to observe. */
export function isGuidance(sentence: string): boolean {
  if (GUIDANCE_AT_START.test(sentence)) return true;
  if (/[?？؟]$/.test(sentence) || NO_GUIDANCE.test(sentence)) return false;
  return GUIDANCE.test(sentence) || GUIDANCE_UNSPACED.test(sentence);
}

/** Phrases by which a person settles which way is taken. */
const SETTLED = words(
  "let['’]s (?:use|go|keep|do|store|stick|take|drop|put|make|start|skip|leave|call|name|move)|go with|(?:I|we)(?:['’]ve| have)? (?:decided|chose|settled on|agreed)|we(?:['’]ll| will) (?:use|go|keep|stick|take|do)|stick with|option \\w{1,2}",
  "wir (?:nehmen|nutzen|verwenden|bleiben|machen)|lass uns|ich habe (?:mich )?entschieden",
  "on (?:garde|prend|utilise|part sur|reste sur)|utilisons|gardons|vamos (?:con|a usar)|usemos|quedémonos con|usiamo|teniamo|vamos usar|fiquemos com",
  "давай(?:те)? (?:использовать|оставим|возьмём)|решили|остановимся на",
);
const SETTLED_UNSPACED = /就用|采用|决定|選択|にしよう|を使いましょう|で行きましょう|로 하자/;

export function isSettling(sentence: string): boolean {
  return (
    !/[?？؟]$|\b(?:wonder|maybe|perhaps|if we|whether)\b/i.test(sentence) &&
    (SETTLED.test(sentence) || SETTLED_UNSPACED.test(sentence))
  );
}

/** How an assistant reports a decision; a proposal is none. */
const DECIDED =
  /\b(?:I|we)(?:['’]ve| have)? (?:decided|chose|chosen|opted|settled on|went with|picked)\b|^(?:\*\*)?(?:decision|decided|entscheidung|décision|decisión|решение)(?:\*\*)?:/i;
const PROPOSED = /\b(?:would|could|should|might|if|may|suggest|recommend|propos\w+|want me|shall)\b|[?？]$/i;

/** Whether a sentence of an answer reports a decision. */
export function isDecided(sentence: string): boolean {
  return DECIDED.test(sentence) && !PROPOSED.test(sentence);
}

/** The beginning of a request that rejects the answer before it. */
const REJECTING =
  /^(?:no\b|nope\b|not?\b[ ,]|wrong\b|stop\b|undo\b|revert\b|remove\b|instead\b|actually\b|don['’]?t\b|that['’]s (?:not|wrong)|hmm?\b|but\b|nein\b|nicht\b|doch\b|falsch\b|non\b|pas\b|annule\b|mal\b|нет|не |不|いや|いいえ|違|아니)/i;

/** Whether a request rejects the answer before it. */
export function isRejecting(request: string): boolean {
  return REJECTING.test(request.trim());
}

/** Yes and no, as people answer a question. */
const YES_OR_NO =
  /^(?:(?:y|yes|yeah|yep|yup|ya|ok|okay|sure|agreed|correct|right|exactly|lgtm|go (?:ahead|for it)|do (?:it|that|so)|please do|sounds good|looks good|perfect|great|n|no|nope|nah|not (?:now|yet)|ja|jo|klar|gerne|genau|passt|mach das|nein|oui|ouais|d['’]accord|non|sí|si|vale|claro|dale|sim|não|sì|да|ок|ага|давай|нет|네|예|응|아니(?:요|오)?)(?![\p{L}\p{N}])|好|可以|是|行|对|不|はい|いいえ|お願い|👍)/iu;

/** The same at the end of a short reply: "Refuse, yes." */
const YES_OR_NO_AT_END = /^[^\n]{1,40}[,;.] (?:yes|no|ja|nein|oui|non|sí|sim|da|да|нет)[.!]*$/i;

/** Whether a reply begins with yes or no, or is short and ends with it. */
export function isYesOrNo(reply: string): boolean {
  return YES_OR_NO.test(reply) || YES_OR_NO_AT_END.test(reply);
}

/** What an agent says before it does something. */
const ANNOUNCEMENT =
  /^(?:(?:now|ok(?:ay)?|good|great|perfect|excellent|right|next|first|then|alright|done)\b[,.!:]? ?(?:[—–-] )?)*(?:let me|let['’]s|let us|i['’]ll|i will|i['’]m (?:going to|now)|i am (?:going to|now)|i need to|i should (?!note|mention|add|say|point)|i can now|now i)\b|^(?:looking at|checking|running|starting|continuing|proceeding|waiting)\b.{0,60}$/i;
const ANNOUNCED_ELSEWHERE =
  /^(?:ich (?:werde|schaue|prüfe|mache|starte)|jetzt|als nächstes|lass mich|je vais|maintenant|voy a|ahora|vamos a|ora |adesso|vou |agora|сейчас|теперь|接下来|现在|让我|我来|次に|これから|이제)/i;
const WAITING = /\b(?:waiting (?:for|on)|still running|running in the background)\b/i;

/** Whether a sentence says what comes next, not what was done. */
export function isAnnouncement(sentence: string): boolean {
  return ANNOUNCEMENT.test(sentence) || ANNOUNCED_ELSEWHERE.test(sentence);
}

/** Whether a sentence says that its speaker waits for something still running. */
export function isWaiting(sentence: string): boolean {
  return WAITING.test(sentence);
}

/** Not sentences: rows of tables, rules, headings, code. */
const NO_SENTENCE = /^(?:[|+=\-_*#~`>│├└┌─]{2,}|\|)|[{};]$|^\/\/|^#!/;

/** Returns what a sentence is worth apart from its words: 0 = nothing. */
export function weightOf(sentence: string): number {
  if (NO_SENTENCE.test(sentence) || isAnnouncement(sentence) || /^now\b|:$/i.test(sentence)) return 0;
  return TROUBLE.test(sentence) ? 1.5 : 1;
}

// Shortens texts of a conversation to a line of an extract: blanks and control characters become one blank, and cuts are made between words
// and marked with `…`. Linear in the text, however long a line is.

/** Longest head and tail of a text that are read, characters: no extract shows more. */
const SHORTENED_CHARS = 8000;
/** Longest word that a cut skips back over. */
const WORD_CHARS = 40;
const FENCED = /```[^\n]*\n[\s\S]*?```/g;
/** Longest fenced code kept in a spoken line, characters. */
const CODE_CHARS = 200;

/** Puts a text on one line. Leaves the middle of a very long one out. */
export function oneLine(text: string): string {
  const isLong = text.length > 2 * SHORTENED_CHARS;
  const seen = isLong ? `${text.slice(0, SHORTENED_CHARS)} … ${text.slice(-SHORTENED_CHARS)}` : text;
  return forLine(whole(seen));
}

/** Puts what was said on one line, without long code. */
export function spokenLine(text: string): string {
  return oneLine(text.replace(FENCED, (code) => (code.length > CODE_CHARS ? " … " : code)));
}

/** Cuts a line to at most `limit` characters; below 10 nothing is left. */
export function cutEnd(line: string, limit: number): string {
  if (line.length <= limit) return line;
  if (limit < 10) return "";
  return `${line.slice(0, lastBreak(line, limit - 2))} …`;
}

/** Returns at most the last `limit` characters of a line, from the start of a word. */
function cutStart(line: string, limit: number): string {
  if (line.length <= limit) return line;
  const from = line.length - limit;
  const blank = line.indexOf(" ", from);
  return blank >= from && blank - from <= WORD_CHARS ? line.slice(blank + 1) : whole(line.slice(from));
}

/** Cuts the middle out of a line longer than `limit` characters; two thirds of the rest are before the cut. */
export function cutMiddle(line: string, limit: number): string {
  if (line.length <= limit) return line;
  const head = Math.floor((limit * 2) / 3);
  if (limit - head < 30) return cutEnd(line, limit);
  return `${line.slice(0, lastBreak(line, head - 3))} … ${cutStart(line, limit - head)}`;
}

/** Position at or before `limit` where a word ends. */
function lastBreak(line: string, limit: number): number {
  const blank = line.lastIndexOf(" ", limit);
  if (blank > 0 && blank >= limit - WORD_CHARS) return blank;
  const code = line.charCodeAt(limit - 1);
  return code >= 0xd800 && code <= 0xdbff ? limit - 1 : limit;
}

/** Removes halves of surrogate pairs. */
function whole(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "");
}

// Prepares texts of a conversation, with their lines and code, for an extract: control characters are removed, and every line but the first
// is indented, so that no line of a text can pass for a line of the extract. Cuts are made between lines if one is near, and marked with
// `…`; code that a cut opens or leaves open is closed.

/** Share of the room that a cut may leave unused to end at a line. */
const LINE_SHARE = 0.35;
const INDENT = "  ";
const FENCE = /^\s*```/gm;

/** Cleans a text and keeps its lines and code. Leaves the middle of a very long one out. */
export function cleanBlock(text: string): string {
  const isLong = text.length > 2 * SHORTENED_CHARS;
  const seen = isLong ? `${text.slice(0, SHORTENED_CHARS)}\n…\n${text.slice(-SHORTENED_CHARS)}` : text;
  return forMarkdown(seen.replace(/\r\n?/g, "\n").replaceAll("\t", "  "))
    .replace(/[\u2400-\u2421\ufffd\p{Surrogate}]/gu, " ")
    .replace(/[^\S\n]+$/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** Cuts the end off a clean text longer than `limit` characters. */
export function cutBlockEnd(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = headOf(text, limit - 6);
  return head === "" ? cutEnd(text, limit) : `${head}\n…`;
}

/** Cuts the middle out of a clean text longer than `limit` characters; two thirds of the rest are before the cut. */
export function cutBlock(text: string, limit: number): string {
  if (text.length <= limit) return text;
  if (limit < 90) return cutBlockEnd(text, limit);
  const head = headOf(text, Math.floor((limit * 2) / 3) - 10);
  const tail = tailOf(text, limit - head.length - 10);
  return `${head}\n…\n${tail}`;
}

/** Indents a clean text, cut if necessary to about `limit` characters including the indentation. */
export function indentedTo(text: string, limit: number, cut: (text: string, limit: number) => string): string {
  const whole = indented(text);
  return whole.length <= limit ? whole : indented(cut(text, Math.floor((limit * text.length) / whole.length)));
}

/** Indents all lines of a text but the first. */
export function indented(text: string): string {
  return text.replace(/\n(?=[^\n])/g, `\n${INDENT}`);
}

function headOf(text: string, limit: number): string {
  if (limit < 10) return "";
  const lineEnd = text.lastIndexOf("\n", limit);
  const head =
    lineEnd >= limit * (1 - LINE_SHARE) ? text.slice(0, lineEnd).trimEnd() : cutEnd(text, limit).replace(/ …$/, "");
  return isOpenCode(head) ? `${head}\n\`\`\`` : head;
}

function tailOf(text: string, limit: number): string {
  const from = text.length - limit;
  const lineStart = text.indexOf("\n", from) + 1;
  const isNear = lineStart > 0 && lineStart - from <= limit * LINE_SHARE;
  const tail = isNear ? text.slice(lineStart) : cutStart(text, limit);
  return isOpenCode(text.slice(0, text.length - tail.length)) ? `\`\`\`\n${tail}` : tail;
}

function isOpenCode(text: string): boolean {
  return (text.match(FENCE)?.length ?? 0) % 2 === 1;
}

// What a person typed, without what agents add around and inside it: reminders, the editor's state, output of commands, tags of slash
// commands. Recognised by the names of the tags that agents use; unknown tags are text. Linear in the text.

/** Elements that agents add to a request. */
const ADDED: ReadonlySet<string> = new Set(
  (
    "system-reminder local-command-stdout local-command-stderr local-command-caveat bash-stdout bash-stderr " +
    "command-contents command-message ide_opened_file ide_selection ide_diagnostics task-notification user-prompt-submit-hook " +
    "environment_context environment_details user_instructions user_info attached_files open_and_recently_viewed_files " +
    "additional_data workspace_info reminder reminderInstructions editorContext turn_aborted"
  ).split(" "),
);
/** Elements whose content was typed: only the tags are removed. */
const TYPED = /<\/?(?:user_query|user_message|user_request|userRequest|USER_REQUEST)>/g;
const OPENING = /<([A-Za-z][\w-]{2,40})(?: [^<>]{0,200})?>/g;
const COMMAND = /<command-name>\s*(\/?[^<\s]{1,80})\s*<\/command-name>/;
const ARGUMENTS = /<command-args>([\s\S]*?)<\/command-args>/;
const SHELL = /<bash-input>([\s\S]*?)<\/bash-input>/;
/** Slash commands that control the agent's own program and ask the model for nothing. */
const STEERING = new Set(
  (
    "exit quit q clear new reset compact compress model models cost usage stats status help config settings login logout auth resume " +
    "sessions rewind undo redo theme themes vim doctor mcp permissions approvals hooks memory context fast effort terminal-setup ide " +
    "editor statusline export share unshare copy rename plugin tools agents add-dir directory bashes tasks about privacy bug feedback " +
    "upgrade release-notes output-style"
  ).split(" "),
);
/** A request that is one line and begins as a slash command. */
const TYPED_COMMAND = /^\/([a-z-]{1,40})(?: +(\S.*))?$/;
/** More words after such a command are a sentence, except for the one that takes a sentence. */
const MOST_WORDS = 2;
const TAKES_SENTENCE = "compact";
/** What agents write in place of a request or an answer. */
const FILLED_IN =
  /^(?:\[Request interrupted by user[^\]]{0,40}\]|No response requested\.|\(no content\)|Caveat: The messages below were generated by the user while running local commands\b.*)$/s;

/** Returns what was typed; "" when nothing was. A slash command becomes `/name arguments`. */
export function typedText(text: string): string {
  if (!text.includes("<")) return FILLED_IN.test(text.trim()) || isSteering(text.trim()) ? "" : text;
  const command = COMMAND.exec(text)?.[1];
  if (command !== undefined) return commandLine(command, ARGUMENTS.exec(text)?.[1]?.trim() ?? "");
  const shell = SHELL.exec(text)?.[1];
  if (shell !== undefined) return `! ${shell.trim()}`;
  const typed = withoutAdded(text).replace(TYPED, "").trim();
  return FILLED_IN.test(typed) ? "" : typed;
}

function commandLine(command: string, given: string): string {
  const name = command.startsWith("/") ? command : `/${command}`;
  return STEERING.has(name.slice(1)) ? "" : `${name} ${given}`.trim();
}

/** Whether a text is a slash command that asks the model for nothing, as agents without tags store it. */
function isSteering(text: string): boolean {
  const [, name = "", given = ""] = TYPED_COMMAND.exec(text) ?? [];
  return STEERING.has(name) && (name === TAKES_SENTENCE || given.split(" ").length <= MOST_WORDS);
}

/** Removes the elements that agents add; one that is not closed is text. */
function withoutAdded(text: string): string {
  const kept: string[] = [];
  const unclosed = new Set<string>();
  let at = 0;
  OPENING.lastIndex = 0;
  for (let open = OPENING.exec(text); open !== null; open = OPENING.exec(text)) {
    const [, name = ""] = open;
    if (!ADDED.has(name) || unclosed.has(name)) continue;
    const closing = `</${name}>`;
    const end = text.indexOf(closing, open.index);
    if (end < 0) {
      unclosed.add(name);
      continue;
    }
    kept.push(text.slice(at, open.index));
    at = end + closing.length;
    OPENING.lastIndex = at;
  }
  return [...kept, text.slice(at)].join("");
}
