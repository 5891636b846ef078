// Runs something that must fail and gives its error, so that a test can look at all of it.
import { JpgError } from "../../src/core/errors.ts";

export function errorOf(run: () => unknown): JpgError {
  try {
    run();
  } catch (error) {
    if (error instanceof JpgError) return error;
    throw error;
  }
  throw new Error("expected a JpgError, nothing was thrown");
}
