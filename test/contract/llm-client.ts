// The contract of LlmClient: what the client of every API must do. Each API's test file runs it with the bytes of its API.
import { testAborts } from "./llm-aborts.ts";
import { testAnswers } from "./llm-answers.ts";
import { testFailures } from "./llm-failures.ts";
import type { ApiUnderTest } from "./llm-under-test.ts";

/** Declares the contract's tests for one API. */
export function testLlmClient(api: ApiUnderTest): void {
  testAnswers(api);
  testFailures(api);
  testAborts(api);
}
