// Finds what is to be masked, in a history or in lines that are not stored yet.
import { titleOfRequest } from "../../core/conversation/marks.ts";
import { branchName, conversationId, conversationOf, forkOf } from "../../core/conversation/name.ts";
import { turnIndexOfPath } from "../../core/conversation/turn-file.ts";
import { appendAll } from "../../core/lists.ts";
import {
  createMasker,
  encodedForms,
  type Masker,
  sampleOf,
  textsOfContents,
  unescapedText,
} from "../../core/secrets/mask.ts";
import type { OutgoingObject } from "../../store/sharing.ts";
import type { BranchTip, ConversationStore, HistoryCommit, MaskedCopy } from "../../store/store.ts";
import { countArrivals } from "../conversation/progress.ts";
import { randomId } from "../conversation/runtime.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { createBufferSource } from "../sessions/sources.ts";
import { findInSources, fingerprintOf, loadSecretScanner, type ScannedSource } from "./scan.ts";
import { type OutgoingSecret, openCleanObjects } from "./scan-outgoing.ts";

export interface FoundMasks {
  readonly secrets: readonly MaskedSecret[];
  /** Masks by every form in which a secret occurs. Never shown. */
  readonly masks: ReadonlyMap<string, string>;
  readonly given: GivenMasks;
  /** Objects in which nothing was found, now or earlier. */
  readonly clean: ReadonlySet<string>;
  /** Names of the attachments that files other than sources refer to. */
  readonly attachments: ReadonlySet<string>;
}

/** A text, and its path in a tree that has it or would have it. */
export interface TextAtPath {
  readonly path: string;
  readonly text: string;
}

/** A blob of a history and the first path it has. */
interface Scanned {
  readonly oid: string;
  readonly path: string;
}

/** Scans a whole history, sources too; `names` = names of its branches. */
export async function findMasks(
  workspace: Workspace,
  history: readonly HistoryCommit[],
  { wanted, names }: { readonly wanted: WantedSecrets; readonly names: readonly string[] },
): Promise<FoundMasks> {
  const known = openCleanObjects(workspace.store);
  const blobs = blobsOf(history);
  const attachments = new Set<string>();
  const numbers = new Map<string, number>();
  // Without texts to mask there is nothing to look for.
  let hasTexts = wanted.texts.length === 0;
  const sought = wanted.texts.flatMap(encodedForms);
  const seams: (readonly [string, string])[] = [];
  const look = (text: string, isSource: boolean): void => {
    hasTexts ||= readingsOf(text).some((reading) => sought.some((form) => reading.includes(form)));
    if (isSource) return;
    appendAll(seams, seamsIn(text));
    if (text.includes("$attachment")) for (const [, name = ""] of text.matchAll(REFERENCE)) attachments.add(name);
    if (text.includes("redacted-")) keepNumbers(text, numbers);
  };
  const list = createMaskList(wanted, numbers);
  const dirty = new Set<string>();
  const scanner = await loadSecretScanner(workspace);
  const sources = contentsOf(workspace, { blobs, known, look, isAsked: wanted.texts.length > 0 });
  const found: { readonly in: Scanned; readonly rule: string; readonly secret: string }[] = [];
  for await (const one of findInSources(scanner, sources, { thorough: true })) {
    dirty.add(one.in.oid);
    found.push(one);
  }
  for await (const one of findInSources(scanner, commitTexts(history, names, look), { thorough: true }))
    found.push(one);
  // By now all used numbers are known.
  for (const { in: place, rule, secret } of found) list.add({ rule, secret, path: place.path });
  if (hasTexts) for (const secret of wanted.texts) list.add({ rule: "text", secret, path: "" });
  list.addAcross(seams);
  const clean = blobs.flatMap(({ oid }) => (dirty.has(oid) ? [] : [oid]));
  await known.add(clean.filter((oid) => !known.has(oid)));
  return { secrets: list.secrets(), masks: list.masks, given: list.given(), clean: new Set(clean), attachments };
}

/** Finds what is to be masked in lines that are not stored yet. */
export async function findMasksInLines(
  workspace: Workspace,
  sources: Iterable<TextAtPath> | AsyncIterable<TextAtPath>,
  wanted: WantedSecrets,
): Promise<Pick<FoundMasks, "secrets" | "masks">> {
  const numbers = new Map<string, number>();
  const found: FoundPlace[] = [];
  const scanned = async function* (): AsyncGenerator<ScannedSource<string>> {
    for await (const { path, text } of sources) {
      keepNumbers(text, numbers);
      yield { name: path, lines: createBufferSource(Buffer.from(text)) };
    }
  };
  const scanner = await loadSecretScanner(workspace);
  for await (const { in: path, rule, secret } of findInSources(scanner, scanned(), { thorough: true }))
    found.push({ rule, secret, path });
  const list = createMaskList(wanted, numbers);
  for (const one of found) list.add(one);
  return { secrets: list.secrets(), masks: list.masks };
}

