// A file of a commit with masks in it. Digests that follow from what was masked (`prev`, `covers`, names of attachments) are those
// of the new bytes; a digest of what is not in the history is of something that may hold a secret, and goes.

import { MERGE_ORIGIN } from "../../core/compact/fork-merge.ts";
import { parseCompactionLine } from "../../core/conversation/compaction-line.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { splitLines, turnIndexOfPath } from "../../core/conversation/turn-file.ts";
import { JpgError } from "../../core/errors.ts";
import { type Masker, maskLine } from "../../core/secrets/mask.ts";
import type { ConversationStore } from "../../store/store.ts";
import { coverFacts } from "../branch/cover-facts.ts";
import { checkCovers, coversDigest } from "../branch/covers.ts";
import { listTurnOids } from "../branch/turn-list.ts";

/** How a history is written anew. */
export interface MaskedHistory {
  readonly store: ConversationStore;
  readonly masker: Masker;
  /** For what is no text, a character a byte: there a secret stands as it is written in UTF-8. */
  readonly bytesMasker: Masker;
  /** Id of the new conversation. */
  readonly id: string;
  /** Names of its branches, by those that they had in the original. */
  readonly renamed: ReadonlyMap<string, string>;
  /** Names of the attachments that are kept. */
  readonly attachments: ReadonlySet<string>;
}

/** What is known while it is written. */
export interface MaskState extends MaskedHistory {
  /** New object ids of blobs by old ones. */
  readonly objects: Map<string, string>;
  /** What whole strings become: object ids of turn files and names of attachments. */
  readonly names: Map<string, string>;
}

/** Says in the place of a digest that there is none. */
const NO_BLOB = "0".repeat(40);
const NO_DIGEST = "0".repeat(64);

interface OldFile {
  readonly commit: string;
  readonly path: string;
  readonly bytes: Uint8Array;
}

interface NewFile {
  readonly bytes: Uint8Array;
  /** Whether the same bytes become the same wherever they stand. */
  readonly isFinal: boolean;
}

/** Masks a file of a commit. */
export async function maskFile(state: MaskState, file: OldFile): Promise<NewFile> {
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
  // It is no more what was imported: a session that goes on goes on in the original.
  return `${JSON.stringify({ ...header, id, source: null })}\n`;
}

/** What jpg itself says of a merge names the fork of the copy, as far as it is in it. */
export function renameForks(text: string, { renamed, id }: Pick<MaskedHistory, "renamed" | "id">): string {
  const [old = ""] = renamed.keys();
  const named = new RegExp(`(?<![A-Za-z0-9-])${conversationOf(old)}/([A-Za-z0-9_-]+)`, "g");
  return text.replace(named, (name, fork: string) => renamed.get(name) ?? `${id}/${fork}`);
}

/** In what jpg makes of a merge; inside a text its quotes have escapes. */
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

/** A turn said after one that is not in the history still follows none that is; so with the turns that it tells of. */
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

/** What a compaction was made over, as it is now; a digest that does not fit the branch fits none afterwards. */
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

/** The events that bound it are named as they are now. */
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

/** Any other file: lines of JSON where its name says so, else a text; what is no text keeps its length. */
function maskContent({ masker, bytesMasker, names }: MaskState, path: string, bytes: Uint8Array): string | Uint8Array {
  const text = decodeExactly(bytes);
  if (text === null) return maskBytes(bytesMasker, bytes);
  // A secret may span lines of a text.
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

/** Null when the bytes are not those of a text. */
function decodeExactly(bytes: Uint8Array): string | null {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return Buffer.compare(Buffer.from(text), bytes) === 0 ? text : null;
}
