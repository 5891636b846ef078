// Finds what is to be masked, in a history or in lines that are nowhere stored yet.
import { appendAll } from "../../core/lists.ts";
import { writtenForms } from "../../core/secrets/mask.ts";
import type { ConversationStore, HistoryCommit } from "../../store/store.ts";
import { findInSources, type ScannedSource } from "../secrets/scan-source.ts";
import { loadSecretScanner } from "../secrets/secret-scanner.ts";
import { createBufferSource } from "../sessions/buffer-source.ts";
import { openCleanObjects } from "../share/clean-objects.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { readingsOf, seamsIn } from "./left-texts.ts";
import {
  createMaskList,
  type FoundPlace,
  type GivenMasks,
  isSourcePath,
  keepNumbers,
  type MaskedSecret,
  type WantedSecrets,
} from "./mask-list.ts";

/** What was found. */
export interface FoundMasks {
  readonly secrets: readonly MaskedSecret[];
  /** Masks by every form in which a secret stands somewhere. Shown to nobody. */
  readonly masks: ReadonlyMap<string, string>;
  readonly given: GivenMasks;
  /** Objects in which nothing was found, before and now. */
  readonly clean: ReadonlySet<string>;
  /** Names of the attachments that something but sources refers to. */
  readonly attachments: ReadonlySet<string>;
}

/** A text, and the path of a tree that it stands at or would. */
export interface TextAtPath {
  readonly path: string;
  readonly text: string;
}

/** A blob of a history and the first path it has. */
interface Scanned {
  readonly oid: string;
  readonly path: string;
}

/** Looks at everything in a history, sources too; `names` = names of its branches. */
export async function findMasks(
  workspace: Workspace,
  history: readonly HistoryCommit[],
  { wanted, names }: { readonly wanted: WantedSecrets; readonly names: readonly string[] },
): Promise<FoundMasks> {
  const { store } = workspace;
  const known = openCleanObjects(store);
  const blobs = blobsOf(history);
  const attachments = new Set<string>();
  const numbers = new Map<string, number>();
  // Without texts that are wanted there is nothing to look for.
  let hasTexts = wanted.texts.length === 0;
  const sought = wanted.texts.flatMap(writtenForms);
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
  return { secrets: list.secrets(), masks: list.masks, given: list.given(), clean: new Set(clean), attachments };
}

/** Finds what is to be masked in lines that are nowhere stored yet. */
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
  // What is no source counts where an object is both.
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
