// A rule that a provider puts on a message list, as data: an id, what breaking it costs, and a function that finds where
// it is broken. Checking reads messages and never changes them; hardening is elsewhere.

/** `error`: the provider refuses the request. `warning`: accepted, but harmful or provider dependent. */
export type RuleSeverity = "error" | "warning";

/** Where a rule is broken; both 0-based. */
export interface MessagePosition {
  readonly message: number;
  /** Block inside the message; absent = the message as a whole. */
  readonly block?: number;
}

/** What a rule's function finds: where, and what is wrong there. */
export interface Breach {
  readonly position: MessagePosition;
  /** One sentence. */
  readonly message: string;
}

/** One breach of one rule. */
export interface Violation extends Breach {
  /** Rule id, e.g. `A1`. */
  readonly rule: string;
  readonly severity: RuleSeverity;
  readonly provider: string;
}

/** A rule over a provider's own input type. */
export interface Rule<Input> {
  readonly id: string;
  readonly severity: RuleSeverity;
  /** Finds breaches, in message order. */
  readonly find: (input: Input) => Iterable<Breach>;
}

/** Runs a table of rules; violations come in the order of the table, within a rule in message order. */
export function runRules<Input>(provider: string, rules: readonly Rule<Input>[], input: Input): readonly Violation[] {
  return rules.flatMap(({ id, severity, find }) =>
    Array.from(find(input), (finding) => ({ rule: id, severity, provider, ...finding })),
  );
}
