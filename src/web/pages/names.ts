// Names within a page: what a link leads to stands there under the same one.

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

/** The name of a comment. */
export function commentAnchor(id: string): string {
  return `comment-${encodeURIComponent(id)}`;
}

/** The name of a fact of a summary, by its position there. */
export function factAnchor(compaction: string, at: number): string {
  return `fact-${encodeURIComponent(compaction)}-${at}`;
}

/** The name of what is lost of one kind. */
export function lostAnchor(kind: string): string {
  return `lost-${kind}`;
}
