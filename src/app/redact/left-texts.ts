// Looks for the texts that somebody wanted masked in what was written: no rule knows them, so that no scan would find them.
import { meantText, sampleOf, textsOfContents, writtenForms } from "../../core/secrets/mask.ts";
import type { OutgoingObject } from "../../store/sharing.ts";
import type { ConversationStore } from "../../store/store.ts";
import { fingerprintOf } from "../secrets/scan-source.ts";
import type { LeavingSecret } from "../share/refused-secrets.ts";

/** A mask's own words are nobody's secret. */
const MASK = /redacted-[a-z0-9-]+?-\d+/g;

/** Lists the texts that still stand somewhere, with the first place of each in an object. */
export async function findLeftTexts(
  store: ConversationStore,
  { objects, names }: { readonly objects: readonly OutgoingObject[]; readonly names: readonly string[] },
  texts: readonly string[],
): Promise<readonly LeavingSecret[]> {
  if (texts.length === 0) return [];
  const paths = [...names, ...objects.map(({ path }) => path)].join("\n");
  const left = [...leftIn("names of branches and files", Buffer.from(paths), texts)];
  let at = 0;
  for await (const bytes of store.readBlobs(objects.map(({ oid }) => oid))) {
    const { kind, oid, path } = objects[at++] ?? { kind: "blob", oid: "", path: "" };
    for (const one of leftIn(kind === "blob" ? path : `${kind} ${oid.slice(0, 9)}`, Buffer.from(bytes), texts))
      left.push(one);
  }
  return left;
}

function* leftIn(path: string, bytes: Buffer, texts: readonly string[]): Generator<LeavingSecret> {
  const written = bytes.toString().replace(MASK, "");
  const forms = readingsOf(written);
  for (const text of texts.flatMap(writtenForms)) {
    const form = forms.find((one) => one.includes(text));
    if (form === undefined) continue;
    const line = form.slice(0, form.indexOf(text)).split("\n").length;
    const count = form.split(text).length - 1;
    yield { path, rule: "text", line, count, sample: sampleOf(text), fingerprint: fingerprintOf(text) };
  }
}

function contentsIn(text: string): readonly (readonly string[])[] {
  return text.split("\n").flatMap(textsOfContents);
}

/** Characters on either side of where two parts of a content meet that a secret may have there. */
const SEAM = 200;

/** Where parts of one content meet: the end of one, and how the next begins. */
export function seamsIn(text: string): readonly (readonly [string, string])[] {
  return contentsIn(text).flatMap((texts) =>
    texts.slice(1).map((next, before) => [texts[before]?.slice(-SEAM) ?? "", next.slice(0, SEAM)] as const),
  );
}

/** So much of a secret gives it away, characters. */
const LEAST_PART = 8;

/**
 * How a secret reads elsewhere that stands over a seam: its two parts put together with a blank, as in a title, or each by itself,
 * as in a summary that was made of the two texts.
 */
export function acrossSeam([left, right]: readonly [string, string], secret: string): readonly string[] {
  const at = (left + right).indexOf(secret, Math.max(0, left.length - secret.length + 1));
  const length = left.length - at;
  if (at < 0 || length <= 0 || length >= secret.length) return [];
  const parts = [secret.slice(0, length), secret.slice(length)];
  return [parts.join(" "), parts.join("\n"), ...parts.filter((part) => part.length >= LEAST_PART)];
}

/** A file's text as it is, as it is meant, and what parts of one content say together. */
export function readingsOf(text: string): readonly string[] {
  return [text, meantText(text)?.text ?? "", ...contentsIn(text).map((texts) => texts.join(""))];
}