const REFERENCE = /"\$+attachment" *: *"([0-9a-f]{64}(?:\.[a-z0-9]{1,16})?)"/g;

function blobsOf(history: readonly HistoryCommit[]): readonly Scanned[] {
  const blobs = new Map<string, Scanned>();
  // If an object is a source and something else, the other path counts.
  for (const { changes } of history)
    for (const { oid, path, special } of changes)
      if (oid !== null && special === undefined && isSourcePath(blobs.get(oid)?.path ?? "sources/"))
        blobs.set(oid, { oid, path });
  return [...blobs.values()];
}

interface Contents {
  readonly blobs: readonly Scanned[];
  readonly known: { has(oid: string): boolean };
  readonly look: (text: string, isSource: boolean) => void;
  /** Whether the user named texts, which no rule finds. */
  readonly isAsked: boolean;
}

/** The contents to scan. Everything that stays in the copy is read, but known clean objects are not scanned. */
async function* contentsOf(
  workspace: Workspace,
  { blobs, known, look, isAsked }: Contents,
): AsyncGenerator<ScannedSource<Scanned>> {
  const read = blobs.filter(({ oid, path }) => isAsked || !isSourcePath(path) || !known.has(oid));
  let at = 0;
  const items = workspace.store.readBlobs(read.map(({ oid }) => oid));
  for await (const bytes of countArrivals(workspace, "looking for secrets in objects", { items, total: read.length })) {
    const blob = read[at++];
    if (blob === undefined) continue;
    const lines = createBufferSource(Buffer.from(bytes));
    look(lines.text(), isSourcePath(blob.path));
    if (!known.has(blob.oid)) yield { name: blob, lines };
  }
}

