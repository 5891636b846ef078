// What a check of a list found, as lines that a test compares whole.
import type { Violation } from "../../src/core/model/provider-rules.ts";

/** Each breach as `rule severity message.block: sentence`. */
export function listSentences(violations: readonly Violation[]): readonly string[] {
  return violations.map(({ rule, severity, position: { message, block }, message: sentence }) => {
    return `${rule} ${severity} ${message}${block === undefined ? "" : `.${block}`}: ${sentence}`;
  });
}
