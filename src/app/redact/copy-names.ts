// Names of a masked copy: an id of its own and those of its forks, in which nothing of a secret stands either. A copy that was
// made before keeps its names.

import { titleOfRequest } from "../../core/conversation/marks.ts";
import { branchName, conversationId, conversationOf, forkOf } from "../../core/conversation/name.ts";
import { createMasker, type Masker } from "../../core/secrets/mask.ts";
import type { BranchTip, MaskedCopy } from "../../store/store.ts";
import { randomId } from "../workspace/runtime.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { FoundMasks } from "./find-masks.ts";

/** Names of a copy and its branches, and the masks that its own names have a part in. */
export interface CopyNames {
  readonly id: string;
  readonly masker: Masker;
  /** The same for bytes; see `MaskedHistory`. */
  readonly bytesMasker: Masker;
  /** Names of the new branches, by those of the old ones. */
  readonly branches: ReadonlyMap<string, string>;
}

/** What a copy is named after. */
export interface NamedOriginal {
  readonly tips: readonly BranchTip[];
  readonly found: FoundMasks;
  readonly title: string;
  readonly earlier: MaskedCopy | null;
}

/** Gives names that nothing has, or those of the earlier copy. */
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
  const isGivenAway = isSlugOf(found.masks);
  // An id that was made of a secret is one itself, wherever it is said.
  const masks = isGivenAway(conversation) ? new Map([...found.masks, [conversation, id]]) : found.masks;
  const branches = new Map(Object.entries(earlier?.branches ?? {}).map(([name, copied]) => [name, copied.name]));
  for (const { name } of tips) {
    if (branches.has(name)) continue;
    const plain = mask(forkOf(name));
    const fork = plain === forkOf(name) && isGivenAway(plain) ? "redacted" : plain;
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

/** A text as its UTF-8 reads where each byte is a character. */
function inBytes(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** So much of a secret gives it away in a name, characters. */
const LEAST = 8;

/** Names are of lower-case letters, digits and hyphens, and may be cut: whether one has such a form of a secret in it. */
function isSlugOf(masks: ReadonlyMap<string, string>): (name: string) => boolean {
  const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const begun = [...masks.keys()].map((secret) =>
    plain(secret)
      .replace(/^-/, "")
      .slice(0, LEAST + 4),
  );
  const known = begun.filter((text) => text.length >= LEAST && !text.startsWith("begin-"));
  return (name) => known.some((text) => plain(name).includes(text));
}
