// Property tests under mutation: no search for the smallest failing example, because any failure kills a mutant. The seed is that
// of every run.
import fc from "fast-check";
import { SEED } from "./seed.ts";

fc.configureGlobal({ seed: SEED, endOnFailure: true });
