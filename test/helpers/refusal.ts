// What every refused command must do: the right exit code, one JSON document that says what failed and what to type next,
// no stack, and a store that stands as it stood.
import { expect } from "vitest";
import type { JpgResult, RunOptions, Sandbox } from "./run-jpg.ts";

export interface Refusal {
  readonly code: string;
  readonly exit: number;
  /** In the message. */
  readonly says: RegExp;
  /** In one of the hints; absent = any hint. */
  readonly hint?: RegExp;
}

interface ErrorDocument {
  readonly error: {
    readonly kind: string;
    readonly code: string;
    readonly message: string;
    readonly hints: readonly string[];
    readonly data?: Record<string, unknown>;
  };
}

/** Runs a command that must fail so, and gives the error of its JSON document. */
export async function expectRefusal(
  sandbox: Pick<Sandbox, "jpg">,
  args: readonly string[],
  expected: Refusal,
  options?: RunOptions,
): Promise<ErrorDocument["error"]> {
  const result = await sandbox.jpg([...args, "--json"], options);
  const { error } = JSON.parse(result.stdout) as ErrorDocument;
  expect({ exit: result.code, code: error.code }, result.stdout).toEqual({ exit: expected.exit, code: expected.code });
  expect(error.message).toMatch(expected.says);
  expect(error.hints.join("\n"), "an error says what to do next").toMatch(expected.hint ?? /\S/);
  expectNoBug(result);
  return error;
}

/** Neither a stack trace nor "a bug in jpg". */
export function expectNoBug({ stdout, stderr, code }: JpgResult): void {
  expect(stdout + stderr).not.toMatch(/^\s+at .*\(?.*:\d+:\d+\)?$/m);
  expect(stdout + stderr).not.toMatch(/bug in jpg|Unexpected error/);
  expect(code).not.toBe(70);
}