/** Texts outside of files: messages and authors of commits, names of files and branches. */
function* commitTexts(
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

/** The words of a mask are no secret. */
const MASK = /redacted-[a-z0-9-]+?-\d+/g;

/** Lists the texts that remain somewhere, with the first place of each in an object. */
export async function findRemainingTexts(
  store: ConversationStore,
  { objects, names }: { readonly objects: readonly OutgoingObject[]; readonly names: readonly string[] },
  texts: readonly string[],
): Promise<readonly OutgoingSecret[]> {
  if (texts.length === 0) return [];
  const paths = [...names, ...objects.map(({ path }) => path)].join("\n");
  const left = [...remainingIn("names of branches and files", Buffer.from(paths), texts)];
  let at = 0;
  for await (const bytes of store.readBlobs(objects.map(({ oid }) => oid))) {
    const { kind, oid, path } = objects[at++] ?? { kind: "blob", oid: "", path: "" };
    for (const one of remainingIn(kind === "blob" ? path : `${kind} ${oid.slice(0, 9)}`, Buffer.from(bytes), texts))
      left.push(one);
  }
  return left;
}

function* remainingIn(path: string, bytes: Buffer, texts: readonly string[]): Generator<OutgoingSecret> {
  const written = bytes.toString().replace(MASK, "");
  const forms = readingsOf(written);
  for (const text of texts.flatMap(encodedForms)) {
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

/** Characters on either side of a seam between two parts of a content that a secret may cover. */
const SEAM = 200;

/** The seams between the parts of one content: the end of one, and the beginning of the next. */
function seamsIn(text: string): readonly (readonly [string, string])[] {
  return contentsIn(text).flatMap((texts) =>
    texts.slice(1).map((next, before) => [texts[before]?.slice(-SEAM) ?? "", next.slice(0, SEAM)] as const),
  );
}

/** Characters: so much of a secret reveals it. */
const MIN_PART_CHARACTERS = 8;

/**
 * How a secret across a seam reads elsewhere: its two parts joined by a space or line break, as in a title, or each alone, as in a
 * summary of the two texts.
 */
function acrossSeam([left, right]: readonly [string, string], secret: string): readonly string[] {
  const at = (left + right).indexOf(secret, Math.max(0, left.length - secret.length + 1));
  const length = left.length - at;
  if (at < 0 || length <= 0 || length >= secret.length) return [];
  const parts = [secret.slice(0, length), secret.slice(length)];
  return [parts.join(" "), parts.join("\n"), ...parts.filter((part) => part.length >= MIN_PART_CHARACTERS)];
}

/** A file's text as written, with its escapes resolved, and with the parts of each content joined. */
function readingsOf(text: string): readonly string[] {
  return [text, unescapedText(text)?.text ?? "", ...contentsIn(text).map((texts) => texts.join(""))];
}

/** What to mask: the finds of rules, and texts that the user named. */
export interface WantedSecrets {
  /** Names of rules; none = all. */
  readonly rules: readonly string[];
  readonly texts: readonly string[];
  /** Fingerprints of secrets that the user allows. */
  readonly allowed: readonly string[];
  /** Names of rules whose finds are allowed this once; absent = none. */
  readonly passing?: readonly string[];
  /** The masks `given` in an earlier copy; absent = none. */
  readonly given?: GivenMasks;
}

/** A secret that is masked, with only what may be shown of it. */
export interface MaskedSecret {
  readonly rule: string;
  readonly sample: string;
  readonly fingerprint: string;
  /** What replaces it. */
  readonly mask: string;
  /** How many times rules found it. */
  readonly count: number;
  /** The path in the tree, or `commit ID`, where it was found first. */
  readonly path: string;
  /** 0-based; absent where the path is no turn. */
  readonly turn?: number;
}

/** Masks by fingerprint of the secret without its white space. */
export type GivenMasks = Readonly<Record<string, string>>;

/** Whether a path is one of the agent's own files. */
export function isSourcePath(path: string): boolean {
  return path.startsWith("sources/");
}

/** Keeps the masks of a conversation that was redacted before: new numbers continue theirs. */
function keepNumbers(text: string, numbers: Map<string, number>): void {
  for (const [, rule = "", number] of text.matchAll(/redacted-([a-z0-9-]+?)-(\d{1,9})(?!\d)/g))
    numbers.set(rule, Math.max(numbers.get(rule) ?? 0, Number(number)));
}

/** The masks in a text, each as often as it occurs. */
export function masksIn(text: string): readonly string[] {
  return text.match(/redacted-[a-z0-9-]+?-\d{1,9}(?!\d)/g) ?? [];
}

/** The secrets whose masks occur in masked texts: the ones to report. */
export function maskedIn(secrets: readonly MaskedSecret[], texts: readonly string[]): readonly MaskedSecret[] {
  const masks = new Set(texts.flatMap(masksIn));
  return secrets.filter(({ mask }) => masks.has(mask));
}

/** A find and its path. */
interface FoundPlace {
  readonly rule: string;
  readonly secret: string;
  readonly path: string;
}

/** The secrets to mask, in the order in which they were found. */
interface MaskList {
  readonly masks: ReadonlyMap<string, string>;
  add(found: FoundPlace): void;
  /** Adds the forms of secrets that cross a seam. */
  addAcross(seams: readonly (readonly [string, string])[]): void;
  secrets(): readonly MaskedSecret[];
  given(): GivenMasks;
}

/** `numbers` = the highest used number of each kind. */
function createMaskList(
  { rules, allowed, passing = [], given: earlier = {} }: WantedSecrets,
  numbers: Map<string, number>,
): MaskList {
  for (const mask of Object.values(earlier)) keepNumbers(mask, numbers);
  const masks = new Map<string, string>();
  const secrets = new Map<string, MaskedSecret>();
  const isWanted = ({ rule, secret }: FoundPlace): boolean => {
    if (rule === "text") return true;
    if (allowed.includes(fingerprintOf(secret)) || passing.includes(rule)) return false;
    return rules.length === 0 || rules.includes(rule);
  };
  return {
    masks,
    secrets: () => [...secrets.values()],
    given: () => Object.fromEntries([...secrets].map(([same, { mask }]) => [fingerprintOf(same), mask])),
    addAcross(seams) {
      for (const [secret, mask] of [...masks])
        for (const seam of seams) for (const form of acrossSeam(seam, secret)) masks.set(form, mask);
    },
    add(found) {
      if (!isWanted(found)) return;
      const { rule, secret, path } = found;
      const plain = unescapedText(secret)?.text ?? secret;
      // A key is the same whatever its line ends.
      const same = plain.replace(/\s+/g, "");
      const known = secrets.get(same);
      const mask = known?.mask ?? earlier[fingerprintOf(same)] ?? nextMask(rule, numbers);
      const turn = turnIndexOfPath(path);
      const place = turn === null ? { path } : { path, turn };
      const fresh = { rule, sample: sampleOf(secret), fingerprint: fingerprintOf(secret), mask, count: 0, ...place };
      // A path that stays in the copy is shown rather than a source.
      const shown = known === undefined || (isSourcePath(known.path) && !isSourcePath(path)) ? fresh : known;
      secrets.set(same, { ...shown, count: (known?.count ?? 0) + 1 });
      const forms = rule === "text" ? [secret, plain].flatMap(encodedForms) : [secret, plain];
      for (const form of forms) addForm(masks, form, { rule, mask });
    },
  };
}

/** Characters: a shorter password may be a usual word, so it is masked only in an address or a login. */
const SHORT_CHARACTERS = 8;
/** The texts before and after such a password, by the rule that finds it. */
const PASSWORD_SURROUNDINGS: Readonly<Partial<Record<string, readonly [string, string]>>> = {
  "url-credentials": [":", "@"],
  "curl-login": [":", ""],
};

function addForm(masks: Map<string, string>, form: string, { rule, mask }: { rule: string; mask: string }): void {
  const [before, after] = (form.length < SHORT_CHARACTERS ? PASSWORD_SURROUNDINGS[rule] : undefined) ?? ["", ""];
  masks.set(before + form + after, before + mask + after);
}

function nextMask(rule: string, numbers: Map<string, number>): string {
  const kind = rule.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const number = (numbers.get(kind) ?? 0) + 1;
  numbers.set(kind, number);
  return `redacted-${kind}-${number}`;
}

// Names of a masked copy: a new id, and names of its forks without any secret. An earlier copy keeps its names.

/** Names of a copy and its branches, and the masks, which include its id where that needs one. */
export interface CopyNames {
  readonly id: string;
  readonly masker: Masker;
  /** For bytes; see `MaskedHistory`. */
  readonly bytesMasker: Masker;
  /** Names of the new branches, by those of the old ones. */
  readonly branches: ReadonlyMap<string, string>;
}

/** What the names of a copy are made from. */
interface NamedOriginal {
  readonly tips: readonly BranchTip[];
  readonly found: FoundMasks;
  readonly title: string;
  readonly earlier: MaskedCopy | null;
}

/** Returns unused names, or those of the earlier copy. */
export async function nameCopy(
  { store, runtime }: Workspace,
  { tips, found, title, earlier }: NamedOriginal,
): Promise<CopyNames> {
  const conversation = conversationOf(tips[0]?.name ?? "");
  const { mask } = createMasker(found.masks);
  const taken = new Set((await store.listBranches()).map(({ name }) => conversationOf(name)));
  const fresh = (): string => conversationId(titleOfRequest(mask(title)) || "conversation", randomId(runtime, 4));
  let id = earlier?.copy ?? fresh();
  while (earlier === null && taken.has(id)) id = fresh();
  const revealsSecret = isSlugOf(found.masks);
  // An id made from a secret is a secret, too, wherever it occurs.
  const masks = revealsSecret(conversation) ? new Map([...found.masks, [conversation, id]]) : found.masks;
  const branches = new Map(Object.entries(earlier?.branches ?? {}).map(([name, copied]) => [name, copied.name]));
  for (const { name } of tips) {
    if (branches.has(name)) continue;
    const plain = mask(forkOf(name));
    const fork = plain === forkOf(name) && revealsSecret(plain) ? "redacted" : plain;
    const used = new Set(branches.values());
    let free = branchName(id, fork);
    for (let number = 2; used.has(free); number++) free = branchName(id, `${fork}-${number}`);
    branches.set(name, free);
  }
  const bytesMasks = new Map(
    [...masks].flatMap(([secret, mask]) => [secret, inBytes(secret)].map((form) => [form, mask])),
  );
  return { id, masker: createMasker(masks), bytesMasker: createMasker(bytesMasks), branches };
}

/** A text with each byte of its UTF-8 as one character. */
function inBytes(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** Characters: so much of a secret in a name reveals it. */
const MIN_SLUG_CHARACTERS = 8;

/** Whether a name contains a secret as a slug: lower-case letters, digits and hyphens, perhaps cut. */
function isSlugOf(masks: ReadonlyMap<string, string>): (name: string) => boolean {
  const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const begun = [...masks.keys()].map((secret) =>
    plain(secret)
      .replace(/^-/, "")
      .slice(0, MIN_SLUG_CHARACTERS + 4),
  );
  const known = begun.filter((text) => text.length >= MIN_SLUG_CHARACTERS && !text.startsWith("begin-"));
  return (name) => known.some((text) => plain(name).includes(text));
}
