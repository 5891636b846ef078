// Whether a chat offers to compact. Pure: what was asked before and what the conversation looks like now decide. It is
// asked between the user's message and the model's answer, so never while tools run.

/** Messages of the view from which compacting is offered. */
const OFFERED_FROM = 50;
/** Further messages before it is offered again. */
const AGAIN_AFTER = 10;
/** Messages after a compaction in which it is not offered. */
const QUIET_AFTER_COMPACTION = 20;

/** What a chat remembers of its offers; of one run of the chat, never stored. */
export interface CompactOffers {
  /** The user asked never to be asked again. */
  readonly disabled: boolean;
  /** Messages of the view when it was offered last; null = not since the view was compacted. */
  readonly offeredAt: number | null;
}

/** The conversation, the user's new message included. */
export interface OfferFacts {
  /** Messages of the view. */
  readonly messages: number;
  /** Messages since the newest compaction in force; null = there is none. */
  readonly sinceCompaction: number | null;
}

/** The state a chat begins with. */
export const NO_OFFERS: CompactOffers = { disabled: false, offeredAt: null };

/** Whether to offer a compaction now. */
export function offersCompaction({ disabled, offeredAt }: CompactOffers, facts: OfferFacts): boolean {
  if (disabled || facts.messages < OFFERED_FROM) return false;
  if (facts.sinceCompaction !== null && facts.sinceCompaction < QUIET_AFTER_COMPACTION) return false;
  return offeredAt === null || facts.messages >= offeredAt + AGAIN_AFTER;
}
