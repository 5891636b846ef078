// Finds what is to be masked in a history, and gives each secret its mask: a short word that says its kind and its number, and
// nothing of the secret itself.
import { appendAll } from "../../core/append-all.ts";
import { turnIndexOfPath } from "../../core/event/turn-file.ts";
import { sampleOf } from "../../core/secrets/mask.ts";
import { meantText } from "../../core/secrets/meant-text.ts";
import type { ConversationStore, HistoryCommit } from "../../store/conversation-store.ts";
import { findInSources, fingerprintOf, type ScannedSource } from "../secrets/scan-source.ts";
import { loadSecretScanner } from "../secrets/secret-scanner.ts";
import { createBufferSource } from "../sessions/buffer-source.ts";
import { openCleanObjects } from "../share/clean-objects.ts";
import { acrossSeam, readingsOf, seamsIn } from "./left-texts.ts";

/** Which secrets are masked: what rules find, those of some rules only, and texts that somebody names. */
export interface WantedSecrets {
  /** Names of rules; none = all, unless texts are named. */
  readonly rules: readonly string[];
  readonly texts: readonly string[];
  /** Fingerprints of secrets that the user lets pass. */
  readonly allowed: readonly string[];
  /** Names of rules whose finds pass this once; absent = none. */
  readonly passing?: readonly string[];
}

/** A secret that is masked; nothing of it is in here but what may be shown. */
export interface MaskedSecret {
  readonly rule: string;
  readonly sample: string;
  readonly fingerprint: string;
  /** What stands in its place. */
  readonly mask: string;
  /** How many times rules found it. */
  readonly count: number;
  /** Where it was found first: a path of the tree, or `commit ID`. */
  readonly path: string;
  /** 0-based; absent where that is no turn. */
  readonly turn?: number;
}

/** What was found. */
export interface FoundMasks {
  readonly secrets: readonly MaskedSecret[];
  /** Masks by every form in which a secret stands somewhere. Shown to nobody. */
  readonly masks: ReadonlyMap<string, string>;
  /** Objects in which nothing was found, before and now. */
  readonly clean: ReadonlySet<string>;
  /** Names of the attachments that something but sources refers to. */
  readonly attachments: ReadonlySet<string>;
}

/** A blob of a history and the first path it has. */
interface Scanned {
  readonly oid: string;
  readonly path: string;
}

/** Looks at everything in a history, sources too; `names` = names of its branches. */
export async function findMasks(
  store: ConversationStore,
  history: readonly HistoryCommit[],
  { wanted, names }: { readonly wanted: WantedSecrets; readonly names: readonly string[] },
): Promise<FoundMasks> {
  const known = openCleanObjects(store);
  const blobs = blobsOf(history);
  const attachments = new Set<string>();
  const numbers = new Map<string, number>();
  // Without texts that are wanted there is nothing to look for.
  let hasTexts = wanted.texts.length === 0;
  const seams: (readonly [string, string])[] = [];
  const look = (text: string, isSource: boolean): void => {
    hasTexts ||= readingsOf(text).some((reading) => wanted.texts.some((said) => reading.includes(said)));
    if (isSource) return;
    appendAll(seams, seamsIn(text));
    if (text.includes("$attachment")) for (const [, name = ""] of text.matchAll(REFERENCE)) attachments.add(name);
    if (text.includes("redacted-")) keepNumbers(text, numbers);
  };
  const list = createMaskList(wanted, numbers);
  const dirty = new Set<string>();
  const scanner = await loadSecretScanner();
  const sources = contentsOf(store, { blobs, known, look, isAsked: wanted.texts.length > 0 });
  const found: { readonly in: Scanned; readonly rule: string; readonly secret: string }[] = [];
  for await (const one of findInSources(scanner, sources, { thorough: true })) {
    dirty.add(one.in.oid);
    found.push(one);
  }
  for await (const one of findInSources(scanner, saidBeside(history, names, look), { thorough: true })) found.push(one);
  // Now all numbers that are taken are known.
  for (const { in: place, rule, secret } of found) list.add({ rule, secret, path: place.path });
  if (hasTexts) for (const secret of wanted.texts) list.add({ rule: "text", secret, path: "" });
  list.addAcross(seams);
  const clean = blobs.flatMap(({ oid }) => (dirty.has(oid) ? [] : [oid]));
  await known.add(clean.filter((oid) => !known.has(oid)));
  return { secrets: list.secrets(), masks: list.masks, clean: new Set(clean), attachments };
}

/** Finds what is to be masked in lines that are nowhere stored yet. */
export async function findMasksInLines(
  sources: Iterable<{ readonly path: string; readonly text: string }>,
  wanted: WantedSecrets,
): Promise<Pick<FoundMasks, "secrets" | "masks">> {
  const numbers = new Map<string, number>();
  const found: FoundPlace[] = [];
  const scanned = function* (): Generator<ScannedSource<string>> {
    for (const { path, text } of sources) {
      keepNumbers(text, numbers);
      yield { name: path, lines: createBufferSource(Buffer.from(text)) };
    }
  };
  const scanner = await loadSecretScanner();
  for await (const { in: path, rule, secret } of findInSources(scanner, scanned(), { thorough: true }))
    found.push({ rule, secret, path });
  const list = createMaskList(wanted, numbers);
  for (const one of found) list.add(one);
  return { secrets: list.secrets(), masks: list.masks };
}

const REFERENCE = /"\$+attachment" *: *"([0-9a-f]{64}(?:\.[a-z0-9]{1,16})?)"/g;

