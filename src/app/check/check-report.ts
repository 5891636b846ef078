// What a check hands to the front ends, and how lists become it.

import type { View } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import { type ProviderName, providerOf, type Violation } from "../../core/model/provider-rules.ts";
import type { ProviderList } from "./provider-checks.ts";

/** A breach; `event` is there when the list was made of events. */
export interface CheckViolation extends Violation {
  /** Id of the event that stands there. */
  readonly event?: string;
}

/** One list that was checked. */
export interface CheckedList {
  readonly provider: ProviderName;
  /** Model whose rules counted; absent = what all models of the provider have in common. */
  readonly model?: string;
  /** Entries of the list: messages, input items or contents. */
  readonly messages: number;
}

/** The JSON document of `check`. */
export interface CheckReport {
  /** Whether no provider would refuse it: no violation of severity `error`. */
  readonly ok: boolean;
  readonly violations: readonly CheckViolation[];
  /** What was checked: a conversation's view as jpg sends it, a session file as it stands, or a request. */
  readonly kind: "view" | "session" | "request";
  /** Branch or path. */
  readonly source: string;
  readonly checked: readonly CheckedList[];
}

/** What the user asks to check for. */
export interface CheckRequest {
  /** `all`, or one provider; absent = that of the conversation's or request's own model. */
  readonly provider?: ProviderName | "all";
  readonly model?: string;
  /** Whether a list in a file is history to which a request will be added: its end is not judged. */
  readonly history?: boolean;
}

/** A list with its violations. */
export interface ListCheck {
  readonly checked: CheckedList;
  readonly violations: readonly CheckViolation[];
}

/** Puts list checks together. */
export function createCheckReport(kind: CheckReport["kind"], source: string, lists: readonly ListCheck[]): CheckReport {
  const violations = lists.flatMap((list) => list.violations);
  return {
    ok: violations.every(({ severity }) => severity !== "error"),
    violations,
    kind,
    source,
    checked: lists.map(({ checked }) => checked),
  };
}

/** Describes a list. */
export function describeList(provider: ProviderName, model: string | undefined, list: ProviderList): CheckedList {
  return { provider, ...defined({ model }), messages: list.length };
}

/** The provider and model of the newest event that names a model jpg knows; Anthropic when none does. */
export function ownModel(view: View): { readonly provider: ProviderName; readonly model?: string } {
  for (const { events } of view.turns.toReversed()) {
    for (const { metadata } of events.toReversed()) {
      const provider = providerOf(metadata?.model, metadata?.provider);
      if (provider !== undefined) return { provider, ...(metadata?.model !== undefined && { model: metadata.model }) };
    }
  }
  return { provider: "anthropic" };
}
