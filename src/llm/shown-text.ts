// What a provider says, made fit to show: one short line without control characters, and without anything that looks like a
// key. A server may send the key back that it refuses; it never gets past here.

/** Longest sentence that is shown, in characters. */
const MAX_SENTENCE = 300;
/** What is looked at, in characters: a server may answer with a whole page. */
const MAX_READ = 4_000;
/** Shortest piece of a key that is taken out, in characters: servers quote keys in part. */
const KEY_PIECE = 8;
/** A shorter one is a word, such as local servers take for a key. */
const SHORTEST_KEY = 4;
const REDACTED = "[key]";

/** Words that look like keys of any provider, whole or with stars in them. */
const KEY_LIKE: readonly RegExp[] = [
  /\bBearer\s+[\w.~+/=*-]+/gi,
  /\b(?:sk|pk|rk|gsk|xai|hf|api|key)[-_][\w*.-]{6,}/gi,
  /\bAIza[\w*-]{6,}/g,
  /[\w.-]*\*{3,}[\w.*-]*/g,
];

/** Gives a text of a provider as one line to show; `key` is the key in use. */
export function toShownText(text: string, key: string | undefined): string {
  // Keys first: what is cut afterwards cannot leave half of one.
  const read = withoutKey(text.slice(0, MAX_READ), key);
  const line = KEY_LIKE.reduce((rest, pattern) => rest.replace(pattern, REDACTED), read)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  return line.length <= MAX_SENTENCE ? line : `${line.slice(0, MAX_SENTENCE - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Gives an address without user, password, query and fragment, which may hold keys. */
export function toShownUrl(address: string, key: string | undefined): string {
  if (!URL.canParse(address)) return toShownText(address, key);
  const { protocol, host, pathname } = new URL(address);
  return toShownText(`${protocol}//${host}${pathname.replace(/\/+$/, "")}`, key);
}

/** Takes the key out, and every run of it that is long enough to be told from other words. */
function withoutKey(text: string, key: string | undefined): string {
  if (key === undefined || key.length < SHORTEST_KEY) return text;
  const size = Math.min(key.length, KEY_PIECE);
  const pieces = new Set(Array.from({ length: key.length - size + 1 }, (_, from) => key.slice(from, from + size)));
  let rest = "";
  let hiddenTo = 0;
  for (let at = 0; at < text.length; at++) {
    if (pieces.has(text.slice(at, at + size))) {
      if (hiddenTo <= at) rest += REDACTED;
      hiddenTo = at + size;
    } else if (hiddenTo <= at) rest += text[at];
  }
  return rest;
}