function blobsOf(history: readonly HistoryCommit[]): readonly Scanned[] {
  const blobs = new Map<string, Scanned>();
  // What is no source counts where an object is both.
  for (const { changes } of history)
    for (const { oid, path, special } of changes)
      if (oid !== null && special === undefined && isSourcePath(blobs.get(oid)?.path ?? "sources/"))
        blobs.set(oid, { oid, path });
  return [...blobs.values()];
}

/** Whether a path is of the agent's own bytes. */
export function isSourcePath(path: string): boolean {
  return path.startsWith("sources/");
}

interface Contents {
  readonly blobs: readonly Scanned[];
  readonly known: { has(oid: string): boolean };
  readonly look: (text: string, isSource: boolean) => void;
  /** Whether texts are looked for that no rule knows. */
  readonly isAsked: boolean;
}

/** The contents to be scanned; all that stay in the conversation are looked at, those known to be clean are not scanned. */
async function* contentsOf(
  store: ConversationStore,
  { blobs, known, look, isAsked }: Contents,
): AsyncGenerator<ScannedSource<Scanned>> {
  const read = blobs.filter(({ oid, path }) => isAsked || !isSourcePath(path) || !known.has(oid));
  let at = 0;
  for await (const bytes of store.readBlobs(read.map(({ oid }) => oid))) {
    const blob = read[at++];
    if (blob === undefined) continue;
    const lines = createBufferSource(Buffer.from(bytes));
    look(lines.text(), isSourcePath(blob.path));
    if (!known.has(blob.oid)) yield { name: blob, lines };
  }
}

/** What stands in no file: messages and authors of commits, names of files and branches. */
function* saidBeside(
  history: readonly HistoryCommit[],
  names: readonly string[],
  look: Contents["look"],
): Generator<ScannedSource<Scanned>> {
  const source = (path: string, text: string): ScannedSource<Scanned> => {
    look(text, false);
    return { name: { oid: "", path }, lines: createBufferSource(Buffer.from(text)) };
  };
  for (const { commit, message, author, committer } of history) {
    const people = [author, committer].map(({ name, email }) => `${name} <${email}>`);
    yield source(`commit ${commit.slice(0, 9)}`, [message, ...new Set(people)].join("\n"));
  }
  const paths = new Set(history.flatMap(({ changes }) => changes.map(({ path }) => path)));
  yield source("names of branches and files", [...names, ...paths].join("\n"));
}

/** Masks of a conversation that was redacted before stay its own: the numbers go on behind them. */
function keepNumbers(text: string, numbers: Map<string, number>): void {
  for (const [, rule = "", number] of text.matchAll(/redacted-([a-z0-9-]+?)-(\d{1,9})(?!\d)/g))
    numbers.set(rule, Math.max(numbers.get(rule) ?? 0, Number(number)));
}

interface FoundPlace {
  readonly rule: string;
  readonly secret: string;
  readonly path: string;
}

interface MaskList {
  readonly masks: ReadonlyMap<string, string>;
  add(found: FoundPlace): void;
  /** Adds how the secrets read elsewhere that stand where two parts meet. */
  addAcross(seams: readonly (readonly [string, string])[]): void;
  secrets(): readonly MaskedSecret[];
}

function createMaskList(
  { rules, texts, allowed, passing = [] }: WantedSecrets,
  numbers: Map<string, number>,
): MaskList {
  const masks = new Map<string, string>();
  const secrets = new Map<string, MaskedSecret>();
  const isWanted = ({ rule, secret }: FoundPlace): boolean => {
    if (rule === "text") return true;
    if (allowed.includes(fingerprintOf(secret)) || passing.includes(rule)) return false;
    return rules.length === 0 ? texts.length === 0 : rules.includes(rule);
  };
  return {
    masks,
    secrets: () => [...secrets.values()],
    addAcross(seams) {
      for (const [secret, mask] of [...masks])
        for (const seam of seams) for (const form of acrossSeam(seam, secret)) masks.set(form, mask);
    },
    add(found) {
      if (!isWanted(found)) return;
      const { rule, secret, path } = found;
      const plain = meantText(secret)?.text ?? secret;
      // A key is the same however its lines end.
      const same = plain.replace(/\s+/g, "");
      const known = secrets.get(same);
      const mask = known?.mask ?? nextMask(rule, numbers);
      const turn = turnIndexOfPath(path);
      const place = turn === null ? { path } : { path, turn };
      const fresh = { rule, sample: sampleOf(secret), fingerprint: fingerprintOf(secret), mask, count: 0, ...place };
      // Where it stays counts more than the agent's own line of it.
      const shown = known === undefined || (isSourcePath(known.path) && !isSourcePath(path)) ? fresh : known;
      secrets.set(same, { ...shown, count: (known?.count ?? 0) + 1 });
      for (const form of [secret, plain]) addForm(masks, form, { rule, mask });
    },
  };
}

/** A shorter password is a word, too: it is one only where it stands in an address. Characters. */
const SHORT = 8;

function addForm(masks: Map<string, string>, form: string, { rule, mask }: { rule: string; mask: string }): void {
  const isShort = rule === "url-credentials" && form.length < SHORT;
  masks.set(isShort ? `:${form}@` : form, isShort ? `:${mask}@` : mask);
}

function nextMask(rule: string, numbers: Map<string, number>): string {
  const kind = rule.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const number = (numbers.get(kind) ?? 0) + 1;
  numbers.set(kind, number);
  return `redacted-${kind}-${number}`;
}
