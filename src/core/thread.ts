// The thread: a projection in the form a model is sent, after hardening. Each block still knows the event it came from.

/** One block of a message in the provider's own shape. */
export interface ThreadBlock {
  /** Event it came from; absent = made by hardening or by a summary (then `compaction` names it). */
  readonly event?: string;
  readonly compaction?: string;
  /** Provider-shaped content block. */
  readonly block: Readonly<Record<string, unknown>>;
}

export interface ThreadMessage {
  readonly role: "user" | "assistant" | "system";
  readonly blocks: readonly ThreadBlock[];
}

/** A hardening step that left an event out or put a synthetic item in. */
export interface HardeningStep {
  /** Rule id of provider-rules, e.g. `A1`. */
  readonly rule: string;
  /** Event that was dropped or changed; absent for synthetic items. */
  readonly event?: string;
  readonly action: "dropped" | "changed" | "added";
}

export interface Thread {
  readonly messages: readonly ThreadMessage[];
  readonly hardening: readonly HardeningStep[];
}
