// How the compactions of a page are told apart: each has a colour of its own, and a name that links to it.
import type { ConversationPage } from "../../app/look/conversation-page.ts";
import { type Html, html } from "./html.ts";
import { compactionAnchor } from "./names.ts";

/** Colours that the style sheet has; after these they come again. */
const TINTS = 8;

export interface CompactionLook {
  /** The compaction whose row in the stack tells of it: of several that were made as one, the first. */
  readonly row: string;
  /** Number of its colour, 0-based. */
  readonly tint: number;
}

export type CompactionLooks = ReadonlyMap<string, CompactionLook>;

/** Gives the looks of the compactions in force, by id; the oldest has the first colour. */
export function compactionLooks({ compactions }: Pick<ConversationPage, "compactions">): CompactionLooks {
  const looks = new Map<string, CompactionLook>();
  const live = compactions.filter(({ row }) => row.live).reverse();
  for (const [at, { row }] of live.entries())
    for (const id of row.compactions ?? [row.compaction]) looks.set(id, { row: row.compaction, tint: at % TINTS });
  return looks;
}

/** The class of what a compaction hides or changes. */
export function tintClass(looks: CompactionLooks, id: string): string {
  return `tint-${looks.get(id)?.tint ?? 0}`;
}

/** The name of a compaction as a link to it. */
export function namedCompaction(looks: CompactionLooks, id: string): Html {
  const anchor = encodeURIComponent(compactionAnchor(looks.get(id)?.row ?? id));
  return html`<a class="compaction" href="#${anchor}">compaction ${id.slice(0, 8)}</a>`;
}
