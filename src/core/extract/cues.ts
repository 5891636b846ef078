// Words that tell what a sentence is for. They choose and rank sentences that are shown as they were said: a miss costs a sentence,
// and nothing is put into words that nobody said.

/** What an assistant says of a problem and of what was behind it. */
const TROUBLE =
  /\b(?:root cause|caused by|the (?:real )?(?:problem|issue|bug|cause|culprit)|because|turns? out|fix(?:ed|es)?|fail(?:s|ed|ing|ure)?|broken|crash\w*|regression|workaround)\b/i;

/** Whole words of several languages, of letters of any script. */
function words(...lists: readonly string[]): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${lists.join("|")})(?![\\p{L}\\p{N}_])`, "iu");
}

/** What a person wants kept to: rules, bans, corrections. */
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
/** What speaks of how things are, not of how they should be. */
const NO_GUIDANCE =
  /\b(?:I|they|it|he|she|users?|people|tests?) (?:don['’]t|do not|didn['’]t|never|always)\b|\b(?:nicht sicher|ich weiß nicht)\b/i;

/** Whether a sentence of a request tells what to keep to. */
export function isGuidance(sentence: string): boolean {
  if (GUIDANCE_AT_START.test(sentence)) return true;
  if (/[?？؟]$/.test(sentence) || NO_GUIDANCE.test(sentence)) return false;
  return GUIDANCE.test(sentence) || GUIDANCE_UNSPACED.test(sentence);
}

/** What a person settles: which way is taken. */
const SETTLED = words(
  "let['’]s (?:use|go|keep|do|store|stick|take|drop|put|make|start|skip|leave|call|name|move)|go with|(?:I|we)(?:['’]ve| have)? (?:decided|chose|settled on|agreed)|we(?:['’]ll| will) (?:use|go|keep|stick|take|do)|stick with|option \\w{1,2}",
  "wir (?:nehmen|nutzen|verwenden|bleiben|machen)|lass uns|ich habe (?:mich )?entschieden",
  "on (?:garde|prend|utilise|part sur|reste sur)|utilisons|gardons|vamos (?:con|a usar)|usemos|quedémonos con|usiamo|teniamo|vamos usar|fiquemos com",
  "давай(?:те)? (?:использовать|оставим|возьмём)|решили|остановимся на",
);
const SETTLED_UNSPACED = /就用|采用|决定|選択|にしよう|を使いましょう|で行きましょう|로 하자/;

/** Whether a sentence of a request settles something. */
export function isSettling(sentence: string): boolean {
  return (
    !/[?？؟]$|\b(?:wonder|maybe|perhaps|if we|whether)\b/i.test(sentence) &&
    (SETTLED.test(sentence) || SETTLED_UNSPACED.test(sentence))
  );
}

/** What an assistant says that it decided; a proposal is none. */
const DECIDED =
  /\b(?:I|we)(?:['’]ve| have)? (?:decided|chose|chosen|opted|settled on|went with|picked)\b|^(?:\*\*)?(?:decision|decided|entscheidung|décision|decisión|решение)(?:\*\*)?:/i;
const PROPOSED = /\b(?:would|could|should|might|if|may|suggest|recommend|propos\w+|want me|shall)\b|[?？]$/i;

/** Whether a sentence of an answer tells of a decision that was made. */
export function isDecided(sentence: string): boolean {
  return DECIDED.test(sentence) && !PROPOSED.test(sentence);
}

/** The beginning of a request that turns down what the answer before it says. */
const REJECTING =
  /^(?:no\b|nope\b|not?\b[ ,]|wrong\b|stop\b|undo\b|revert\b|remove\b|instead\b|actually\b|don['’]?t\b|that['’]s (?:not|wrong)|hmm?\b|but\b|nein\b|nicht\b|doch\b|falsch\b|non\b|pas\b|annule\b|mal\b|нет|не |不|いや|いいえ|違|아니)/i;

/** Whether a request turns down what was said before it. */
export function isRejecting(request: string): boolean {
  return REJECTING.test(request.trim());
}

/** Yes and no, as people answer a question. */
const YES_OR_NO =
  /^(?:(?:y|yes|yeah|yep|yup|ya|ok|okay|sure|agreed|correct|right|exactly|lgtm|go (?:ahead|for it)|do (?:it|that|so)|please do|sounds good|looks good|perfect|great|n|no|nope|nah|not (?:now|yet)|ja|jo|klar|gerne|genau|passt|mach das|nein|oui|ouais|d['’]accord|non|sí|si|vale|claro|dale|sim|não|sì|да|ок|ага|давай|нет|네|예|응|아니(?:요|오)?)(?![\p{L}\p{N}])|好|可以|是|行|对|不|はい|いいえ|お願い|👍)/iu;

/** The same at the end of a short one: "Refuse, yes." */
const YES_OR_NO_AT_END = /^[^\n]{1,40}[,;.] (?:yes|no|ja|nein|oui|non|sí|sim|da|да|нет)[.!]*$/i;

/** Whether a reply begins with yes or no, or is a short one that ends so. */
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

/** Whether a sentence says that something goes on that its speaker waits for. */
export function isWaiting(sentence: string): boolean {
  return WAITING.test(sentence);
}

/** What is no sentence: rows of tables, rules, headings, code. */
const NO_SENTENCE = /^(?:[|+=\-_*#~`>│├└┌─]{2,}|\|)|[{};]$|^\/\/|^#!/;

/** Tells how much a sentence is worth beside its words: 0 = nothing. */
export function weightOf(sentence: string): number {
  if (NO_SENTENCE.test(sentence) || isAnnouncement(sentence) || /^now\b|:$/i.test(sentence)) return 0;
  return TROUBLE.test(sentence) ? 1.5 : 1;
}
