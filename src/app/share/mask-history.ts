// Rewrites a history with masks: each file of each commit, and the commits' messages and authors.
import { MERGE_ORIGIN } from "../../core/compact/fork-merge.ts";
import { attachmentPath } from "../../core/conversation/attachment.ts";
import { parseCompactionLine } from "../../core/conversation/compaction-line.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { splitLines, turnIndexOfPath } from "../../core/conversation/turn-file.ts";
import { JpgError, repositoryError } from "../../core/errors.ts";
import { type Masker, maskLine } from "../../core/secrets/mask.ts";
import { needsGit } from "../../store/git-dir.ts";
import { isForkMergeMessage } from "../../store/messages.ts";
import type {
  BranchTip,
  ConversationStore,
  FileChange,
  HistoryChange,
  HistoryCommit,
  NewHistoryCommit,
  Signature,
} from "../../store/store.ts";
import { checkCovers, coverFacts, coversDigest } from "../conversation/covers.ts";
import { countProgress, type ReportProgress } from "../conversation/progress.ts";
import { blobId, sha256 } from "../conversation/runtime.ts";
import { collectBlobs, listTurnOids } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { type CopyNames, findRemainingTexts, isSourcePath } from "./find-masks.ts";
import type { RedactPlan } from "./redact-plan.ts";
import { describeDamage, findDamage } from "./refuse-damage.ts";
import { requireSharing } from "./remotes.ts";
import { findOutgoingSecrets, openCleanObjects } from "./scan-outgoing.ts";

/** Masks commits, parents first; `objects` collects what became of each blob. */
async function* maskHistory(
  history: readonly HistoryCommit[],
  masked: MaskedHistory,
  objects: Map<string, string>,
): AsyncGenerator<NewHistoryCommit> {
  const positions = new Map(history.map(({ commit }, position) => [commit, position]));
  const state: MaskState = { ...masked, objects, names: new Map() };
  for (const { commit, parents, author, committer, message, changes } of countProgress(
    masked,
    "masking commits",
    history,
  )) {
    yield {
      parents: parents.flatMap((parent) => positions.get(parent) ?? []),
      author: maskSignature(author, masked.masker),
      committer: maskSignature(committer, masked.masker),
      message: maskMessage(isForkMergeMessage(message) ? renameForks(message, masked) : message, masked.masker, (id) =>
        positions.has(id),
      ),
      changes: await maskChanges(state, commit, changes),
    };
  }
}

function maskSignature(signature: Signature, { mask }: Masker): Signature {
  return { ...signature, name: mask(signature.name), email: mask(signature.email) };
}

