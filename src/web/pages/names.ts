// Names within a page: what a link leads to stands there under the same one.
import { type Html, html } from "./html.ts";

/** The name of a turn; positions are 0-based. */
export function turnAnchor(turn: number): string {
  return `turn-${turn}`;
}

/** The name of an event. */
export function eventAnchor(id: string): string {
  return `event-${encodeURIComponent(id)}`;
}

/** The name of a compaction. */
export function compactionAnchor(id: string): string {
  return `compaction-${encodeURIComponent(id)}`;
}

/** The name of a compaction as a link to it. */
export function namedCompaction(id: string): Html {
  return html`<a class="compaction" href="#${encodeURIComponent(compactionAnchor(id))}">compaction ${id.slice(0, 8)}</a>`;
}
