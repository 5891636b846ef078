// Looks for the texts that somebody wanted masked in what was written: no rule knows them, so that no scan would find them.
import { sampleOf } from "../../core/secrets/mask.ts";
import { meantText } from "../../core/secrets/meant-text.ts";
import type { ConversationStore } from "../../store/conversation-store.ts";
import type { OutgoingObject } from "../../store/sharing.ts";
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
  const forms = [written, meantText(written)?.text ?? ""];
  for (const text of texts) {
    const form = forms.find((one) => one.includes(text));
    if (form === undefined) continue;
    const line = form.slice(0, form.indexOf(text)).split("\n").length;
    const count = form.split(text).length - 1;
    yield { path, rule: "text", line, count, sample: sampleOf(text), fingerprint: fingerprintOf(text) };
  }
}