/** Quotes in a message: a secret may be cut there, or broken up by the marks of its lines. */
const QUOTES = /^(`{3,})[a-z]*\n(?:.*\n)*?\1$/gm;

/** Masks line by line, so that a subject stays one line. Ids of original commits are removed: they exist nowhere else. */
function maskMessage(message: string, masker: Masker, isOld: (commit: string) => boolean): string {
  return masker
    .maskLines(message.replace(QUOTES, "    (left out of the redacted copy; `jpg show` has it)"))
    .replace(/\b[0-9a-f]{40}\b/g, (id) => (isOld(id) ? "of the original" : id));
}

async function maskChanges(
  state: MaskState,
  commit: string,
  changes: readonly HistoryChange[],
): Promise<readonly FileChange[]> {
  const kept = changes.filter(({ path, special }) => special === undefined && isKept(state, path));
  const masked: FileChange[] = [];
  for (const change of kept.toSorted((a, b) => rankOf(a.path) - rankOf(b.path) || (a.path < b.path ? -1 : 1)))
    masked.push(await maskChange(state, commit, change));
  return masked;
}

function isKept({ attachments }: MaskState, path: string): boolean {
  if (isSourcePath(path)) return false;
  return !path.startsWith("attachments/") || attachments.has(attachmentOf(path));
}

function attachmentOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The order of masking: attachments, then turns that name them, then records that name turns. */
function rankOf(path: string): number {
  if (path.startsWith("attachments/")) return 0;
  return turnIndexOfPath(path) === null ? 2 : 1;
}

async function maskChange(state: MaskState, commit: string, { path, oid }: HistoryChange): Promise<FileChange> {
  const isAttachment = path.startsWith("attachments/");
  if (oid === null)
    return { path: isAttachment ? newAttachmentPath(state, path) : maskPath(state, path), remove: true };
  const known = state.objects.get(oid);
  if (known !== undefined)
    return { path: isAttachment ? newAttachmentPath(state, path) : maskPath(state, path), oid: known };
  const [old = new Uint8Array()] = await collectBlobs(state.store, [oid]);
  const { bytes, isFinal } = await maskFile(state, { commit, path, bytes: old });
  const id = blobId(bytes);
  if (isFinal) state.objects.set(oid, id);
  if (turnIndexOfPath(path) !== null) state.names.set(oid, id);
  if (isAttachment) nameAttachment(state, path, bytes);
  const place = isAttachment ? newAttachmentPath(state, path) : maskPath(state, path);
  return id === oid ? { path: place, oid } : { path: place, bytes };
}

function maskPath({ masker }: MaskState, path: string): string {
  return path.split("/").map(masker.mask).join("/");
}

function nameAttachment({ names }: MaskState, path: string, bytes: Uint8Array): void {
  const old = attachmentOf(path);
  names.set(old, sha256(bytes) + old.slice(64));
}

function newAttachmentPath({ names }: MaskState, path: string): string {
  const name = names.get(attachmentOf(path));
  return name === undefined ? path : attachmentPath(name);
}

// Masks a file of a commit. Digests of what was masked (`prev`, `covers`, names of attachments) become those of the new bytes. A
// digest of something outside the history may be of a secret, and is removed.

/** How a history is rewritten. */
interface MaskedHistory {
  readonly store: ConversationStore;
  readonly progress: ReportProgress;
  readonly masker: Masker;
  /** For binary files, one character per byte: a secret occurs there as UTF-8. */
  readonly bytesMasker: Masker;
  /** The id of the copy. */
  readonly id: string;
  /** Names of its branches, by their original names. */
  readonly renamed: ReadonlyMap<string, string>;
  /** Names of the attachments to keep. */
  readonly attachments: ReadonlySet<string>;
}

/** What is known so far. */
interface MaskState extends MaskedHistory {
  /** New object ids of blobs by old ones. */
  readonly objects: Map<string, string>;
  /** Replacements of whole strings: object ids of turn files and names of attachments. */
  readonly names: Map<string, string>;
}

/** Replaces a digest that is removed. */
const NO_BLOB = "0".repeat(40);
const NO_DIGEST = "0".repeat(64);

interface OldFile {
  readonly commit: string;
  readonly path: string;
  readonly bytes: Uint8Array;
}

interface NewFile {
  readonly bytes: Uint8Array;
  /** Whether the same bytes are masked in the same way in every commit. */
  readonly isFinal: boolean;
}

async function maskFile(state: MaskState, file: OldFile): Promise<NewFile> {
  const { path, bytes } = file;
  if (path === "conversation.json") return final(maskHeader(state, decode(bytes)));
  if (turnIndexOfPath(path) !== null) return final(maskTurn(state, decode(bytes)));
  if (path.startsWith("compactions/")) return maskCompaction(state, file);
  return final(maskContent(state, path, bytes));
}

function final(content: string | Uint8Array): NewFile {
  return { bytes: typeof content === "string" ? Buffer.from(content) : content, isFinal: true };
}

function maskHeader({ masker, names, id }: MaskState, text: string): string {
  const header = JSON.parse(maskLine(text, masker, names)) as Readonly<Record<string, unknown>>;
  // The copy is not the imported conversation: a session that continues is imported into the original.
  return `${JSON.stringify({ ...header, id, source: null })}\n`;
}

/** Renames the forks that jpg's own text about a merge names. */
function renameForks(text: string, { renamed, id }: Pick<MaskedHistory, "renamed" | "id">): string {
  const [old = ""] = renamed.keys();
  const named = new RegExp(`(?<![A-Za-z0-9-])${conversationOf(old)}/([A-Za-z0-9_-]+)`, "g");
  return text.replace(named, (name, fork: string) => renamed.get(name) ?? `${id}/${fork}`);
}

/** Marks a merge that jpg made; inside a text its quotes would be escaped. */
const OF_MERGE = `"origin":"${MERGE_ORIGIN}"`;

function maskTurn(state: MaskState, text: string): string {
  const { masker, names } = state;
  let isFirst = true;
  let masked = "";
  for (const line of splitLines(text)) {
    const end = line.endsWith("\n") ? "\n" : "";
    const named = line.includes(OF_MERGE) ? renameForks(line, state) : line;
    const own = isFirst ? withoutUnknown(named, names) : named;
    masked += maskLine(end === "" ? own : own.slice(0, -1), masker, names) + end;
    isFirst = false;
  }
  return masked;
}

/** Removes the ids of turns outside the history from `prev` and `turns`. */
function withoutUnknown(line: string, names: ReadonlyMap<string, string>): string {
  return line.replace(/"prev" *: *"[0-9a-f]{40}"|"turns" *: *\[[^\]]*\]/g, (field) =>
    field.replace(/"([0-9a-f]{40})"/g, (whole, oid: string) => (names.has(oid) ? whole : `"${NO_BLOB}"`)),
  );
}

async function maskCompaction(state: MaskState, { commit, path, bytes }: OldFile): Promise<NewFile> {
  const text = decode(bytes);
  const { masker, names } = state;
  const covers = await newCovers(state, { commit, path, text });
  if (covers === null) return final(maskLines(text, masker, names));
  const own = new Map([...names, [covers.old, covers.fresh]]);
  return { bytes: Buffer.from(maskLines(text, masker, own)), isFinal: covers.fresh !== NO_DIGEST };
}

/** The digest of what a compaction covers, old and new; null if it has none. One that did not match before never matches. */
async function newCovers(
  state: MaskState,
  { commit, path, text }: { readonly commit: string; readonly path: string; readonly text: string },
): Promise<{ readonly old: string; readonly fresh: string } | null> {
  try {
    const compaction = parseCompactionLine(text, path);
    if (compaction.covers === undefined) return null;
    const turnOids = (await listTurnOids(state.store, commit)).map((oid) => oid ?? "");
    const facts = coverFacts(state.store, { turnOids });
    const { matches } = await checkCovers(compaction, facts);
    if (!matches) return { old: compaction.covers, fresh: NO_DIGEST };
    const fresh = await coversDigest(boundsOf(compaction, state), {
      turnOids: turnOids.map((oid) => state.objects.get(oid) ?? oid),
      readText: async (index) => maskTurn(state, await facts.readText(index)),
    });
    return { old: compaction.covers, fresh: fresh ?? NO_DIGEST };
  } catch (error) {
    if (error instanceof JpgError && error.code === "malformed_compaction") return null;
    throw error;
  }
}

type Bounds = Parameters<typeof coversDigest>[0];

/** Masks the ids of the events that bound a compaction. */
function boundsOf(bounds: Bounds, { masker }: MaskState): Bounds {
  const { from_event: from, to_event: to } = bounds;
  return {
    ...bounds,
    ...(from === undefined ? {} : { from_event: masker.mask(from) }),
    ...(to === undefined ? {} : { to_event: masker.mask(to) }),
  };
}

function maskLines(text: string, masker: Masker, names: ReadonlyMap<string, string>): string {
  return [...splitLines(text)]
    .map((line) =>
      line.endsWith("\n") ? `${maskLine(line.slice(0, -1), masker, names)}\n` : maskLine(line, masker, names),
    )
    .join("");
}

/** Masks any other file: as JSON lines by its name, else as text; a binary file keeps its length. */
function maskContent({ masker, bytesMasker, names }: MaskState, path: string, bytes: Uint8Array): string | Uint8Array {
  const text = decodeExactly(bytes);
  if (text === null) return maskBytes(bytesMasker, bytes);
  // A secret may span several lines of a text.
  return /\.jsonl?$/.test(path) ? maskLines(text, masker, names) : masker.mask(text);
}

function maskBytes({ spans }: Masker, bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString("latin1");
  const found = spans(text);
  if (found.length === 0) return bytes;
  const masked = Buffer.from(bytes);
  for (const { start, end, mask } of found)
    masked.write(mask.padEnd(end - start, "-").slice(0, end - start), start, "latin1");
  return masked;
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Null when the bytes are not UTF-8. */
function decodeExactly(bytes: Uint8Array): string | null {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return Buffer.compare(Buffer.from(text), bytes) === 0 ? text : null;
}

// Writes a masked copy and checks it as a push would. It is on no branch yet: git's gc removes a copy that fails the check.

/** A copy that is written but on no branch yet. */
export interface WrittenCopy {
  readonly names: CopyNames;
  readonly branches: readonly BranchTip[];
}

/** Writes the copy. Throws `redact_incomplete`, `redact_damages`. */
export async function writeCopy(workspace: Workspace, plan: RedactPlan, names: CopyNames): Promise<WrittenCopy> {
  const { store } = workspace;
  const { history, tips, found } = plan;
  if (store.histories === null) throw needsGit("A masked copy of a conversation", workspace.runtime.env);
  const objects = new Map<string, string>();
  const { id, masker, bytesMasker, branches: renamed } = names;
  const written = await store.histories.write(
    maskHistory(
      history,
      { store, progress: workspace.progress, masker, bytesMasker, id, renamed, attachments: found.attachments },
      objects,
    ),
  );
  const commits = new Map(history.map(({ commit }, position) => [commit, written[position] ?? ""]));
  const branches = tips.map(({ name, commit }) => ({
    name: renamed.get(name) ?? "",
    commit: commits.get(commit) ?? "",
  }));
  // Clean objects in which only digests changed are clean, too.
  await openCleanObjects(store).add([...objects].flatMap(([old, fresh]) => (found.clean.has(old) ? [fresh] : [])));
  await requireMasked(workspace, plan, branches);
  await requireSound(store, plan, branches);
  return { names, branches };
}

/** Scans what was written as a push would. Throws `redact_incomplete`. */
async function requireMasked(
  workspace: Workspace,
  { wanted, found }: RedactPlan,
  branches: readonly BranchTip[],
): Promise<void> {
  const tips = branches.map(({ commit }) => commit);
  const { objects } = await requireSharing(workspace).outgoing({ tips, known: [] });
  const names = branches.map(({ name }) => name);
  const rules = new Set(wanted.rules.length > 0 ? wanted.rules : found.secrets.map(({ rule }) => rule));
  const isAll = wanted.rules.length === 0 && wanted.texts.length === 0;
  const left = [
    ...(await findOutgoingSecrets(workspace, { objects, names })).filter(
      ({ rule, fingerprint }) => (isAll || rules.has(rule)) && !wanted.allowed.includes(fingerprint),
    ),
    // No rule finds the texts that the user named.
    ...(await findRemainingTexts(workspace.store, { objects, names }, wanted.texts)),
  ];
  const [first] = left;
  if (first === undefined) return;
  throw repositoryError(
    "redact_incomplete",
    `${left.length === 1 ? "A secret" : `${left.length} secrets`} could not be masked, the first in ${first.path}, line ${first.line} (${first.rule}); nothing was made.`,
    {
      hints: ["`jpg redact ID --text -` masks exactly the text that it reads from standard input. Please report this."],
      data: { secrets: left },
    },
  );
}

/** Checks that no word of jpg's own files was masked. Throws `redact_damages`, unless the original is damaged, too. */
async function requireSound(
  store: ConversationStore,
  { tips }: RedactPlan,
  branches: readonly BranchTip[],
): Promise<void> {
  const damaged = await findDamage(store, branches);
  if (damaged === null || (await findDamage(store, tips)) !== null) return;
  throw repositoryError(
    "redact_damages",
    `The masked copy would be damaged, so none was made:\n${describeDamage(damaged.finding)}`,
    {
      hints: ["A word of jpg's own file format, such as `type`, cannot be masked: give more of the text around it."],
      data: { code: damaged.finding.code },
    },
  );
}
